#include "lab/answer_scan.hpp"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace hedgerow::lab {

namespace {

std::string_view bare_value(std::string_view text) {
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
  object = bare_value(object);
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
          f(key, bare_value(object.substr(value_begins, i - value_begins)));
          value_begins = 0;
        }
        break;
      case '{':
      case '[': ++depth; break;
      case '}':
      case ']':
        if (depth == 1 && value_begins != 0) f(key, bare_value(object.substr(value_begins, i - value_begins)));
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

// Calls f(element) for the elements of the array, as they stand in the text.
template <class Function>
void for_each_element(std::string_view array, Function f) {
  array = bare_value(array);
  if (array.size() < 2 || array.front() != '[') return;
  std::size_t depth = 0, begin = 1;
  for (std::size_t i = 0; i < array.size(); ++i) {
    switch (array[i]) {
      case '"': {
        const auto end = end_of_string(array, i);
        if (end == std::string_view::npos) return;
        i = end;
        break;
      }
      case ',':
        if (depth == 1) {
          f(bare_value(array.substr(begin, i - begin)));
          begin = i + 1;
        }
        break;
      case '{':
      case '[': ++depth; break;
      case '}':
      case ']':
        if (depth == 1) {
          const auto last = bare_value(array.substr(begin, i - begin));
          if (!last.empty()) f(last);
        }
        if (depth <= 1) return;
        --depth;
        break;
      default: break;
    }
  }
}

std::optional<std::uint64_t> count_of(std::string_view text) {
  const auto number = number_of(text);
  if (!number || !(*number >= 0 && *number < 1e15)) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

bool is_string(std::string_view value) { return value.size() >= 2 && value.front() == '"'; }

// Without its quotes, escapes as they stand.
std::string_view string_of(std::string_view value) { return is_string(value) ? value.substr(1, value.size() - 2) : std::string_view(); }

void scan_completeness(std::string_view object, AnswerFacts& facts) {
  for_each_member(object, [&](std::string_view key, std::string_view value) {
    if (key == "fraction") {
      facts.completeness = number_of(value);
    } else if (key == "estimated_recall") {
      facts.estimated_recall = number_of(value);
    } else if (key == "partitions") {
      for_each_member(value, [&](std::string_view inner, std::string_view count) {
        if (inner == "asked") facts.partitions_asked = count_of(count);
      });
    }
  });
}

void scan_attempts(std::string_view object, AnswerFacts& facts) {
  for_each_member(object, [&](std::string_view key, std::string_view value) {
    const auto count = count_of(value).value_or(0);
    if (key == "hedge_won") facts.hedges_won = count;
    if (key == "cancelled") facts.cancelled = count;
    for (std::size_t kind = 0; kind < attempt_kinds; ++kind) {
      if (key == to_string(static_cast<AttemptKind>(kind))) facts.attempts[kind] = count;
    }
  });
}

void scan_subsystems(std::string_view object, AnswerFacts& facts) {
  constexpr std::size_t most = 8;
  for_each_member(object, [&](std::string_view name, std::string_view about) {
    for_each_member(about, [&](std::string_view key, std::string_view value) {
      if (key == "status" && is_string(value) && facts.subsystems.size() < most) facts.subsystems.emplace_back(name, string_of(value));
    });
  });
}

}  // namespace

AnswerFacts scan_answer(std::string_view json) {
  AnswerFacts facts;
  for_each_member(json, [&](std::string_view key, std::string_view value) {
    if (key == "took_ms") {
      facts.took_ms = number_of(value);
    } else if (key == "finished") {
      facts.finished = string_of(value);
    } else if (key == "completeness") {
      scan_completeness(value, facts);
    } else if (key == "attempts") {
      scan_attempts(value, facts);
    } else if (key == "subsystems") {
      scan_subsystems(value, facts);
    } else if (key == "hits") {
      facts.hits = value;
    } else if (key == "trace") {
      facts.trace = value;
    }
  });
  return facts;
}

std::vector<std::string> hit_ids(std::string_view hits) {
  std::vector<std::string> ids;
  for_each_element(hits, [&](std::string_view hit) {
    std::string& id = ids.emplace_back();
    for_each_member(hit, [&](std::string_view key, std::string_view value) {
      if (key != "id" || !is_string(value)) return;
      if (value.find('\\') == std::string_view::npos) {
        id = string_of(value);
      } else {
        // Escapes are few, and undone by who knows them.
        const auto parsed = nlohmann::json::parse(value, nullptr, false);
        if (parsed.is_string()) id = parsed.get<std::string>();
      }
    });
  });
  return ids;
}

std::vector<TracedAttempt> traced_attempts(std::string_view trace) {
  std::vector<TracedAttempt> attempts;
  for_each_element(trace, [&](std::string_view entry) {
    TracedAttempt attempt;
    std::optional<double> sent;
    bool of_search = false, searching_kind = false;
    for_each_member(entry, [&](std::string_view key, std::string_view value) {
      if (key == "sent_ms") {
        sent = number_of(value);
      } else if (key == "ended_ms") {
        attempt.ended_ms = number_of(value);
      } else if (key == "outcome") {
        attempt.outcome = string_of(value);
      } else if (key == "partition") {
        of_search = true;
      } else if (key == "kind") {
        for (std::size_t kind = 0; kind < attempt_kinds; ++kind) {
          if (string_of(value) == to_string(static_cast<AttemptKind>(kind))) searching_kind = true;
        }
      }
    });
    if (!of_search || !searching_kind || !sent) return;
    attempt.sent_ms = *sent;
    attempts.push_back(attempt);
  });
  return attempts;
}

}  // namespace hedgerow::lab
