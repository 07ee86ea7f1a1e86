#include "root/policy/cluster/replica_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hedgerow::policy {

namespace {

// A failure counts as an answer that took so many times as long as the leaf's answers do, and at least so long.
constexpr double failure_factor = 4;
constexpr double failure_seconds = 0.05;

// What is usual is looked at anew once in so many choices.
constexpr std::uint32_t choices_between_looks = 16;

}  // namespace

std::string_view to_string(ReplicaChoiceSettings::Mode mode) {
  switch (mode) {
    case ReplicaChoiceSettings::Mode::prequal: return "prequal";
    case ReplicaChoiceSettings::Mode::least_in_flight: return "least-in-flight";
    case ReplicaChoiceSettings::Mode::random: return "random";
  }
  return "prequal";
}

ReplicaChoice::ReplicaChoice(Random random, const ReplicaChoiceSettings& settings) : random_(random), settings_(settings) {}

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

void ReplicaChoice::learn(Leaf& leaf, double seconds, Instant now) {
  if (!leaf.known || !leaf.heard) {
    leaf.latency_seconds = seconds;
  } else {
    // The older what was known, the more the new counts; and a fifth at least, so that a burst of samples is heard.
    const double halvings = to_seconds(now - *leaf.heard) / to_seconds(settings_.half_life);
    const double weight = std::max(0.2, 1 - std::exp2(-halvings));
    leaf.latency_seconds += weight * (seconds - leaf.latency_seconds);
  }
  leaf.known = true;
  leaf.heard = now;
}

void ReplicaChoice::on_answered(LeafId leaf, Duration latency, const AttemptReport& report, Instant now) {
  Leaf& state = of(leaf);
  learn(state, to_seconds(latency), now);
  state.told = report.queued + report.running;
}

void ReplicaChoice::on_unanswered(LeafId leaf, Duration at_least, Instant now) {
  Leaf& state = of(leaf);
  // Less than what is known already says nothing.
  if (!state.known || to_seconds(at_least) > state.latency_seconds) learn(state, to_seconds(at_least), now);
}

void ReplicaChoice::on_failed(LeafId leaf, Instant now) {
  Leaf& state = of(leaf);
  learn(state, std::max(failure_seconds, failure_factor * state.latency_seconds), now);
}

std::optional<Duration> ReplicaChoice::latency(LeafId leaf) const {
  if (leaf.value >= leaves_.size() || !leaves_[leaf.value].known) return std::nullopt;
  return from_milliseconds(leaves_[leaf.value].latency_seconds * 1000);
}

// What is usual, over all leaves that are up: the load above which a leaf is hot, and the latency.
void ReplicaChoice::look_around() {
  if (choices_until_next_look_-- > 0) return;
  choices_until_next_look_ = choices_between_looks;
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
  usual_seconds_ = latencies_.empty() ? 0 : at_quantile(latencies_, 0.5);
}

std::optional<LeafId> ReplicaChoice::choose(std::span<const LeafId> replicas, std::span<const LeafId> tried) {
  using Mode = ReplicaChoiceSettings::Mode;
  const auto offered = [&](LeafId leaf) {
    return is_up(leaf) && std::find(tried.begin(), tried.end(), leaf) == tried.end();
  };
  // Of those that may be taken, the least loaded; with the same chance each where loads are equal (reservoir sampling).
  const auto least = [&](auto&& may_be_taken, auto&& load_of) {
    std::optional<LeafId> best;
    std::uint64_t equals = 0;
    for (const LeafId leaf : replicas) {
      if (!offered(leaf) || !may_be_taken(leaf)) continue;
      if (!best || load_of(leaf) < load_of(*best)) {
        best = leaf;
        equals = 1;
      } else if (load_of(leaf) == load_of(*best) && random_.below(++equals) == 0) {
        best = leaf;
      }
    }
    return best;
  };
  const auto any = [](LeafId) { return true; };
  if (settings_.mode == Mode::random) return least(any, [](LeafId) { return 0; });
  if (settings_.mode == Mode::least_in_flight) return least(any, [&](LeafId leaf) { return in_flight(leaf); });

  look_around();
  const double slow = std::max(usual_seconds_ * settings_.slow, usual_seconds_ + to_seconds(settings_.slow_at_least));
  const auto is_slow = [&](LeafId leaf) { return leaves_[leaf.value].known && leaves_[leaf.value].latency_seconds > slow; };
  const auto is_cold = [&](LeafId leaf) {
    const Leaf& state = leaves_[leaf.value];
    return !is_slow(leaf) && (state.known ? load(state) <= usual_load_ : state.in_flight < settings_.careful_in_flight);
  };
  const auto load_of = [&](LeafId leaf) { return load(leaves_[leaf.value]); };

  double fastest = std::numeric_limits<double>::infinity();
  for (const LeafId leaf : replicas) {
    const bool says = offered(leaf) && is_cold(leaf) && leaves_[leaf.value].known;
    if (says) fastest = std::min(fastest, leaves_[leaf.value].latency_seconds);
  }
  const double alike = std::max(fastest * settings_.alike, fastest + to_seconds(settings_.alike_at_least));
  const auto is_fast = [&](LeafId leaf) {
    return is_cold(leaf) && (!leaves_[leaf.value].known || leaves_[leaf.value].latency_seconds <= alike);
  };
  if (const auto found = least(is_fast, load_of)) return found;
  if (const auto found = least([&](LeafId leaf) { return !is_slow(leaf); }, load_of)) return found;
  return least(any, [&](LeafId leaf) { return leaves_[leaf.value].latency_seconds; });
}

std::optional<LeafId> ReplicaChoice::choose_probe(std::span<const LeafId> replicas, std::span<const LeafId> tried,
                                                  Instant now) {
  if (settings_.mode != ReplicaChoiceSettings::Mode::prequal) return std::nullopt;
  for (const LeafId leaf : replicas) {
    if (!is_up(leaf) || std::find(tried.begin(), tried.end(), leaf) != tried.end()) continue;
    Leaf& state = leaves_[leaf.value];
    const auto last = state.probed && (!state.heard || *state.probed > *state.heard) ? state.probed : state.heard;
    if (state.in_flight > 0 || (last && now - *last < settings_.stale_after)) continue;
    if (!last) continue;  // without history it gets its share by choice
    state.probed = now;
    return leaf;
  }
  return std::nullopt;
}

}  // namespace hedgerow::policy
