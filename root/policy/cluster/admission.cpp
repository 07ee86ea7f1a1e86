#include "root/policy/cluster/admission.hpp"

#include <algorithm>
#include <cmath>

namespace hedgerow::policy {

namespace {

constexpr double average_weight = 0.05;
constexpr double need_deviations = 3;  // above the average: most queries need less
constexpr double count_half_life_seconds = 1;
constexpr int longest_retry_after = 10;

Duration from_seconds(double seconds) { return Duration(static_cast<Duration::rep>(seconds * 1e9)); }

void learn(double& average, double value) { average += (average == 0 ? 1 : average_weight) * (value - average); }

double faded(double value, Duration age, Duration half_life) {
  if (age <= Duration::zero()) return value;
  return value * std::exp2(-to_seconds(age) / to_seconds(half_life));
}

}  // namespace

Admission::Admission(const AdmissionSettings& settings, const ClusterLoad& load, Random random)
    : settings_(settings), load_(load), random_(random), limit_(settings.limit) {}

void Admission::look_around(Instant now) {
  limit_.turn(load_, now);
  press(now);
}

Duration Admission::needed(ServiceClass service_class) const {
  const std::size_t i = index(service_class);
  return from_seconds(need_seconds_[i] + need_deviations * need_deviation_[i]);
}

Duration Admission::longest_wait(Duration given) const {
  const Duration needed = this->needed(ServiceClass::interactive);
  return std::max(Duration::zero(), std::min(from_seconds(settings_.wait_share * to_seconds(given)), given - needed));
}

Duration Admission::expected_wait(ServiceClass service_class, std::size_t ahead) const {
  const bool batch = service_class == ServiceClass::batch;
  const double places = static_cast<double>(batch ? settings_.most_batch : limit_.limit());
  return from_seconds(static_cast<double>(ahead + 1) * hold_seconds_[index(service_class)] / std::max(places, 1.0));
}

double Admission::pressure_now() const {
  const double limit = static_cast<double>(limit_.limit());
  const double full = std::min(1.0, static_cast<double>(in_flight_[0]) / limit);
  const std::size_t waiting = waiting_[0].size();
  if (waiting == 0) return full;
  const Duration longest = longest_wait(limit_.given());
  const double by_time = longest <= Duration::zero() ? 1 : to_seconds(expected_wait(ServiceClass::interactive, waiting)) / to_seconds(longest);
  const double by_count = static_cast<double>(waiting) / static_cast<double>(settings_.most_waiting);
  return full + std::clamp(std::max(by_time, by_count), 0.0, 1.0);
}

double Admission::pressure(Instant now) const {
  return std::max(pressure_now(), faded(pressure_, now - pressed_, settings_.pressure_half_life));
}

void Admission::press(Instant now) {
  pressure_ = pressure(now);
  pressed_ = now;
}

void Admission::forget_counts(Instant now) {
  const double keep = std::exp2(-std::max(0.0, to_seconds(now - counted_)) / count_half_life_seconds);
  refused_ *= keep;
  ended_ *= keep;
  counted_ = now;
}

bool Admission::may_begin(ServiceClass service_class, Instant now) const {
  if (service_class == ServiceClass::interactive) return in_flight(service_class) < limit_.limit();
  const std::size_t most = pressure(now) >= settings_.hold_batch_from ? 1 : settings_.most_batch;
  return in_flight(ServiceClass::batch) < most;
}

void Admission::let_in(ServiceClass service_class) {
  ++in_flight_[index(service_class)];
  limit_.on_in_flight(in_flight_[0]);
}

Admission::Verdict Admission::on_arrival(const Query& query, Instant now) {
  look_around(now);
  const bool batch = query.service_class == ServiceClass::batch;
  auto& waiting = waiting_[index(query.service_class)];
  // Nobody overtakes who waits.
  if (waiting.empty() && may_begin(query.service_class, now)) {
    let_in(query.service_class);
    press(now);
    return {Entry::admitted, 0, {}};
  }
  // How many would be begun before it: those with an earlier deadline.
  const Number number = ++last_number_;
  const std::pair place{query.deadline, number};
  const auto ahead = waiting.empty() || waiting.rbegin()->first < place
                         ? waiting.size()
                         : static_cast<std::size_t>(std::distance(waiting.begin(), waiting.lower_bound(place)));
  const Instant latest = query.deadline - needed(query.service_class);
  const Instant give_up = batch ? latest : std::min(latest, query.received + longest_wait(query.deadline - query.received));
  if (waiting.size() >= settings_.most_waiting || give_up <= now || now + expected_wait(query.service_class, ahead) > give_up) {
    forget_counts(now);
    refused_ += 1;
    if (!batch) {  // it would have waited: the pressure is what it found
      pressure_ = 2;
      pressed_ = now;
    }
    return {};
  }
  waiting.emplace(place, give_up);
  deadlines_.emplace(number, std::pair{query.service_class, query.deadline});
  press(now);
  return {Entry::waits, number, give_up};
}

void Admission::on_ended(const Ended& ended, Instant now) {
  --in_flight_[index(ended.service_class)];
  limit_.on_in_flight(in_flight_[0]);
  forget_counts(now);
  ended_ += 1;
  if (!ended.ran) return look_around(now);
  // Batch has deadlines of its own kind: it says nothing of what is long for those who wait for their answer.
  if (ended.service_class == ServiceClass::interactive) limit_.on_ended(ended.given, ended.at_deadline, ended.answered);
  const double held = to_seconds(now - ended.admitted);
  learn(hold_seconds_[index(ended.service_class)], held);
  if (ended.answered_all) {
    learn(need_deviation_[index(ended.service_class)], std::abs(held - need_seconds_[index(ended.service_class)]));
    learn(need_seconds_[index(ended.service_class)], held);
  }
  look_around(now);
}

void Admission::on_left(Number number, bool refused, Instant now) {
  const auto found = deadlines_.find(number);
  if (found == deadlines_.end()) return;
  const auto [service_class, deadline] = found->second;
  waiting_[index(service_class)].erase({deadline, number});
  deadlines_.erase(found);
  if (refused) {
    forget_counts(now);
    refused_ += 1;
    if (service_class == ServiceClass::interactive) {
      pressure_ = 2;
      pressed_ = now;
    }
  }
  look_around(now);
}

void Admission::on_lag(Duration lag, Instant now) {
  limit_.on_lag(lag);
  look_around(now);
}

std::optional<Admission::Number> Admission::take(ServiceClass service_class, Instant now) {
  if (!may_begin(service_class, now)) return std::nullopt;
  auto& waiting = waiting_[index(service_class)];
  // Those whose time to begin is over are about to leave.
  const auto found = std::find_if(waiting.begin(), waiting.end(), [&](const auto& entry) { return entry.second > now; });
  if (found == waiting.end()) return std::nullopt;
  const Number number = found->first.second;
  waiting.erase(found);
  deadlines_.erase(number);
  let_in(service_class);
  return number;
}

std::optional<Admission::Number> Admission::next(Instant now) {
  if (const auto number = take(ServiceClass::interactive, now)) return number;
  return take(ServiceClass::batch, now);
}

Admission::Shedding Admission::shedding(ServiceClass service_class, Instant now) const {
  const double pressure = this->pressure(now);
  Shedding out;
  out.subsystems = pressure >= settings_.skip_subsystems_from;
  if (service_class == ServiceClass::interactive && pressure > settings_.narrow_from) {
    const double way = std::min(1.0, (pressure - settings_.narrow_from) / (settings_.narrowest_from - settings_.narrow_from));
    out.fanout = 1 - way * (1 - settings_.narrowest);
  }
  return out;
}

int Admission::retry_after_seconds(Instant now) {
  forget_counts(now);
  const double ratio = refused_ / std::max(ended_, 1.0);
  const int spread = 1 + std::min(longest_retry_after - 1, static_cast<int>(std::ceil(2 * ratio)));
  return 1 + static_cast<int>(random_.below(static_cast<std::uint64_t>(spread)));
}

AdmissionLevel Admission::level(Instant now) const {
  const double pressure = this->pressure(now);
  if (pressure >= 1.95) return AdmissionLevel::refusing;
  if (pressure > settings_.narrow_from && settings_.narrowest < 1) return AdmissionLevel::fanout;
  if (pressure >= settings_.hold_batch_from) return AdmissionLevel::batch;
  if (pressure >= settings_.skip_subsystems_from) return AdmissionLevel::subsystems;
  return AdmissionLevel::normal;
}

}  // namespace hedgerow::policy
