#include "lab/sweep/plan.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/random.hpp"
#include "lab/sweep/fields.hpp"
#include "root/search_parameters.hpp"

namespace hedgerow::lab::sweep {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_points = 10'000;

// The value of a parameter as it stands in an address.
std::string parameter_text(const ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.dump();
}

result<Policy> parse_policy(const ordered_json& json, const std::string& path) {
  if (!json.is_object()) return Error{Errc::invalid_argument, path + " is an object with a name"};
  ordered_json own = json;
  Policy policy;
  std::vector<std::pair<std::string, std::string>> checked{{"q", "word"}};
  for (const auto& [name, value] : json.items()) {
    if (name == "name" || name == "hedge_budget_fill" || name == "hedge_budget_depth") continue;
    own.erase(name);
    // These are the sweep's to say.
    if (name == "q" || name == "deadline" || name == "fanout" || name == "k" || name == "trace") {
      return Error{Errc::invalid_argument, path + "." + name + " is not a policy's to say"};
    }
    policy.parameters.emplace_back(name, parameter_text(value));
    checked.push_back(policy.parameters.back());
  }
  Fields fields(own, path);
  fields.read("name", policy.name);
  fields.read("hedge_budget_fill", policy.hedge_budget_fill, 0, 1);
  fields.read("hedge_budget_depth", policy.hedge_budget_depth, 0, 1e6);
  if (policy.name.empty()) fields.fail("name", "is missing");
  if (auto error = fields.error()) return *error;
  if (const auto parsed = root::parse_parameters(checked, {}); parsed.has_error()) {
    return Error{Errc::invalid_argument, path + ": " + parsed.error().detail};
  }
  return policy;
}

result<FaultSet> parse_fault_set(const ordered_json& json, const std::string& path) {
  Fields fields(json, path);
  FaultSet out;
  fields.read("name", out.name);
  if (out.name.empty()) fields.fail("name", "is missing");
  if (const ordered_json* faults = fields.find("faults")) {
    const bool list = faults->is_array() && std::all_of(faults->begin(), faults->end(), [](const auto& fault) { return fault.is_object(); });
    if (!list) fields.fail("faults", "is a list of faults");
    out.faults = *faults;
  }
  if (auto error = fields.error()) return *error;
  return out;
}

// A list of at least one entry, each read by a function; names (where there are any) are all different.
template <class T, class Read, class NameOf>
void read_list(Fields& fields, const char* name, std::vector<T>& out, Read&& read, NameOf&& name_of) {
  const ordered_json* list = fields.find(name);
  if (!list) return;
  if (!list->is_array() || list->empty()) return fields.fail(name, "is a list of at least one");
  out.clear();
  std::set<std::string> names;
  for (const auto& entry : *list) {
    auto value = read(entry, fields.path_of(name) + "[" + std::to_string(out.size()) + "]");
    if (value.has_error()) return fields.fail(name, "cannot be read: " + value.error().context);
    if (!names.insert(name_of(*value)).second) return fields.fail(name, "holds '" + name_of(*value) + "' twice");
    out.push_back(std::move(*value));
  }
}

result<Duration> parse_deadline(const ordered_json& json, const std::string& path) {
  const auto deadline = parse_duration(json.is_string() ? json.get<std::string>() : "");
  if (deadline.has_error() || *deadline <= Duration::zero() || *deadline > root::SearchParameters::longest_deadline) {
    return Error{Errc::invalid_argument, path + " is a duration up to 60s, such as \"250ms\""};
  }
  return *deadline;
}

result<std::optional<std::uint32_t>> parse_fanout(const ordered_json& json, const std::string& path) {
  if (json == "all") return std::optional<std::uint32_t>();
  if (json.is_number_integer() && json.get<std::int64_t>() >= 1 && json.get<std::int64_t>() <= 100'000) {
    return std::optional(json.get<std::uint32_t>());
  }
  return Error{Errc::invalid_argument, path + " is a number of partitions, or \"all\""};
}

std::optional<Error> read_load(const ordered_json& json, SweepLoad& load) {
  Fields fields(json, "load");
  std::string arrivals(to_string(load.arrivals));
  fields.read("rate", load.rate, 1e-3, 1e6);
  fields.read("duration", load.duration);
  fields.read("warm_up", load.warm_up);
  fields.read("arrivals", arrivals);
  fields.read("queries", load.queries);
  fields.read("connections", load.connections, 1, 100'000);
  if (const auto shape = parse_arrival_shape(arrivals)) {
    load.arrivals = *shape;
  } else {
    fields.fail("arrivals", "is \"poisson\" or \"even\"");
  }
  if (load.duration <= Duration::zero()) fields.fail("duration", "is above 0");
  return fields.error();
}

std::optional<Error> read_quality(const ordered_json& json, Quality& quality) {
  Fields fields(json, "quality");
  fields.read("k", quality.k, 1, root::SearchParameters::largest_k);
  fields.read("reference", quality.reference);
  fields.read("qrels", quality.qrels);
  return fields.error();
}

std::optional<Error> read_live(const ordered_json& json, LiveWorld& live) {
  Fields fields(json, "live");
  std::string anew = "root";
  fields.read("index", live.index);
  fields.read("leaves", live.leaves, 1, 1000);
  fields.read("replicas", live.replicas, 1, 64);
  fields.read("workers", live.workers, 0, 1000);
  fields.read("spellers", live.spellers, 0, 1000);
  fields.read("leaf_arguments", live.leaf_arguments);
  fields.read("root_arguments", live.root_arguments);
  fields.read("anew", anew);
  if (live.index.empty()) fields.fail("index", "is missing: the index directory (--index)");
  if (anew != "root" && anew != "all") fields.fail("anew", "is \"root\" or \"all\"");
  live.anew = anew == "all" ? LiveWorld::Anew::all : LiveWorld::Anew::root;
  return fields.error();
}

std::optional<Error> read_simulated(const ordered_json& json, SimulatedWorld& world) {
  Fields fields(json, "simulated");
  fields.read("leaves", world.leaves, 1, 100'000);
  fields.read("partitions", world.partitions, 1, 100'000);
  fields.read("replicas", world.replicas, 1, 64);
  fields.read("workers", world.workers, 0, 1000);
  fields.read("service", world.service);
  fields.read("network", world.network);
  return fields.error();
}

std::optional<Error> read_sections(Fields& fields, SweepPlan& plan) {
  if (const auto* json = fields.find("load")) {
    if (auto error = read_load(*json, plan.load)) return error;
  }
  if (const auto* json = fields.find("quality")) {
    if (auto error = read_quality(*json, plan.quality)) return error;
  }
  if (const auto* json = fields.find("live")) {
    if (auto error = read_live(*json, plan.live.emplace())) return error;
  }
  if (const auto* json = fields.find("simulated")) {
    if (auto error = read_simulated(*json, plan.simulated.emplace())) return error;
  }
  return std::nullopt;
}

ordered_json policy_json(const Policy& policy) {
  ordered_json out{{"name", policy.name}};
  for (const auto& [name, value] : policy.parameters) out[name] = value;
  if (policy.hedge_budget_fill) out["hedge_budget_fill"] = *policy.hedge_budget_fill;
  if (policy.hedge_budget_depth) out["hedge_budget_depth"] = *policy.hedge_budget_depth;
  return out;
}

}  // namespace

result<SweepPlan> parse_plan(const ordered_json& json) {
  SweepPlan plan;
  Fields fields(json, "");
  fields.read("name", plan.name);
  read_list(fields, "deadlines", plan.deadlines, parse_deadline, [](Duration deadline) { return format_duration(deadline); });
  read_list(fields, "fanouts", plan.fanouts, parse_fanout, [](const auto& fanout) { return fanout_text(fanout); });
  read_list(fields, "policies", plan.policies, parse_policy, [](const Policy& policy) { return policy.name; });
  read_list(fields, "faults", plan.faults, parse_fault_set, [](const FaultSet& faults) { return faults.name; });
  fields.read("repetitions", plan.repetitions, 1, 1000);
  fields.read("seed", plan.seed, 0, ~std::uint64_t{0});
  if (auto error = read_sections(fields, plan)) return *error;
  if (plan.deadlines.empty()) plan.deadlines = {std::chrono::milliseconds(250)};
  if (plan.policies.empty()) plan.policies = {Policy{.name = "default", .parameters = {}, .hedge_budget_fill = {}, .hedge_budget_depth = {}}};
  if (plan.faults.empty()) plan.faults = {FaultSet{.name = "none"}};
  if (plan.load.rate <= 0) fields.fail("load.rate", "is missing: queries per second (--rate)");
  const std::size_t points = plan.deadlines.size() * plan.fanouts.size() * plan.policies.size() * plan.faults.size();
  if (points > most_points) fields.fail("the plan", "has " + std::to_string(points) + " points; at most 10,000 are run");
  if (auto error = fields.error()) return *error;
  return plan;
}

ordered_json to_json(const SweepPlan& plan) {
  ordered_json out{{"name", plan.name}, {"deadlines", ordered_json::array()}, {"fanouts", ordered_json::array()},
                   {"policies", ordered_json::array()}, {"faults", ordered_json::array()}};
  for (const Duration deadline : plan.deadlines) out["deadlines"].push_back(format_duration(deadline));
  for (const auto& fanout : plan.fanouts) out["fanouts"].push_back(fanout ? ordered_json(*fanout) : ordered_json("all"));
  for (const Policy& policy : plan.policies) out["policies"].push_back(policy_json(policy));
  for (const FaultSet& faults : plan.faults) out["faults"].push_back({{"name", faults.name}, {"faults", faults.faults}});
  out["repetitions"] = plan.repetitions;
  out["seed"] = plan.seed;
  const SweepLoad& load = plan.load;
  out["load"] = {{"rate", load.rate},         {"duration", format_duration(load.duration)},
                 {"warm_up", format_duration(load.warm_up)}, {"arrivals", to_string(load.arrivals)},
                 {"queries", load.queries},   {"connections", load.connections}};
  out["quality"] = {{"k", plan.quality.k}, {"reference", plan.quality.reference}, {"qrels", plan.quality.qrels}};
  if (const auto& live = plan.live) {
    out["live"] = {{"index", live->index},       {"leaves", live->leaves},
                   {"replicas", live->replicas}, {"workers", live->workers},
                   {"spellers", live->spellers}, {"leaf_arguments", live->leaf_arguments},
                   {"root_arguments", live->root_arguments}, {"anew", live->anew == LiveWorld::Anew::all ? "all" : "root"}};
  }
  if (const auto& world = plan.simulated) {
    out["simulated"] = {{"leaves", world->leaves},   {"partitions", world->partitions}, {"replicas", world->replicas},
                        {"workers", world->workers}, {"service", world->service},       {"network", world->network}};
  }
  return out;
}

std::vector<SweepPoint> points_of(const SweepPlan& plan) {
  std::vector<SweepPoint> points;
  for (const FaultSet& faults : plan.faults) {
    for (const Policy& policy : plan.policies) {
      for (const auto& fanout : plan.fanouts) {
        for (const Duration deadline : plan.deadlines) points.push_back({deadline, fanout, policy.name, faults.name});
      }
    }
  }
  return points;
}

std::string fanout_text(const std::optional<std::uint32_t>& fanout) { return fanout ? std::to_string(*fanout) : "all"; }

std::string to_text(const SweepPoint& point) {
  return point.policy + ", " + (point.fanout == 1u ? "1 partition" : fanout_text(point.fanout) + " partitions") + ", " +
         format_duration(point.deadline) + ", " + point.faults;
}

std::vector<ScheduledRun> schedule_of(const SweepPlan& plan) {
  std::vector<ScheduledRun> schedule;
  std::vector<std::size_t> order(points_of(plan).size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(plan.seed);
  for (std::uint64_t repetition = 1; repetition <= plan.repetitions; ++repetition) {
    for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random.below(left)]);
    const std::uint64_t seed = random.next() >> 1;  // a JSON number that every reader can hold as signed
    for (const std::size_t point : order) schedule.push_back({point, repetition, seed});
  }
  return schedule;
}

}  // namespace hedgerow::lab::sweep
