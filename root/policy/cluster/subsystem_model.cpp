#include "root/policy/cluster/subsystem_model.hpp"

#include <algorithm>

namespace hedgerow::policy {

SubsystemModel::SubsystemModel(const SubsystemSettings& settings)
    : settings_(settings),
      retries_(settings.retry_share, settings.retry_burst),
      vain_tokens_(settings.vain_burst) {}

std::optional<Duration> SubsystemModel::expected(Instant now) {
  // While there are few samples each one matters; later ones change little.
  constexpr std::uint64_t few = 100;
  const std::uint64_t samples = latency_.samples(now);
  const bool fresh = judged_at_ && now - *judged_at_ < settings_.judged_anew_every &&
                     (samples == judged_samples_ || std::min(samples, judged_samples_) >= few);
  if (fresh) return expected_;
  expected_ = latency_.quantile(settings_.quantile, now);
  judged_at_ = now;
  judged_samples_ = samples;
  return expected_;
}

SubsystemModel::Verdict SubsystemModel::judge_start(Duration left, Instant now) {
  const auto takes = expected(now);
  if (!takes || *takes <= left) return Verdict::start;
  if (let_through_at_ && now - *let_through_at_ < settings_.let_through_every) return Verdict::skip;
  let_through_at_ = now;
  return Verdict::let_through;
}

void SubsystemModel::on_answered(Duration latency, bool let_through, Instant now) {
  if (let_through) latency_.forget();
  latency_.record(latency, now);
}

void SubsystemModel::on_given_up(Duration latency, Instant now) { latency_.record_at_least(latency, now); }

bool SubsystemModel::may_wait() {
  vain_tokens_ = std::min(settings_.vain_burst, vain_tokens_ + settings_.vain_share);
  return vain_tokens_ >= 1;
}

void SubsystemModel::on_waited(bool in_vain) {
  // Many queries may wait at the same moment: what they owe together is bounded, or a single stall of the machine would
  // be remembered for thousands of queries. Waits that pay are trusted again soon.
  vain_tokens_ = in_vain ? std::max(0.0, vain_tokens_ - 1) : std::min(settings_.vain_burst, vain_tokens_ + 1);
}

}  // namespace hedgerow::policy
