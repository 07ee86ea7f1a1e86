// What recent queries taught about one optional subsystem: whether it is worth starting, and whether an answer that is
// ready but for it may wait a moment. Pure.
//
// Intuition: what recently took too long for the time that is left is not started, so it costs nothing; once in a while
// it is let through all the same, or nobody would notice that it is well again. And waiting in vain is rationed: a wait
// that came to nothing costs a token, every query that could wait brings a small share of one, so that in the long run
// no more than that share of the answers is later than without the subsystem. The 99th percentile of answers cannot
// see half a per cent.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.hpp"
#include "root/policy/cluster/attempt_budget.hpp"
#include "root/policy/cluster/latency_model.hpp"

namespace hedgerow::policy {

struct SubsystemSettings {
  double quantile = 0.95;  // of recent latencies: what is expected
  Duration let_through_every = std::chrono::seconds(1);
  double vain_share = 0.005;  // of queries that wait in vain, in the long run
  double vain_burst = 3;      // and so many at once
  double retry_share = 0.1;   // of calls, as AttemptBudget
  double retry_burst = 20;
  Duration judged_anew_every = std::chrono::milliseconds(20);  // the quantile is not computed for every query
};

class SubsystemModel {
 public:
  SubsystemModel() : SubsystemModel(SubsystemSettings{}) {}
  explicit SubsystemModel(const SubsystemSettings& settings);

  enum class Verdict { start, let_through, skip };
  // left: the time until the deadline. Nothing known: start.
  Verdict judge_start(Duration left, Instant now);

  // What a call is expected to take: nullopt where nothing is known, LatencyModel::longer_than_known where too much was
  // given up.
  std::optional<Duration> expected(Instant now);

  // A call was answered after so long. One that was let through and answered in time: what was bad before is forgotten.
  void on_answered(Duration latency, bool let_through, Instant now);
  // A call was given up after so long. (Of failures nothing is learnt here: that they were fast says nothing.)
  void on_given_up(Duration latency, Instant now);

  // Asked once by every query whose subsystem is all that it waits for.
  bool may_wait();
  void on_waited(bool in_vain);

  AttemptBudget& retries() { return retries_; }
  // For /v1/cluster.
  std::uint64_t samples(Instant now) { return latency_.samples(now); }

 private:
  SubsystemSettings settings_;
  LatencyModel latency_;
  AttemptBudget retries_;
  double vain_tokens_;
  std::optional<Instant> let_through_at_;
  std::optional<Instant> judged_at_;
  std::uint64_t judged_samples_ = 0;
  std::optional<Duration> expected_;
};

}  // namespace hedgerow::policy
