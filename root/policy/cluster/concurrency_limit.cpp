#include "root/policy/cluster/concurrency_limit.hpp"

#include <algorithm>

namespace hedgerow::policy {

namespace {

constexpr std::size_t few = 4;  // queries that say nothing about most queries
constexpr double given_weight = 0.02;

}  // namespace

ConcurrencyLimit::ConcurrencyLimit(const ConcurrencyLimitSettings& settings)
    : settings_(settings),
      limit_(static_cast<double>(settings.adaptive ? std::clamp(settings.first, std::min(settings.least, settings.most), settings.most)
                                                   : settings.most)) {}

void ConcurrencyLimit::on_in_flight(std::size_t queries) {
  in_flight_ = queries;
  peak_ = std::max(peak_, queries);
  if (static_cast<double>(queries) <= limit_) effective_ = true;
}

void ConcurrencyLimit::on_lag(Duration lag) {
  lag_seconds_ += to_seconds(lag);
  ++lags_;
}

void ConcurrencyLimit::on_ended(Duration given, bool at_deadline, double answered) {
  given_seconds_ += given_weight * (to_seconds(given) - given_seconds_);
  ++ended_;
  if (at_deadline && answered < 0.5) ++hollow_;
}

Duration ConcurrencyLimit::queue_target() const {
  const auto share = Duration(static_cast<Duration::rep>(settings_.queue_share * given_seconds_ * 1e9));
  return std::clamp(share, settings_.queue_at_least, settings_.queue_at_most);
}

bool ConcurrencyLimit::turn(const ClusterLoad& load, Instant now) {
  if (window_start_ && now - *window_start_ < settings_.window) return false;
  const bool first = !window_start_;
  window_start_ = now;
  if (!first) end_window(load, now);
  return !first;
}

OverloadSign ConcurrencyLimit::look(const ClusterLoad& load, Instant now) const {
  if (load.least_queue_time(now) > queue_target()) return OverloadSign::leaf_queues;
  if (load.mean_wait(now) > wait_target()) return OverloadSign::long_waits;
  if (lags_ > 0 && lag_seconds_ / static_cast<double>(lags_) > to_seconds(settings_.lag)) return OverloadSign::root_lag;
  if (ended_ >= few && hollow_ * 2 > ended_) return OverloadSign::hollow_answers;
  return OverloadSign::none;
}

void ConcurrencyLimit::end_window(const ClusterLoad& load, Instant now) {
  sign_ = look(load, now);
  calm_ = sign_ == OverloadSign::none ? calm_ + 1 : 0;
  const double peak = static_cast<double>(peak_);
  const bool used = peak * 2 > limit_;
  if (settings_.adaptive) {
    if (sign_ != OverloadSign::none) {
      if (used && effective_) {
        limit_ = std::min(limit_, peak) * settings_.decrease;
        effective_ = static_cast<double>(in_flight_) <= limit_;
      }
    } else if (used) {
      limit_ += calm_ > settings_.calm_windows ? limit_ * settings_.calm_increase : std::max(1.0, limit_ * settings_.increase);
    } else if (limit_ > static_cast<double>(settings_.first)) {
      // What was needed once is forgotten, or the next overload would be let in at once.
      limit_ = std::max({static_cast<double>(settings_.first), 2 * peak, limit_ * (1 - settings_.increase)});
    }
    limit_ = std::clamp(limit_, static_cast<double>(std::min(settings_.least, settings_.most)), static_cast<double>(settings_.most));
  }
  peak_ = in_flight_;
  lag_seconds_ = 0;
  lags_ = ended_ = hollow_ = 0;
}

}  // namespace hedgerow::policy
