// What a client may ask of /v1/search: read from a query string or a JSON body, checked, with defaults. Pure.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/attempt.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "root/policy/cluster/hedging.hpp"
#include "root/policy/query/good_enough.hpp"
#include "root/policy_words.hpp"

namespace hedgerow::root {

enum class PartialAnswers { allow, deny };

// What the server decides for queries that do not say.
struct SearchDefaults {
  Duration deadline = std::chrono::milliseconds(250);
  policy::HedgeChoice hedge = {};
  bool tied = false;
  CanaryUse canary = CanaryUse::automatic;
};

struct SearchParameters {
  static constexpr std::uint32_t largest_k = 1000;
  static constexpr std::uint32_t largest_offset_and_k = 10'000;
  static constexpr std::size_t most_facets = 32;
  static constexpr std::size_t longest_id = 1024;
  static constexpr Duration longest_deadline = std::chrono::seconds(60);

  std::string query;                // q; empty where like is asked
  std::optional<std::string> like;  // the id of a document
  std::uint32_t k = 10;
  std::uint32_t offset = 0;
  Duration deadline = std::chrono::milliseconds(250);
  std::optional<std::uint32_t> fanout;  // nullopt: all partitions
  PartialAnswers partial = PartialAnswers::allow;
  ServiceClass service_class = ServiceClass::interactive;
  bool trace = false;
  policy::HedgeChoice hedge = {};
  bool tied = false;
  CanaryUse canary = CanaryUse::automatic;
  policy::GoodEnoughRule good_enough = {};  // min_completeness and patience
  // The optional subsystems, and how long an answer that is ready may wait for them where the default does not please.
  bool spelling = true;
  bool snippets = true;
  struct Facets {
    bool every_category = false;
    std::vector<std::string> names;  // otherwise
    bool wanted() const { return every_category || !names.empty(); }
  } facets;
  std::optional<Duration> grace;
  bool cache = true;
};

// A request that is refused, in the words of problem details.
struct ParameterProblem {
  std::string type;    // "unknown-parameter", "bad-parameter", "missing-parameter", "bad-json"
  std::string detail;  // names the parameter and the value
  std::string parameter;
};

// One that stands alone, and one that there is not: for requests that take little.
boost::system::result<Duration, ParameterProblem> parse_deadline(const std::string& value);
ParameterProblem unknown_parameter(const std::string& name);
ParameterProblem given_twice(const std::string& name);

boost::system::result<SearchParameters, ParameterProblem> parse_parameters(
    const std::vector<std::pair<std::string, std::string>>& parameters, const SearchDefaults& defaults);
// The same as a JSON object: texts, numbers and durations with their unit as text.
boost::system::result<SearchParameters, ParameterProblem> parse_parameters_json(const std::string& body,
                                                                                const SearchDefaults& defaults);

}  // namespace hedgerow::root
