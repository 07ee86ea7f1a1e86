// When one query's partitions are hedged. Pure.
//
// Intuition: silence is what a hedge answers. A partition's silence begins when it was its attempt's turn, and begins
// anew when its leaf gets something else of this query done. When it has lasted delays[0] of the query's plan, another
// replica is asked, when it has lasted delays[1] a third, each only if the budget grants it; and none at all for the
// share of partitions that the plan's probability leaves out, which is drawn once for each.
//
// States of a partition: watched (a due instant is kept), then after each due instant watched for the next delay, and at
// last left alone. Due instants are estimates from below: the silence may have begun anew since, and is asked for when
// they come. A hedge that the budget refuses is left out, and the partition goes on waiting for what it has (and for the
// next delay): nothing hangs on it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "root/policy/cluster/hedge_planner.hpp"

namespace hedgerow::policy {

class HedgeSchedule {
 public:
  struct Due {
    Instant at;
    std::uint32_t partition;
    std::uint32_t step;  // which of the plan's delays is over
  };

  HedgeSchedule() : random_(0) {}
  HedgeSchedule(HedgePlan plan, std::size_t partitions, std::uint64_t seed) : plan_(std::move(plan)), random_(seed) {
    if (!plan_.delays.empty()) due_.reserve(partitions);
  }

  // The silence of this partition began then; step: the delay that is waited for. Nothing happens without one.
  void watch(std::uint32_t partition, std::uint32_t step, Instant silent_since) {
    if (step >= plan_.delays.size()) return;
    due_.push_back({silent_since + plan_.delays[step], partition, step});
    std::push_heap(due_.begin(), due_.end(), later);
  }
  std::optional<Instant> next() const { return due_.empty() ? std::nullopt : std::optional(due_.front().at); }
  // Of those due now, one; it is watched no more.
  std::optional<Due> take_due(Instant now) {
    if (due_.empty() || due_.front().at > now) return std::nullopt;
    std::pop_heap(due_.begin(), due_.end(), later);
    const Due due = due_.back();
    due_.pop_back();
    return due;
  }
  // Whether its delay is over when the silence began then.
  bool is_over(const Due& due, Instant silent_since, Instant now) const {
    return now - silent_since >= plan_.delays[due.step];
  }
  // Whether a partition whose first delay is over is hedged: to be asked once for each.
  bool draw() { return plan_.probability >= 1 || random_.chance(plan_.probability); }

  // What was resolved is forgotten together; one by one it would cost more.
  template <class IsOver>
  void forget_if(IsOver&& is_over) {
    std::erase_if(due_, [&](const Due& due) { return is_over(due.partition); });
    std::make_heap(due_.begin(), due_.end(), later);
  }
  std::size_t watched() const { return due_.size(); }

  // A silence so long is told as overdue; nullopt: it is not known what is usual.
  std::optional<Duration> overdue_after() const {
    if (plan_.overdue_after > Duration::zero()) return plan_.overdue_after;
    return plan_.delays.empty() ? std::nullopt : std::optional(plan_.delays.front());
  }

 private:
  static bool later(const Due& a, const Due& b) { return a.at > b.at; }

  HedgePlan plan_;
  Random random_;
  std::vector<Due> due_;  // a heap, the earliest in front
};

}  // namespace hedgerow::policy
