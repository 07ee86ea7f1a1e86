#include "lab/answer_scan.hpp"

#include <charconv>

namespace hedgerow::lab {

namespace {

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// The place of the quote that ends the string which begins at `at`; npos where none does.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i;
    }
  }
  return std::string_view::npos;
}

// Calls f(key, value) for the members of the object, both as they stand in the text, the key without its quotes.
template <class Function>
void for_each_member(std::string_view object, Function f) {
  object = without_blanks(object);
  if (object.empty() || object.front() != '{') return;
  std::size_t depth = 0, value_begins = 0;
  std::string_view key, last_string;
  for (std::size_t i = 0; i < object.size(); ++i) {
    switch (object[i]) {
      case '"': {
        const auto end = end_of_string(object, i);
        if (end == std::string_view::npos) return;
        last_string = object.substr(i + 1, end - i - 1);
        i = end;
        break;
      }
      case ':':
        if (depth == 1 && value_begins == 0) {
          key = last_string;
          value_begins = i + 1;
        }
        break;
      case ',':
        if (depth == 1 && value_begins != 0) {
          f(key, without_blanks(object.substr(value_begins, i - value_begins)));
          value_begins = 0;
        }
        break;
      case '{':
      case '[': ++depth; break;
      case '}':
      case ']':
        if (depth == 1 && value_begins != 0) f(key, without_blanks(object.substr(value_begins, i - value_begins)));
        if (depth <= 1) return;
        --depth;
        break;
      default: break;
    }
  }
}

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

AnswerFacts scan_answer(std::string_view json) {
  AnswerFacts facts;
  for_each_member(json, [&](std::string_view key, std::string_view value) {
    if (key == "took_ms") {
      facts.took_ms = number_of(value);
    } else if (key == "finished" && value.size() >= 2 && value.front() == '"') {
      facts.finished = value.substr(1, value.size() - 2);
    } else if (key == "completeness") {
      for_each_member(value, [&](std::string_view inner, std::string_view fraction) {
        if (inner == "fraction") facts.completeness = number_of(fraction);
      });
    }
  });
  return facts;
}

}  // namespace hedgerow::lab
