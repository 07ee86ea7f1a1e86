#include "lab/run_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace hedgerow::lab {

namespace {

std::string without_blanks(std::string_view id) {
  std::string out(id);
  std::replace_if(out.begin(), out.end(), [](unsigned char c) { return c <= ' '; }, '_');
  return out.empty() ? "_" : out;
}

}  // namespace

std::string run_lines(std::string_view query, const std::vector<RankedDocument>& ranking, std::string_view tag) {
  std::string lines;
  float last = std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < ranking.size(); ++i) {
    float score = static_cast<float>(ranking[i].score);
    if (!(score < last)) score = std::nextafter(last, -std::numeric_limits<float>::infinity());
    last = score;
    char tail[96];
    // Nine digits tell every float from every other.
    std::snprintf(tail, sizeof tail, " %zu %.9g ", i + 1, static_cast<double>(score));
    lines += without_blanks(query) + " Q0 " + without_blanks(ranking[i].id) + tail + without_blanks(tag) + "\n";
  }
  return lines;
}

}  // namespace hedgerow::lab
