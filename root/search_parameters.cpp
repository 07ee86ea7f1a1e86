#include "root/search_parameters.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string_view>

#include "root/json_body.hpp"

namespace hedgerow::root {

namespace {

using Parsed = boost::system::result<void, ParameterProblem>;

// What a client sent, short enough to be sent back.
std::string shown(std::string text) {
  constexpr std::size_t longest = 60;
  if (text.size() <= longest) return text;
  text.resize(longest);
  return text.append("…");
}

// As an address would write it.
std::string without_exponent(double number) {
  std::array<char, 400> digits;  // the longest double has 309 before the point
  const auto [end, problem] = std::to_chars(digits.data(), digits.data() + digits.size(), number, std::chars_format::fixed);
  return problem == std::errc{} ? std::string(digits.data(), end) : "a number of very many digits";
}

ParameterProblem bad(const std::string& name, const std::string& value, const std::string& wanted) {
  return {"bad-parameter", "'" + name + "' is '" + shown(value) + "', but takes " + wanted + ".", name};
}

std::optional<std::uint32_t> whole_number(const std::string& text) {
  std::uint32_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Parsed auto_or_off(const std::string& name, const std::string& value, bool& out) {
  if (value != "auto" && value != "off") return bad(name, value, "'auto' or 'off'");
  out = value == "auto";
  return {};
}

// Reads what a choice among policies is called; what is wrong with it is in the error's words.
template <class Choice>
Parsed choose(const std::string& name, const std::string& value, result<Choice> (*parse)(std::string_view), Choice& out) {
  auto parsed = parse(value);
  if (parsed.has_error()) {
    return ParameterProblem{"bad-parameter", "'" + name + "' is '" + shown(value) + "', but " + parsed.error().context + ".", name};
  }
  out = std::move(*parsed);
  return {};
}

// One row a parameter: how its text is read.
struct Row {
  std::string_view name;
  Parsed (*read)(const std::string& value, SearchParameters& out);
};

constexpr std::array rows{
    Row{"q", [](const std::string& value, SearchParameters& out) -> Parsed {
          out.query = value;
          return {};
        }},
    Row{"k", [](const std::string& value, SearchParameters& out) -> Parsed {
          const auto k = whole_number(value);
          if (!k || *k == 0 || *k > SearchParameters::largest_k) return bad("k", value, "a whole number from 1 to 1000");
          out.k = *k;
          return {};
        }},
    Row{"offset", [](const std::string& value, SearchParameters& out) -> Parsed {
          const auto offset = whole_number(value);
          if (!offset || *offset > SearchParameters::largest_offset_and_k) {
            return bad("offset", value, "a whole number from 0 to 10000");
          }
          out.offset = *offset;
          return {};
        }},
    Row{"deadline", [](const std::string& value, SearchParameters& out) -> Parsed {
          const auto deadline = parse_deadline(value);
          if (deadline.has_error()) return deadline.error();
          out.deadline = *deadline;
          return {};
        }},
    Row{"fanout", [](const std::string& value, SearchParameters& out) -> Parsed {
          if (value == "all") {
            out.fanout.reset();
            return {};
          }
          const auto width = whole_number(value);
          if (!width || *width == 0) return bad("fanout", value, "'all' or a whole number of at least 1");
          out.fanout = *width;
          return {};
        }},
    Row{"partial", [](const std::string& value, SearchParameters& out) -> Parsed {
          if (value != "allow" && value != "deny") return bad("partial", value, "'allow' or 'deny'");
          out.partial = value == "deny" ? PartialAnswers::deny : PartialAnswers::allow;
          return {};
        }},
    Row{"class", [](const std::string& value, SearchParameters& out) -> Parsed {
          if (value != "interactive" && value != "batch") return bad("class", value, "'interactive' or 'batch'");
          out.service_class = value == "batch" ? ServiceClass::batch : ServiceClass::interactive;
          return {};
        }},
    Row{"spelling", [](const std::string& value, SearchParameters& out) { return auto_or_off("spelling", value, out.spelling); }},
    Row{"snippets", [](const std::string& value, SearchParameters& out) { return auto_or_off("snippets", value, out.snippets); }},
    Row{"cache", [](const std::string& value, SearchParameters& out) { return auto_or_off("cache", value, out.cache); }},
    Row{"facets", [](const std::string& value, SearchParameters& out) -> Parsed {
          out.facets.every_category = value == "auto";
          if (value == "auto" || value == "off") return {};
          for (std::size_t begin = 0; begin <= value.size();) {
            const std::size_t end = std::min(value.find(',', begin), value.size());
            out.facets.names.push_back(value.substr(begin, end - begin));
            begin = end + 1;
          }
          auto& names = out.facets.names;
          const bool empty = std::find(names.begin(), names.end(), "") != names.end();
          const bool twice = std::set<std::string>(names.begin(), names.end()).size() != names.size();
          if (empty || twice || names.size() > SearchParameters::most_facets) {
            return bad("facets", value, "'off', 'auto', or up to 32 names of facets with commas, each once");
          }
          return {};
        }},
    Row{"grace", [](const std::string& value, SearchParameters& out) -> Parsed {
          const auto grace = parse_duration(value);
          if (grace.has_error() || *grace > SearchParameters::longest_deadline) {
            return bad("grace", value, "a duration up to 60s, such as 5ms");
          }
          out.grace = *grace;
          return {};
        }},
    Row{"like", [](const std::string& value, SearchParameters& out) -> Parsed {
          if (value.empty() || value.size() > SearchParameters::longest_id) {
            return bad("like", value, "the id of a document, of 1 to 1024 bytes");
          }
          out.like = value;
          return {};
        }},
    Row{"trace", [](const std::string& value, SearchParameters& out) { return choose("trace", value, parse_switch, out.trace); }},
    Row{"hedge", [](const std::string& value, SearchParameters& out) { return choose("hedge", value, parse_hedge, out.hedge); }},
    Row{"tied", [](const std::string& value, SearchParameters& out) { return choose("tied", value, parse_switch, out.tied); }},
    Row{"canary", [](const std::string& value, SearchParameters& out) { return choose("canary", value, parse_canary, out.canary); }},
    Row{"min_completeness", [](const std::string& value, SearchParameters& out) -> Parsed {
          const auto share = parse_decimal(value);
          if (share.has_error() || *share < 0 || *share > 1) return bad("min_completeness", value, "a number from 0 to 1");
          out.good_enough.min_completeness = *share;
          return {};
        }},
    Row{"patience", [](const std::string& value, SearchParameters& out) -> Parsed {
          const auto patience = parse_duration(value);
          if (patience.has_error() || *patience > SearchParameters::longest_deadline) {
            return bad("patience", value, "a duration up to 60s, such as 2ms");
          }
          out.good_enough.patience = *patience;
          return {};
        }},
};

class Reader {
 public:
  explicit Reader(const SearchDefaults& defaults) {
    out_.deadline = defaults.deadline;
    out_.hedge = defaults.hedge;
    out_.tied = defaults.tied;
    out_.canary = defaults.canary;
  }

  Parsed read(const std::string& name, const std::string& value) {
    if (!seen_.insert(name).second) return given_twice(name);
    for (const Row& row : rows) {
      if (row.name == name) return row.read(value, out_);
    }
    return unknown_parameter(name);
  }

  boost::system::result<SearchParameters, ParameterProblem> finish() {
    if (seen_.contains("q") && seen_.contains("like")) {
      return ParameterProblem{"bad-parameter", "'q' and 'like' are both given; a search takes one of them.", "like"};
    }
    if (!seen_.contains("q") && !seen_.contains("like")) {
      return ParameterProblem{"missing-parameter", "'q', the query, is missing (or 'like', the id of a document).", "q"};
    }
    if (out_.offset + out_.k > SearchParameters::largest_offset_and_k) {
      return ParameterProblem{"bad-parameter", "'offset' and 'k' together go beyond 10000.", "offset"};
    }
    return std::move(out_);
  }

 private:
  SearchParameters out_;
  std::set<std::string> seen_;
};

}  // namespace

boost::system::result<Duration, ParameterProblem> parse_deadline(const std::string& value) {
  const auto deadline = parse_duration(value);
  if (deadline.has_error() || *deadline <= Duration::zero() || *deadline > SearchParameters::longest_deadline) {
    return bad("deadline", value, "a duration above 0 and up to 60s, such as 250ms");
  }
  return *deadline;
}

ParameterProblem given_twice(const std::string& name) {
  return {"bad-parameter", "'" + shown(name) + "' is given twice.", shown(name)};
}

ParameterProblem unknown_parameter(const std::string& name) {
  return {"unknown-parameter", "There is no parameter '" + shown(name) + "'.", shown(name)};
}

boost::system::result<SearchParameters, ParameterProblem> parse_parameters(
    const std::vector<std::pair<std::string, std::string>>& parameters, const SearchDefaults& defaults) {
  Reader reader(defaults);
  for (const auto& [name, value] : parameters) {
    if (const auto read = reader.read(name, value); read.has_error()) return read.error();
  }
  return reader.finish();
}

boost::system::result<SearchParameters, ParameterProblem> parse_parameters_json(const std::string& body,
                                                                                const SearchDefaults& defaults) {
  const auto json = parse_json_object(body);
  if (json.has_error()) return json.error();
  Reader reader(defaults);
  for (const auto& [name, value] : json->items()) {
    std::string text;
    if (value.is_string()) {
      text = value.get<std::string>();
    } else if (value.is_number_float()) {
      text = without_exponent(value.get<double>());
    } else if (value.is_number()) {
      text = value.dump();
    } else {
      return ParameterProblem{"bad-parameter", "'" + shown(name) + "' is neither a text nor a number.", shown(name)};
    }
    if (const auto read = reader.read(name, text); read.has_error()) return read.error();
  }
  return reader.finish();
}

}  // namespace hedgerow::root
