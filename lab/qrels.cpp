#include "lab/qrels.hpp"

#include <charconv>
#include <string_view>
#include <vector>

#include "corpus/line_stream.hpp"

namespace hedgerow::lab {

namespace {

constexpr std::uint64_t longest_line = 1 << 20;

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view blanks = " \t\r\f\v";
  std::vector<std::string_view> words;
  for (auto at = line.find_first_not_of(blanks); at != std::string_view::npos; at = line.find_first_not_of(blanks, at)) {
    const auto end = std::min(line.find_first_of(blanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

}  // namespace

result<Qrels> read_qrels(const std::filesystem::path& path) {
  auto lines = LineStream::open(path, longest_line);
  if (!lines) return lines.error();
  Qrels qrels;
  std::size_t columns = 0;
  for (;;) {
    const auto outcome = lines->next();
    if (std::holds_alternative<EndOfCorpus>(outcome)) break;
    if (const auto* failed = std::get_if<ReadError>(&outcome)) return Error{Errc::input, to_string(*failed)};
    const auto words = words_of(std::get<Line>(outcome).text);
    if (words.empty()) continue;
    const auto fault = [&](const std::string& what) {
      return Error{Errc::input, lines->file() + ":" + std::to_string(lines->line()) + ": " + what};
    };
    if (columns == 0) {
      columns = words.size() == 3 && words[0].starts_with("query") ? 3 : 4;
      if (columns == 3) continue;
    }
    if (words.size() != columns) {
      return fault(std::to_string(words.size()) + " columns in place of " +
                   (columns == 3 ? "query, document, grade" : "query, iteration, document, grade"));
    }
    int grade = 0;
    const std::string_view last = words.back();
    const auto [end, error] = std::from_chars(last.data(), last.data() + last.size(), grade);
    if (error != std::errc{} || end != last.data() + last.size()) {
      return fault("the grade '" + std::string(last) + "' is not a whole number");
    }
    const std::string document(words[columns - 2]);
    const auto [place, added] = qrels[std::string(words.front())].emplace(document, grade);
    if (!added && place->second != grade) {
      return fault("document '" + document + "' was given grade " + std::to_string(place->second) + " before");
    }
  }
  if (qrels.empty()) return Error{Errc::invalid_argument, path.string() + ": holds no judgements"};
  return qrels;
}

}  // namespace hedgerow::lab
