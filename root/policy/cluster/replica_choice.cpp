#include "root/policy/cluster/replica_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace hedgerow::policy {

namespace {

// A failure counts as an answer that took so long, or longer.
constexpr double failure_seconds = 0.05;
constexpr double failure_weight = 0.5;

// What was cut short would have taken so many times as long, more likely than not: what is late is often very late. It
// says something only if it had lasted longer than its leaf's attempts usually do, or so many times the usual of all.
constexpr double cut_short_factor = 2;
constexpr double beyond_usual = 1.25;

// Of a sample, in the average of the time waited on a leaf.
constexpr double queue_weight = 0.1;

// No leaf is judged worse than this (or than ten times the usual, where that is more): it must be able to come back.
constexpr double worst_seconds = 1;
constexpr double worst_factor = 10;
constexpr double best_seconds = 2e-5;
// Nor ever worse than this: where most leaves fail again and again, what is usual would double with each of them.
constexpr double longest_seconds = 60;

// What is usual is looked at anew once in so many choices, or in as many as there are leaves.
constexpr std::uint32_t choices_between_looks = 16;

constexpr std::uint8_t in_time_again = 2;  // answers in a row
constexpr std::uint32_t refusals_told = 64;  // a refusing leaf looks at most so much busier than usual

}  // namespace

std::string_view to_string(ReplicaChoiceSettings::Mode mode) {
  switch (mode) {
    case ReplicaChoiceSettings::Mode::prequal: return "prequal";
    case ReplicaChoiceSettings::Mode::least_in_flight: return "least-in-flight";
    case ReplicaChoiceSettings::Mode::random: return "random";
  }
  return "prequal";
}

ReplicaChoice::ReplicaChoice(Random random, const ReplicaChoiceSettings& settings) 
    : random_(random),
      settings_(settings),
      slow_seconds_(std::numeric_limits<double>::infinity()),
      probes_(settings.probe_share, settings.probe_burst) {}

void ReplicaChoice::on_leaf_up(LeafId leaf) {
  Leaf& state = of(leaf);
  if (state.up) return;
  // What was known of it before it went is of another process.
  const std::uint32_t in_flight = state.in_flight;
  state = Leaf{};
  state.up = true;
  state.in_flight = in_flight;
}

void ReplicaChoice::on_leaf_down(LeafId leaf) { of(leaf).up = false; }

void ReplicaChoice::learn(Leaf& leaf, double seconds, Sample sample, Instant now) {
  seconds = std::max(seconds, best_seconds);
  if (!leaf.known) {
    leaf.latency_seconds = seconds;
  } else {
    const double halvings = to_seconds(now - leaf.heard) / to_seconds(settings_.half_life);
    double weight = halvings < 0.1 ? settings_.least_weight : std::max(settings_.least_weight, 1 - std::exp2(-halvings));
    if (sample == Sample::failure) weight = std::max(weight, failure_weight);
    weight = std::min(weight, 0.9);
    leaf.latency_seconds = seconds > leaf.latency_seconds ? std::min(seconds, leaf.latency_seconds / (1 - weight))
                                                          : std::max(seconds, leaf.latency_seconds * (1 - weight));
  }
  leaf.latency_seconds = std::min({leaf.latency_seconds, std::max(worst_seconds, worst_factor * usual_seconds_), longest_seconds});
  leaf.known = true;
  leaf.heard = now;

  const bool in_time = sample == Sample::whole && seconds <= slow_seconds_;
  if (leaf.latency_seconds > slow_seconds_) {
    leaf.slow = true;
  }
  leaf.in_time_in_a_row = in_time ? static_cast<std::uint8_t>(std::min(leaf.in_time_in_a_row + 1, 100)) : std::uint8_t{0};
  if (leaf.slow && leaf.latency_seconds <= slow_seconds_ && leaf.in_time_in_a_row >= in_time_again) leaf.slow = false;
}

void ReplicaChoice::on_answered(LeafId leaf, Duration latency, const AttemptReport& report, Instant now) {
  Leaf& state = of(leaf);
  const double queued = to_seconds(report.queue_time);
  state.queue_seconds += queue_weight * (queued - state.queue_seconds);
  learn(state, to_seconds(latency) - queued, Sample::whole, now);
  state.told = report.queued + report.running;
}

void ReplicaChoice::on_unanswered(LeafId leaf, Duration at_least, Instant now) {
  Leaf& state = of(leaf);
  const double seconds = to_seconds(at_least) - state.queue_seconds;
  if (seconds <= 0) return;
  const bool unusual = usual_seconds_ > 0 && seconds > beyond_usual * usual_seconds_;
  if (state.known && seconds <= state.latency_seconds && !unusual) return;
  const double likely = cut_short_factor * seconds;
  if (!state.known || likely > state.latency_seconds) learn(state, likely, Sample::cut_short, now);
}

void ReplicaChoice::on_failed(LeafId leaf, Instant now) {
  Leaf& state = of(leaf);
  learn(state, std::max(failure_seconds, 2 * state.latency_seconds), Sample::failure, now);
}

void ReplicaChoice::on_refused(LeafId leaf) {
  Leaf& state = of(leaf);
  state.told = std::min(std::max(state.told, usual_load_) + 1, usual_load_ + refusals_told);
}

std::optional<Duration> ReplicaChoice::latency(LeafId leaf) const {
  if (leaf.value >= leaves_.size() || !leaves_[leaf.value].known) return std::nullopt;
  return from_milliseconds(leaves_[leaf.value].latency_seconds * 1000);
}

// What is usual, over all leaves that are up: the load above which a leaf is hot, and the latency.
void ReplicaChoice::look_around() {
  if (choices_until_next_look_-- > 0) return;
  choices_until_next_look_ = std::max(choices_between_looks, static_cast<std::uint32_t>(leaves_.size()));
  loads_.clear();
  latencies_.clear();
  for (const Leaf& leaf : leaves_) {
    if (!leaf.up) continue;
    loads_.push_back(load(leaf));
    if (leaf.known) latencies_.push_back(leaf.latency_seconds);
  }
  const auto at_quantile = [](auto& values, double quantile) {
    const auto rank = static_cast<std::ptrdiff_t>(quantile * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + rank, values.end());
    return values[static_cast<std::size_t>(rank)];
  };
  usual_load_ = loads_.empty() ? 0 : at_quantile(loads_, settings_.hot_quantile);
  if (latencies_.empty()) return;
  usual_seconds_ = at_quantile(latencies_, 0.5);
  slow_seconds_ = std::max(usual_seconds_ * settings_.slow, usual_seconds_ + to_seconds(settings_.slow_at_least));
}

std::optional<LeafId> ReplicaChoice::choose(std::span<const LeafId> replicas, std::span<const LeafId> tried) {
  using Mode = ReplicaChoiceSettings::Mode;
  const auto offered = [&](LeafId leaf) {
    return is_up(leaf) && std::find(tried.begin(), tried.end(), leaf) == tried.end();
  };
  // The one of the lowest rank (a tuple); with the same chance each where ranks are equal (reservoir sampling).
  const auto lowest = [&](auto&& rank_of) {
    std::optional<LeafId> best;
    decltype(rank_of(LeafId{})) best_rank{};
    std::uint64_t equals = 0;
    for (const LeafId leaf : replicas) {
      if (!offered(leaf)) continue;
      const auto rank = rank_of(leaf);
      if (!best || rank < best_rank) {
        best = leaf;
        best_rank = rank;
        equals = 1;
      } else if (rank == best_rank && random_.below(++equals) == 0) {
        best = leaf;
      }
    }
    return best;
  };
  if (settings_.mode == Mode::random) return lowest([](LeafId) { return 0; });
  if (settings_.mode == Mode::least_in_flight) return lowest([&](LeafId leaf) { return leaves_[leaf.value].in_flight; });

  look_around();
  if (tried.empty()) probes_.on_primary();
  const auto is_cold = [&](const Leaf& leaf) {
    return !leaf.slow && (leaf.known ? load(leaf) <= usual_load_ : leaf.in_flight < settings_.careful_in_flight);
  };
  double fastest = std::numeric_limits<double>::infinity();
  for (const LeafId leaf : replicas) {
    if (!offered(leaf)) continue;
    const Leaf& state = leaves_[leaf.value];
    if (state.known && is_cold(state)) fastest = std::min(fastest, state.latency_seconds);
  }
  const double alike = std::max(fastest * settings_.alike, fastest + to_seconds(settings_.alike_at_least));
  // Cold and fast before the rest, the slow ones last; then the least loaded, and of the slow ones those where the work
  // in flight will be over first.
  return lowest([&](LeafId leaf) {
    const Leaf& state = leaves_[leaf.value];
    if (state.slow) return std::pair(2, state.latency_seconds * (1 + load(state)));
    const bool fast = is_cold(state) && (!state.known || state.latency_seconds <= alike);
    return std::pair(fast ? 0 : 1, static_cast<double>(load(state)));
  });
}

std::optional<LeafId> ReplicaChoice::choose_probe(std::span<const LeafId> replicas, std::span<const LeafId> tried,
                                                  Instant now) {
  if (settings_.mode != ReplicaChoiceSettings::Mode::prequal) return std::nullopt;
  for (const LeafId leaf : replicas) {
    if (!is_up(leaf)) continue;
    Leaf& state = leaves_[leaf.value];
    if (!state.known || state.in_flight > 0) continue;  // without history it gets its share by choice
    const bool hopeful = state.slow && state.in_time_in_a_row > 0;
    const Duration stale_after = hopeful ? settings_.stale_after / 4 : settings_.stale_after;
    if (now - stale_after < std::max(state.heard, state.probed)) continue;
    if (std::find(tried.begin(), tried.end(), leaf) != tried.end()) continue;
    if (!probes_.take()) return std::nullopt;
    state.probed = now;
    return leaf;
  }
  return std::nullopt;
}

}  // namespace hedgerow::policy
