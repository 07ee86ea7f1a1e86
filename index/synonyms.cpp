#include "index/synonyms.hpp"

#include <xapian.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

#include "base/utf8.hpp"
#include "index/fields.hpp"
#include "index/text_words.hpp"

namespace hedgerow {

namespace {

using Expression = Synonyms::Expression;

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

std::string joined(const std::vector<std::string>& terms) {
  std::string key;
  for (const auto& term : terms) key += (key.empty() ? "" : " ") + term;
  return key;
}

// One line, taken apart: what is looked for, and what is found instead.
struct Entry {
  std::vector<Expression> wanted;
  std::vector<Expression> found;
  bool both_ways = false;
};

class LineReader {
 public:
  explicit LineReader(std::string_view line) : line_(line) {}

  // Context of an error: what is wrong with the line.
  result<Entry> read() {
    Entry entry;
    bool one_way = false;
    std::vector<Expression>* side = &entry.wanted;
    for (;;) {
      auto expression = next_expression();
      if (!expression) return expression.error();
      side->push_back(std::move(*expression));
      if (line_.empty()) break;
      if (line_.starts_with("=>")) {
        if (one_way) return wrong("a second '=>'");
        one_way = true;
        side = &entry.found;
        line_.remove_prefix(2);
      } else {
        line_.remove_prefix(1);
      }
    }
    if (!one_way) {
      if (entry.wanted.size() < 2) return wrong("a single expression: nothing is its synonym");
      entry.found = entry.wanted;
      entry.both_ways = true;
    }
    return entry;
  }

 private:
  static Error wrong(const std::string& what) { return {Errc::input, what}; }

  // Up to a comma, a "=>", or the end.
  result<Expression> next_expression() {
    std::string text;
    line_ = trimmed(line_);
    if (line_.starts_with('"')) {
      const auto end = line_.find('"', 1);
      if (end == std::string_view::npos) return wrong("a quote that is not closed");
      text = line_.substr(1, end - 1);
      line_ = trimmed(line_.substr(end + 1));
      if (!line_.empty() && line_.front() != ',' && !line_.starts_with("=>")) {
        return wrong("something behind a quoted expression; a comma or '=>' belongs there");
      }
    } else {
      const auto end = std::min({line_.find(','), line_.find("=>"), line_.size()});
      text = trimmed(line_.substr(0, end));
      line_ = line_.substr(end);
    }
    if (trimmed(text).empty()) return wrong("an expression is missing");
    Expression words;
    WordReader reader(text);
    for (TextWord word; reader.next(word); word = {}) {
      if (word.term.size() > longest_word_bytes) return wrong("a word longer than the index holds");
      words.push_back(word.term);
    }
    if (words.empty()) return wrong("'" + text + "' holds no word");
    if (words.size() > Synonyms::most_words) {
      return wrong("'" + text + "' has more than " + std::to_string(Synonyms::most_words) + " words");
    }
    return words;
  }

  std::string_view line_;
};

}  // namespace

result<Synonyms> Synonyms::parse(std::string_view text, const std::string& name, const std::string& stemmer) {
  Synonyms synonyms;
  const Xapian::Stem stem(stemmer);
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const auto at = [&](const std::string& what) {
      return Error{Errc::input, name + ":" + std::to_string(number) + ": " + what};
    };
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    if (!is_valid_utf8(line)) return at("not UTF-8");
    const auto entry = LineReader(line).read();
    if (!entry) return at(entry.error().context);
    for (const auto& wanted : entry->wanted) {
      std::vector<std::string> stems;
      for (const auto& word : wanted) {
        stems.push_back(has_stem(word) && !stem.is_none() ? "Z" + stem(word) : word);
      }
      std::vector<std::string> keys{joined(wanted)};
      if (joined(stems) != keys.front()) keys.push_back(joined(stems));
      for (const auto& key : keys) {
        auto& alternatives = synonyms.alternatives_[key];
        for (const auto& found : entry->found) {
          if (found == wanted || std::find(alternatives.begin(), alternatives.end(), found) != alternatives.end()) continue;
          alternatives.push_back(found);
        }
        if (alternatives.size() > most_alternatives) {
          return at("'" + joined(wanted) + "' has more than " + std::to_string(most_alternatives) + " synonyms");
        }
      }
      synonyms.longest_ = std::max(synonyms.longest_, wanted.size());
      ++synonyms.size_;
    }
  }
  return synonyms;
}

result<Synonyms> Synonyms::load(const std::filesystem::path& file, const std::string& stemmer) {
  std::error_code problem;
  const auto size = std::filesystem::file_size(file, problem);
  if (problem == std::errc::no_such_file_or_directory) return Error{Errc::not_found, file.string() + ": no such file"};
  if (problem) return Error{Errc::io, file.string() + ": " + problem.message()};
  if (size > largest_file_bytes) {
    return Error{Errc::too_large, file.string() + ": " + std::to_string(size) + " bytes, at most " +
                                      std::to_string(largest_file_bytes) + " are read"};
  }
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (!(stream && text << stream.rdbuf()) && size > 0) return Error{Errc::io, file.string() + ": cannot be read"};
  return parse(text.view(), file.string(), stemmer);
}

const std::vector<Synonyms::Expression>* Synonyms::alternatives(const std::vector<std::string>& terms) const {
  const auto found = alternatives_.find(joined(terms));
  return found == alternatives_.end() || found->second.empty() ? nullptr : &found->second;
}

}  // namespace hedgerow
