// The least value of a function of a few variables, by a simplex that walks downhill (Nelder and Mead, 1965): for fits of
// small models, where nothing is known of derivatives. Pure; the same start gives the same end. It finds a valley, not
// surely the deepest: start it where the answer is thought to be, or from several places.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace hedgerow::lab {

struct Minimum {
  std::vector<double> at;
  double value = 0;
};

// start and steps: one for each variable; where the function makes no sense, it returns something large.
inline Minimum nelder_mead(const std::function<double(const std::vector<double>&)>& function, const std::vector<double>& start,
                           const std::vector<double>& steps, int rounds) {
  const std::size_t n = start.size();
  std::vector<Minimum> corners{{start, function(start)}};
  for (std::size_t i = 0; i < n; ++i) {
    auto corner = start;
    corner[i] += steps[i];
    corners.push_back({corner, function(corner)});
  }
  const auto by_value = [](const Minimum& a, const Minimum& b) { return a.value < b.value; };
  // From the worst corner through the middle of the others: how = 1 mirrors it, 2 goes further, -0.5 comes nearer.
  const auto moved = [&](double how) {
    Minimum out{std::vector<double>(n), 0};
    for (std::size_t i = 0; i < n; ++i) {
      double middle = 0;
      for (std::size_t corner = 0; corner < n; ++corner) middle += corners[corner].at[i] / static_cast<double>(n);
      out.at[i] = middle + how * (middle - corners[n].at[i]);
    }
    out.value = function(out.at);
    return out;
  };
  for (int round = 0; round < rounds; ++round) {
    std::sort(corners.begin(), corners.end(), by_value);
    Minimum mirrored = moved(1);
    if (mirrored.value < corners.front().value) {
      Minimum further = moved(2);
      corners[n] = further.value < mirrored.value ? std::move(further) : std::move(mirrored);
      continue;
    }
    if (mirrored.value < corners[n - 1].value) {
      corners[n] = std::move(mirrored);
      continue;
    }
    Minimum nearer = moved(-0.5);
    if (nearer.value < corners[n].value) {
      corners[n] = std::move(nearer);
      continue;
    }
    for (std::size_t corner = 1; corner <= n; ++corner) {
      for (std::size_t i = 0; i < n; ++i) corners[corner].at[i] = (corners[corner].at[i] + corners[0].at[i]) / 2;
      corners[corner].value = function(corners[corner].at);
    }
  }
  return *std::min_element(corners.begin(), corners.end(), by_value);
}

}  // namespace hedgerow::lab
