#include "root/json_body.hpp"

#include <optional>
#include <set>
#include <utility>

namespace hedgerow::root {

boost::system::result<nlohmann::json, ParameterProblem> parse_json_object(const std::string& body) {
  // The library keeps the last of two fields with one name.
  std::set<std::string> names;
  std::optional<std::string> twice;
  const auto look_at_names = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& name) {
    const bool is_name = depth == 1 && event == nlohmann::json::parse_event_t::key;
    if (is_name && !names.insert(name.get<std::string>()).second) twice = name.get<std::string>();
    return true;
  };
  auto json = nlohmann::json::parse(body, look_at_names, false);
  if (json.is_discarded()) return ParameterProblem{"bad-json", "The body is not valid JSON.", ""};
  if (!json.is_object()) return ParameterProblem{"bad-json", "The body is not a JSON object.", ""};
  if (twice) return given_twice(*twice);
  // In words, since a JSON value can be made of nearly anything.
  return boost::system::result<nlohmann::json, ParameterProblem>(boost::system::in_place_value, std::move(json));
}

}  // namespace hedgerow::root
