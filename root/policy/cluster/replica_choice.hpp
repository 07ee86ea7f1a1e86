// Which replica of a partition is asked. Pure.
//
// Intuition: the fewest requests in flight say who keeps up right now, the latest latencies say who is slow for everyone.
// After Prequal ("Load is not what you should balance", Wieder et al., NSDI 2024): a leaf whose requests in flight are
// above a quantile of what is usual is hot; among replicas that are not hot the fastest is taken, and if all are hot the
// least loaded one; a leaf that is slow against most others (which Prequal does not know) comes last. Requests in flight are the root's own and those that the leaf told of with its last answer, whichever
// are more. Latencies that hardly differ count as equal, and then the least loaded goes, ties at random: so several roots
// do not all turn to the leaf that looks fastest.
//
// Fast failures must not look like fast answers: a leaf that fails is judged by the time that its failures cost. A leaf
// without history gets a careful share: as if it were usual, with few attempts at once until it has answered some. A
// leaf of which nothing was heard for a while is stale, and probed: one attempt at a time, beside the real one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "base/random.hpp"
#include "root/policy/cluster/attempt_report.hpp"

namespace hedgerow::policy {

struct ReplicaChoiceSettings {
  enum class Mode { prequal, least_in_flight, random };
  Mode mode = Mode::prequal;
  double hot_quantile = 0.84;  // of requests in flight, over the leaves
  // Latencies up to so much above the smallest count as equal to it.
  double alike = 1.5;
  Duration alike_at_least = std::chrono::milliseconds(1);
  // A leaf whose latency is so far above the median of all leaves is slow, and taken only where nobody else is left.
  double slow = 3;
  Duration slow_at_least = std::chrono::milliseconds(5);
  // How fast what was is forgotten: the weight of a sample is halved after so long.
  Duration half_life = std::chrono::milliseconds(500);
  std::uint32_t careful_in_flight = 2;  // of a leaf without history
  Duration stale_after = std::chrono::seconds(1);  // unheard of for so long: probed, once in so long
};

class ReplicaChoice {
 public:
  explicit ReplicaChoice(Random random, const ReplicaChoiceSettings& settings = {.mode = ReplicaChoiceSettings::Mode::least_in_flight});

  void on_leaf_up(LeafId leaf);
  void on_leaf_down(LeafId leaf);
  // An attempt was sent, and is over, whatever came of it.
  void on_sent(LeafId leaf) { ++of(leaf).in_flight; }
  void on_ended(LeafId leaf) { --of(leaf).in_flight; }
  // What came of it, where that says something: answered after so long; not answered within so long (it may still be
  // under way); failed at once.
  void on_answered(LeafId leaf, Duration latency, const AttemptReport& report, Instant now);
  void on_unanswered(LeafId leaf, Duration at_least, Instant now);
  void on_failed(LeafId leaf, Instant now);

  bool is_up(LeafId leaf) const { return leaf.value < leaves_.size() && leaves_[leaf.value].up; }
  std::uint32_t in_flight(LeafId leaf) const { return leaf.value < leaves_.size() ? leaves_[leaf.value].in_flight : 0; }
  // The recent latency by which a leaf is judged; nullopt: it has no history.
  std::optional<Duration> latency(LeafId leaf) const;

  // Among the replicas that are up and not in tried. nullopt: none is left.
  std::optional<LeafId> choose(std::span<const LeafId> replicas, std::span<const LeafId> tried);
  // One of the replicas (up, not in tried) that is to be probed now, if any is; it counts as probed.
  std::optional<LeafId> choose_probe(std::span<const LeafId> replicas, std::span<const LeafId> tried, Instant now);

  const ReplicaChoiceSettings& settings() const { return settings_; }

 private:
  struct Leaf {
    bool up = false;
    std::uint32_t in_flight = 0;
    std::uint32_t told = 0;       // requests in flight there, as it said last
    double latency_seconds = 0;   // decaying average
    bool known = false;
    std::optional<Instant> heard; // of its last answer or failure
    std::optional<Instant> probed;
  };
  Leaf& of(LeafId leaf) {
    if (leaf.value >= leaves_.size()) leaves_.resize(leaf.value + 1);
    return leaves_[leaf.value];
  }
  std::uint32_t load(const Leaf& leaf) const { return leaf.in_flight > leaf.told ? leaf.in_flight : leaf.told; }
  void look_around();
  void learn(Leaf& leaf, double seconds, Instant now);

  Random random_;
  ReplicaChoiceSettings settings_;
  std::vector<Leaf> leaves_;
  std::uint32_t usual_load_ = 0;
  double usual_seconds_ = 0;
  std::uint32_t choices_until_next_look_ = 0;
  std::vector<std::uint32_t> loads_;  // room for looking around
  std::vector<double> latencies_;
};

std::string_view to_string(ReplicaChoiceSettings::Mode mode);

}  // namespace hedgerow::policy
