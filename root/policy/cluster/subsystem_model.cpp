#include "root/policy/cluster/subsystem_model.hpp"

#include <algorithm>

namespace hedgerow::policy {

SubsystemModel::SubsystemModel(const SubsystemSettings& settings)
    : settings_(settings),
      retries_(settings.retry_share, settings.retry_burst),
      vain_tokens_(settings.vain_burst) {}

void SubsystemModel::judge_anew(Instant now) {
  // While there are few samples each one matters; later ones change little.
  constexpr std::uint64_t few = 100;
  const std::uint64_t samples = latency_.samples(now);
  const bool fresh = judged_at_ && now - *judged_at_ < settings_.judged_anew_every &&
                     (samples == judged_samples_ || std::min(samples, judged_samples_) >= few);
  if (fresh) return;
  curve_ = latency_.curve(now);
  expected_ = curve_.quantile(settings_.quantile);
  judged_at_ = now;
  judged_samples_ = samples;
}

std::optional<Duration> SubsystemModel::expected(Instant now) {
  judge_anew(now);
  return expected_;
}

SubsystemModel::Verdict SubsystemModel::judge_start(Duration left, Instant now) {
  const auto takes = expected(now);
  const bool fits = !takes || *takes == LatencyModel::longer_than_known || *takes <= left;
  if (fits && answered_share_ >= settings_.least_answered) return Verdict::start;
  if (let_through_at_ && now - *let_through_at_ < settings_.let_through_every) return Verdict::skip;
  let_through_at_ = now;
  return Verdict::let_through;
}

bool SubsystemModel::likely_within(Duration grace, Duration open_for, Instant now) {
  judge_anew(now);
  if (curve_.answered + curve_.given_up < settings_.few_samples) return true;
  const double open = curve_.unanswered_after(open_for);
  if (open <= 0) return false;  // longer than any answer took
  return 1 - curve_.unanswered_after(open_for + grace) / open >= settings_.likely;
}

void SubsystemModel::on_answered(Duration latency, bool let_through, Instant now) {
  if (let_through) {
    latency_.forget();
    answered_share_ = 1;
  }
  answered_share_ += (1 - answered_share_) / settings_.latest_calls;
  latency_.record(latency, now);
}

void SubsystemModel::on_given_up(Duration latency, Instant now) {
  answered_share_ -= answered_share_ / settings_.latest_calls;
  latency_.record_at_least(latency, now);
}

bool SubsystemModel::may_wait(Instant now) {
  const double seconds = vain_tokens_at_ ? to_seconds(now - *vain_tokens_at_) : 0;
  vain_tokens_at_ = now;
  vain_tokens_ = std::min(settings_.vain_burst,
                          vain_tokens_ + settings_.vain_share + settings_.vain_per_second * std::max(0.0, seconds));
  return vain_tokens_ >= 1;
}

void SubsystemModel::on_waited(bool in_vain) {
  // Many queries may wait at the same moment: what they owe together is bounded, or a single stall of the machine would
  // be remembered for thousands of queries.
  vain_tokens_ = in_vain ? std::max(0.0, vain_tokens_ - 1) : std::min(settings_.vain_burst, vain_tokens_ + settings_.paid_share);
}

}  // namespace hedgerow::policy
