// What recent queries taught about one optional subsystem: whether it is worth starting, and whether an answer that is
// ready but for it may wait a moment. Pure.
//
// Intuition: what recently took too long for the time that is left, or hardly ever came, is not started, so it costs
// nothing; once in a while it is let through all the same, or nobody would notice that it is well again. An answer that is
// ready waits only where what is missing comes within the grace four times out of five. And waiting in vain is rationed,
// whatever the model believes: a wait that came to nothing costs a token, one that paid brings a quarter of one, and every
// query that could wait brings a small share of one, as does time. So where waiting does not pay, no more than that share
// of the answers waits in vain in the long run, a quarter of a per cent, which the 99th percentile of answers hardly sees,
// and one every twenty seconds.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.hpp"
#include "root/policy/cluster/attempt_budget.hpp"
#include "root/policy/cluster/latency_model.hpp"

namespace hedgerow::policy {

struct SubsystemSettings {
  double quantile = 0.95;  // of recent latencies: what is expected
  // Started only while at least this share of the latest calls was answered: of some thirty, the later ones more.
  double least_answered = 0.2;
  double latest_calls = 32;
  double likely = 0.8;              // the chance to come within the grace for which an answer waits
  std::uint64_t few_samples = 20;   // with fewer the chance is not known
  Duration let_through_every = std::chrono::seconds(1);
  double vain_share = 0.0025;  // of queries that wait in vain, in the long run
  double vain_per_second = 0.05;  // and besides, or with few queries it would take long to notice that it is well again
  double vain_burst = 2;         // so many at once
  double paid_share = 0.25;   // of a token, for a wait that paid
  double retry_share = 0.2;   // of parts, as AttemptBudget
  double retry_burst = 100;
  Duration judged_anew_every = std::chrono::milliseconds(20);  // the curve is not computed for every query
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

  // Whether a call that is open for so long is likely to be answered within the grace; true while little is known.
  bool likely_within(Duration grace, Duration open_for, Instant now);
  // Asked once by every query that has hits and titles, and not yet this subsystem.
  bool may_wait(Instant now);
  void on_waited(bool in_vain);

  AttemptBudget& retries() { return retries_; }
  // For /v1/cluster.
  std::uint64_t samples(Instant now) { return latency_.samples(now); }

 private:
  void judge_anew(Instant now);

  SubsystemSettings settings_;
  LatencyModel latency_;
  AttemptBudget retries_;
  double vain_tokens_;
  std::optional<Instant> vain_tokens_at_;
  double answered_share_ = 1;  // of the latest calls
  std::optional<Instant> let_through_at_;
  std::optional<Instant> judged_at_;
  std::uint64_t judged_samples_ = 0;
  LatencyCurve curve_;
  std::optional<Duration> expected_;
};

}  // namespace hedgerow::policy
