#include "lab/simulate_command.hpp"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "lab/simulation/fault_file.hpp"
#include "lab/simulation/random_world.hpp"
#include "lab/simulation/simulation.hpp"
#include "root/policy_words.hpp"

namespace hedgerow::lab {

namespace {

using simulation::Report;
using simulation::ServiceTime;
using simulation::SlowPeriods;
using simulation::WorldSettings;

Error at(const char* option, const Error& error) { return {error.code, std::string(option) + ": " + error.context}; }

// Of a world's settings, so: what a word stands for, or why it stands for nothing.
template <class T>
std::optional<Error> set(T& target, const char* option, result<T> value) {
  if (value.has_error()) return at(option, value.error());
  target = std::move(*value);
  return std::nullopt;
}

result<SlowPeriods> parse_slow_periods(const std::string& text) {
  SlowPeriods out;
  if (text.empty()) return out;
  const auto first = text.find(','), second = text.find(',', first + 1);
  if (first == std::string::npos || second == std::string::npos) {
    return Error{Errc::invalid_argument, "takes EVERY,LASTING,FACTOR, such as 2s,100ms,4"};
  }
  const auto every = parse_duration(text.substr(0, first)), lasting = parse_duration(text.substr(first + 1, second - first - 1));
  const auto factor = root::parse_decimal(text.substr(second + 1));
  if (every.has_error()) return every.error();
  if (lasting.has_error()) return lasting.error();
  if (factor.has_error()) return factor.error();
  out.every = *every;
  out.lasting = *lasting;
  out.factor = *factor;
  return out;
}

result<simulation::Upkeep> parse_upkeep(const std::string& text) {
  simulation::Upkeep out;
  if (text.empty()) return out;
  const auto first = text.find(','), second = text.find(',', first + 1);
  const std::string phase = second == std::string::npos ? "" : text.substr(second + 1);
  if (first == std::string::npos || (phase != "aligned" && phase != "staggered")) {
    return Error{Errc::invalid_argument, "takes PERIOD,LENGTH,aligned or PERIOD,LENGTH,staggered, such as 10s,50ms,aligned"};
  }
  const auto period = parse_duration(text.substr(0, first)), length = parse_duration(text.substr(first + 1, second - first - 1));
  if (period.has_error()) return period.error();
  if (length.has_error()) return length.error();
  return simulation::Upkeep{*period, *length, phase == "aligned" ? simulation::Upkeep::Phase::aligned : simulation::Upkeep::Phase::staggered};
}

result<std::vector<simulation::Fault>> read_faults(const std::filesystem::path& path) {
  if (path.empty()) return std::vector<simulation::Fault>{};
  std::ifstream file(path);
  if (!file) return Error{Errc::io, "cannot read '" + path.string() + "'"};
  return simulation::parse_faults(std::string(std::istreambuf_iterator<char>(file), {}));
}

std::optional<Error> complete(SimulateSettings& settings) {
  WorldSettings& world = settings.world;
  auto& shape = world.shapes.front();
  for (auto problem : {set(world.service, "--service", ServiceTime::parse(settings.service)),
                       set(world.network, "--network", ServiceTime::parse(settings.network)),
                       set(shape.hedge, "--hedge", root::parse_hedge(settings.hedge)),
                       set(shape.tied, "--tied", root::parse_switch(settings.tied)),
                       set(world.policies.replica_choice.mode, "--replica-choice", root::parse_replica_choice(settings.replica_choice)),
                       set(world.slow_periods, "--slow-periods", parse_slow_periods(settings.slow_periods)),
                       set(world.shared_slow_periods, "--shared-slow-periods", parse_slow_periods(settings.shared_slow_periods)),
                       set(world.upkeep, "--upkeep", parse_upkeep(settings.upkeep)),
                       set(world.background.service, "--background-service",
                           ServiceTime::parse(settings.background_service.empty() ? settings.service : settings.background_service)),
                       set(world.faults, "--faults", read_faults(settings.faults))}) {
    if (problem) return problem;
  }
  if (settings.admission == "on") world.admission.emplace();
  if (settings.canaries == "on") world.canaries.emplace();
  shape.service_class = settings.service_class == "batch" ? ServiceClass::batch : ServiceClass::interactive;
  if (const auto error = simulation::settings_error(world); !error.empty()) return Error{Errc::invalid_argument, error};
  return std::nullopt;
}

int fail(const Error& error) {
  std::fprintf(stderr, "hedgerow-lab: %s\n", to_string(error).c_str());
  return 2;
}

// Figures of all worlds together, to see that they did what they were for.
struct Sum {
  std::uint64_t worlds = 0, queries = 0, events = 0, attempts = 0, hedges = 0, retries = 0, tied = 0, probes = 0, late_answers = 0,
                second_answers = 0, cancelled = 0, canaries = 0, turned_away = 0, refused = 0, spelt = 0, killed = 0, violated = 0;

  void add(const Report& report) {
    ++worlds;
    queries += report.queries;
    events += report.events;
    for (const auto count : report.measured.attempts) attempts += count;
    const auto of = [&](AttemptKind kind) { return report.measured.attempts[static_cast<std::size_t>(kind)]; };
    hedges += of(AttemptKind::hedge);
    retries += of(AttemptKind::retry);
    tied += of(AttemptKind::tied);
    probes += of(AttemptKind::probe);
    late_answers += report.leaves.late_answers;
    second_answers += report.leaves.second_answers;
    cancelled += report.leaves.cancelled_queued + report.leaves.cancelled_running;
    canaries += of(AttemptKind::canary);
    turned_away += report.measured.quarantined + report.measured.without_verdict;
    refused += report.measured.refused;
    spelt += report.measured.spelling[static_cast<std::size_t>(policy::SubsystemStatus::ok)];
    killed += report.leaves.killed;
    violated += report.violated;
  }
  nlohmann::json to_json() const {
    return {{"worlds", worlds},   {"queries", queries},           {"events", events},
            {"attempts", attempts}, {"hedges", hedges},             {"retries", retries},
            {"tied", tied},       {"probes", probes},             {"late_answers", late_answers},
            {"second_answers", second_answers}, {"cancelled", cancelled}, {"canaries", canaries},
            {"turned_away", turned_away}, {"queries_refused", refused}, {"spelling_given", spelt},
            {"leaves_killed", killed}, {"violated", violated}};
  }
};

int run_random_worlds(const SimulateSettings& settings) {
  Sum sum;
  std::vector<std::uint64_t> failed;
  for (std::uint64_t i = 0; i < settings.random_worlds; ++i) {
    const std::uint64_t seed = settings.world.seed + i;
    const Report report = simulation::simulate(simulation::random_world(seed, settings.world.queries));
    sum.add(report);
    if (report.violated == 0) continue;
    failed.push_back(seed);
    for (const auto& violation : report.violations) std::fprintf(stderr, "seed %llu %s\n", static_cast<unsigned long long>(seed), violation.c_str());
    std::fprintf(stderr, "  again: hedgerow-lab simulate --random-worlds 1 --queries %llu --seed %llu\n",
                 static_cast<unsigned long long>(settings.world.queries), static_cast<unsigned long long>(seed));
  }
  auto json = sum.to_json();
  if (settings.json) {
    json["failed_seeds"] = failed;
    std::puts(json.dump(2).c_str());
  } else {
    for (const auto& [name, value] : json.items()) std::printf("%-15s %s\n", name.c_str(), value.dump().c_str());
    std::printf("%s\n", failed.empty() ? "every invariant held" : "invariants were broken");
  }
  return failed.empty() ? 0 : 1;
}

}  // namespace

int run_simulate(SimulateSettings settings) {
  if (settings.random_worlds > 0) return run_random_worlds(settings);
  if (const auto problem = complete(settings)) return fail(*problem);
  const Report report = simulation::simulate(settings.world);
  std::puts(settings.json ? report.to_json().dump(2).c_str() : report.to_text().c_str());
  return report.violated == 0 ? 0 : 1;
}

}  // namespace hedgerow::lab
