#include "lab/sweep/flags.hpp"

#include <algorithm>
#include <charconv>

namespace hedgerow::lab::sweep {

namespace {

using nlohmann::ordered_json;

// Parts between separators, outside of parentheses, brackets and quotes: a distribution or a list of a fault has commas of its
// own.
std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '(' || c == '[' || c == '{')) ++depth;
    if (!quoted && (c == ')' || c == ']' || c == '}')) --depth;
    if (c == separator && depth == 0 && !quoted) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// A number, true, false, or a JSON list or text is that; everything else is a text as it stands.
ordered_json value_of(const std::string& text) {
  const bool looks_like_json = !text.empty() && (text.front() == '[' || text.front() == '{' || text.front() == '"');
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc{} && end == text.data() + text.size();
  if (!looks_like_json && !is_number && text != "true" && text != "false") return text;
  auto json = ordered_json::parse(text, nullptr, false);
  return json.is_discarded() ? ordered_json(text) : json;
}

struct Named {
  std::string name;
  ordered_json members = ordered_json::object();
};

// "name:member=value,member=value", or the name alone. A comma that no "member=" follows belongs to the value before it:
// delay=erlang:15ms,6.
result<Named> parse_named(const std::string& text, const char* flag) {
  Named out;
  const auto colon = text.find(':');
  out.name = text.substr(0, colon);
  const Error wrong{Errc::invalid_argument, std::string(flag) + " " + text + ": write name:member=value,member=value"};
  if (out.name.empty() || out.name.find('=') != std::string::npos) return wrong;
  if (colon == std::string::npos) return out;
  std::vector<std::pair<std::string, std::string>> members;
  for (const auto& part : split(text.substr(colon + 1), ',')) {
    const auto equals = part.find('=');
    const bool is_member = equals != std::string::npos && equals > 0 && part.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == equals;
    if (is_member) {
      members.emplace_back(part.substr(0, equals), part.substr(equals + 1));
    } else if (!members.empty()) {
      members.back().second += "," + part;
    } else {
      return wrong;
    }
  }
  for (const auto& [member, value] : members) {
    if (out.members.contains(member)) return Error{Errc::invalid_argument, std::string(flag) + " " + text + ": " + member + " is given twice"};
    out.members[member] = value_of(value);
  }
  return out;
}

ordered_json list_of(const std::vector<std::string>& texts) {
  ordered_json list = ordered_json::array();
  for (const auto& text : texts) {
    for (const auto& part : split(text, ',')) list.push_back(value_of(part));
  }
  return list;
}

// JSON can become anything, an error too, so it must be said which it is.
result<ordered_json> json_result(ordered_json json) { return {boost::system::in_place_value, std::move(json)}; }

result<ordered_json> policies_of(const std::vector<std::string>& flags) {
  ordered_json list = ordered_json::array();
  for (const auto& text : flags) {
    auto named = parse_named(text, "--policy");
    if (named.has_error()) return named.error();
    ordered_json policy{{"name", named->name}};
    policy.update(named->members);
    list.push_back(std::move(policy));
  }
  return json_result(std::move(list));
}

result<ordered_json> faults_of(const std::vector<std::string>& flags) {
  ordered_json list = ordered_json::array();
  for (const auto& text : flags) {
    auto named = parse_named(text, "--fault");
    if (named.has_error()) return named.error();
    auto set = std::find_if(list.begin(), list.end(), [&](const auto& entry) { return entry["name"] == named->name; });
    if (set == list.end()) {
      list.push_back({{"name", named->name}, {"faults", ordered_json::array()}});
      set = list.end() - 1;
    }
    if (!named->members.empty()) (*set)["faults"].push_back(std::move(named->members));
  }
  return json_result(std::move(list));
}

template <class T>
void set(ordered_json& section, const char* name, const std::optional<T>& value) {
  if (value) section[name] = *value;
}
void set(ordered_json& section, const char* name, const std::string& value) {
  if (!value.empty()) section[name] = value;
}

// A section that the file may have as something that is no object, which the plan's reader then says.
void lay_over(ordered_json& plan, const char* name, const ordered_json& section) {
  if (section.empty()) return;
  if (!plan.contains(name)) plan[name] = ordered_json::object();
  if (plan[name].is_object()) plan[name].update(section);
}

}  // namespace

result<ordered_json> with_flags(ordered_json plan, const PlanFlags& flags) {
  if (!plan.is_object()) return Error{Errc::invalid_argument, "the plan is no JSON object"};
  set(plan, "name", flags.name);
  if (!flags.deadlines.empty()) plan["deadlines"] = list_of(flags.deadlines);
  if (!flags.fanouts.empty()) plan["fanouts"] = list_of(flags.fanouts);
  if (!flags.policies.empty()) {
    auto policies = policies_of(flags.policies);
    if (policies.has_error()) return policies.error();
    plan["policies"] = std::move(*policies);
  }
  if (!flags.faults.empty()) {
    auto faults = faults_of(flags.faults);
    if (faults.has_error()) return faults.error();
    plan["faults"] = std::move(*faults);
  }
  set(plan, "repetitions", flags.repetitions);
  set(plan, "seed", flags.seed);

  ordered_json load = ordered_json::object(), quality = ordered_json::object(), world = ordered_json::object();
  set(load, "rate", flags.rate);
  set(load, "duration", flags.duration);
  set(load, "warm_up", flags.warm_up);
  set(load, "arrivals", flags.arrivals);
  set(load, "queries", flags.queries);
  lay_over(plan, "load", load);
  if (flags.reference) quality["reference"] = true;
  set(quality, "qrels", flags.qrels);
  set(quality, "k", flags.k);
  lay_over(plan, "quality", quality);

  set(world, "leaves", flags.leaves);
  set(world, "replicas", flags.replicas);
  set(world, "workers", flags.workers);
  // A plan of a simulated world alone needs no flag to be run there.
  const bool simulated = flags.simulated || (plan.contains("simulated") && !plan.contains("live") && flags.index.empty());
  if (simulated) {
    if (!flags.anew.empty()) return Error{Errc::invalid_argument, "--anew is of live sweeps"};
    set(world, "partitions", flags.partitions);
    set(world, "service", flags.service);
    if (!plan.contains("simulated")) plan["simulated"] = ordered_json::object();
    lay_over(plan, "simulated", world);
  } else {
    if (flags.partitions || !flags.service.empty()) return Error{Errc::invalid_argument, "--partitions and --service are of --simulated; a live sweep has its index"};
    set(world, "index", flags.index);
    set(world, "anew", flags.anew);
    lay_over(plan, "live", world);
  }
  return json_result(std::move(plan));
}

}  // namespace hedgerow::lab::sweep
