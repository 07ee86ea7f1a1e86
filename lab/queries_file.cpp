#include "lab/queries_file.hpp"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "corpus/line_stream.hpp"

namespace hedgerow::lab {

namespace {

constexpr std::size_t most_queries = 1'000'000;
constexpr std::uint64_t longest_query_line = 1 << 20;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\f\v";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool is_heading(std::string_view id) { return id == "id" || id == "_id" || id == "qid" || id == "query-id"; }

// "id<TAB>text".
result<TestQuery> query_of_columns(std::string_view line) {
  const auto tab = line.find('\t');
  if (tab == std::string_view::npos) return Error{Errc::input, "no tab between id and text"};
  return TestQuery{std::string(trimmed(line.substr(0, tab))), std::string(trimmed(line.substr(tab + 1)))};
}

result<TestQuery> query_of_json(std::string_view line) {
  const auto record = nlohmann::json::parse(line, nullptr, false);
  if (!record.is_object()) return Error{Errc::input, "not a JSON object"};
  TestQuery query;
  for (const char* name : {"_id", "id"}) {
    const auto id = record.find(name);
    if (id == record.end()) continue;
    if (id->is_string()) query.id = id->get<std::string>();
    if (id->is_number_integer()) query.id = id->dump();
    break;
  }
  if (const auto text = record.find("text"); text != record.end() && text->is_string()) {
    query.text = std::string(trimmed(text->get<std::string>()));
  }
  return query;
}

// TREC's topics: "<num> Number: 401" and "<title> Topic: some words", the words perhaps in the lines below. What else a
// topic has (<desc>, <narr>) is for people.
class Topics {
 public:
  // A query where this line ends one.
  std::optional<TestQuery> take(std::string_view line) {
    line = trimmed(line);
    std::optional<TestQuery> ended;
    if (const auto number = behind("<num>", "Number:", line)) {
      current_.id = std::string(*number);
      in_title_ = false;
    } else if (const auto words = behind("<title>", "Topic:", line)) {
      current_.text = std::string(*words);
      in_title_ = true;
    } else if (line.starts_with("</top>")) {
      ended = std::exchange(current_, {});
      in_title_ = false;
    } else if (line.starts_with('<')) {
      in_title_ = false;
    } else if (in_title_ && !line.empty()) {
      current_.text += (current_.text.empty() ? "" : " ") + std::string(line);
    }
    return ended;
  }

 private:
  static std::optional<std::string_view> behind(std::string_view tag, std::string_view label, std::string_view line) {
    if (!line.starts_with(tag)) return std::nullopt;
    line = line.substr(tag.size());
    line = trimmed(line.substr(0, line.find("</")));
    if (line.starts_with(label)) line = trimmed(line.substr(label.size()));
    return line;
  }

  TestQuery current_;
  bool in_title_ = false;
};

}  // namespace

result<std::vector<TestQuery>> read_test_queries(const std::filesystem::path& path) {
  auto lines = LineStream::open(path, longest_query_line);
  if (!lines) return lines.error();
  std::vector<TestQuery> queries;
  std::unordered_set<std::string> ids;
  char form = 0;  // the first character of the file
  Topics topics;
  for (;;) {
    const auto outcome = lines->next();
    if (std::holds_alternative<EndOfCorpus>(outcome)) break;
    if (const auto* failed = std::get_if<ReadError>(&outcome)) return Error{Errc::input, to_string(*failed)};
    const std::string_view line = std::get<Line>(outcome).text;
    if (trimmed(line).empty()) continue;
    const auto fault = [&](const std::string& what) {
      return Error{Errc::input, lines->file() + ":" + std::to_string(lines->line()) + ": " + what};
    };
    if (form == 0) {
      form = trimmed(line).front();
      if (form != '{' && form != '<' && is_heading(line.substr(0, line.find('\t')))) continue;
    }
    TestQuery query;
    if (form == '<') {
      auto ended = topics.take(line);
      if (!ended) continue;
      query = std::move(*ended);
    } else {
      auto read = form == '{' ? query_of_json(line) : query_of_columns(line);
      if (!read) return fault(read.error().context);
      query = std::move(*read);
    }
    if (query.id.empty()) return fault("a query without id");
    if (query.text.empty()) return fault("query '" + query.id + "' has no text");
    if (!ids.insert(query.id).second) return fault("query '" + query.id + "' was there before");
    if (queries.size() == most_queries) return Error{Errc::too_large, path.string() + ": more than a million queries"};
    queries.push_back(std::move(query));
  }
  if (queries.empty()) return Error{Errc::invalid_argument, path.string() + ": holds no queries"};
  return queries;
}

std::string plain_words(std::string_view text) {
  static constexpr std::string_view operators[] = {"AND", "OR", "NOT", "XOR", "NEAR", "ADJ"};
  std::string out;
  std::string word;
  const auto end_word = [&] {
    if (word.empty()) return;
    if (std::find(std::begin(operators), std::end(operators), word) != std::end(operators)) {
      for (char& c : word) c = static_cast<char>(c - 'A' + 'a');
    }
    out += (out.empty() ? "" : " ") + word;
    word.clear();
  };
  for (const char c : text) {
    const bool of_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                         static_cast<unsigned char>(c) >= 0x80;
    if (of_word) {
      word.push_back(c);
    } else {
      end_word();
    }
  }
  end_word();
  return out;
}

}  // namespace hedgerow::lab
