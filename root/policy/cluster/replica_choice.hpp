// Which replica of a partition is asked. Pure.
//
// Intuition: the fewest requests in flight say who keeps up right now, the latest latencies say who is slow for everyone.
// After Prequal ("Load is not what you should balance", Wieder et al., NSDI 2024): a leaf whose requests in flight are
// above a quantile of what is usual is hot; among replicas that are not hot the fastest is taken, and if all are hot the
// least loaded one. A leaf that is slow against most others (which Prequal does not know) comes last, until it has
// answered in time twice in a row. Requests in flight are the root's own and those that the leaf told of with its last
// answer, whichever are more. Latencies that hardly differ count as equal, and then the least loaded goes, ties at
// random: so several roots do not all turn to the leaf that looks fastest.
//
// Time waited in the leaf's queue is left out of its latency: load is judged by load, and what is slow for everyone by the
// rest. (With it, a busy leaf would be slow, the others would get its work and be slow next, and so on.)
//
// A leaf's latency is a running median: an answer that took longer raises it by a step, a quicker one lowers it by a
// step, never beyond the answer itself; the longer ago the last one was, the larger the step. So one slow answer in fifty
// changes little, and a leaf that is slow for everyone is known after some twenty. Where a hedge or the search's end cut an
// attempt short, nobody knows how long it would have taken: it counts as twice as long, if it was late (or else the slow
// leaf would look as fast as its hedges; trap 22).
//
// Fast failures must not look like fast answers: each doubles the median, at least. A refusal says nothing of speed: it
// makes the leaf hot until it answers. A leaf without history gets a careful share: as if it were usual, with few
// attempts at once until it has answered. A leaf of which nothing was heard for a while is stale, and probed: one attempt
// at a time, beside the real one, in all at most a small share of the attempts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "base/random.hpp"
#include "root/policy/cluster/attempt_budget.hpp"
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
  double least_weight = 0.05;           // of a sample, however fast they come
  std::uint32_t careful_in_flight = 2;  // of a leaf without history
  // Unheard of for so long: probed, once in so long; a slow leaf whose last answer was in time, four times as often.
  Duration stale_after = std::chrono::seconds(1);
  double probe_share = 0.01;  // of choices, in the long run
  double probe_burst = 10;
};

class ReplicaChoice {
 public:
  explicit ReplicaChoice(Random random, const ReplicaChoiceSettings& settings = {.mode = ReplicaChoiceSettings::Mode::least_in_flight});

  void on_leaf_up(LeafId leaf);
  void on_leaf_down(LeafId leaf);
  // An attempt was sent, and is over, whatever came of it.
  void on_sent(LeafId leaf) { ++of(leaf).in_flight; }
  void on_ended(LeafId leaf) { --of(leaf).in_flight; }
  // What came of it, where that says something: answered so long after its sending; not answered within so long (it may still be
  // under way); failed at once.
  void on_answered(LeafId leaf, Duration latency, const AttemptReport& report, Instant now);
  void on_unanswered(LeafId leaf, Duration at_least, Instant now);
  void on_failed(LeafId leaf, Instant now);
  // It refused for load.
  void on_refused(LeafId leaf);

  bool is_up(LeafId leaf) const { return leaf.value < leaves_.size() && leaves_[leaf.value].up; }
  std::uint32_t in_flight(LeafId leaf) const { return leaf.value < leaves_.size() ? leaves_[leaf.value].in_flight : 0; }
  // The recent latency by which a leaf is judged; nullopt: it has no history.
  std::optional<Duration> latency(LeafId leaf) const;
  // Taken only where nobody else is left.
  bool is_slow(LeafId leaf) const { return leaf.value < leaves_.size() && leaves_[leaf.value].slow; }

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
    double latency_seconds = 0;   // running median, without the queue
    double queue_seconds = 0;     // running mean of the time waited there
    bool known = false;
    bool slow = false;
    std::uint8_t in_time_in_a_row = 0;  // answers, while it is slow
    Instant heard = Instant::min();     // of its last answer, failure or overdue silence
    Instant probed = Instant::min();
  };
  Leaf& of(LeafId leaf) {
    if (leaf.value >= leaves_.size()) leaves_.resize(leaf.value + 1);
    return leaves_[leaf.value];
  }
  std::uint32_t load(const Leaf& leaf) const { return leaf.in_flight > leaf.told ? leaf.in_flight : leaf.told; }
  void look_around();
  // What one sample counts at most as: as itself, or as more where it was cut short.
  enum class Sample { whole, cut_short, failure };
  void learn(Leaf& leaf, double seconds, Sample sample, Instant now);

  Random random_;
  ReplicaChoiceSettings settings_;
  std::vector<Leaf> leaves_;
  std::uint32_t usual_load_ = 0;
  double usual_seconds_ = 0;
  double slow_seconds_;
  AttemptBudget probes_;
  std::uint32_t choices_until_next_look_ = 0;
  std::vector<std::uint32_t> loads_;  // room for looking around
  std::vector<double> latencies_;
};

std::string_view to_string(ReplicaChoiceSettings::Mode mode);

}  // namespace hedgerow::policy
