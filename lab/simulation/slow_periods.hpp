// When something is slow for a while: times begun and ended by chance, both exponential. Looked at only as time goes on.
#pragma once

#include "base/clock.hpp"
#include "base/random.hpp"
#include "lab/simulation/world.hpp"

namespace hedgerow::lab::simulation {

class SlowPeriodProcess {
 public:
  SlowPeriodProcess(const SlowPeriods& settings, Random random) : settings_(settings), random_(random) {
    if (settings_.every > Duration::zero()) changes_ = Instant{} + gap(settings_.every);
  }

  bool is_slow(Instant now) {
    if (settings_.every <= Duration::zero()) return false;
    while (changes_ <= now) {
      slow_ = !slow_;
      changes_ += gap(slow_ ? settings_.lasting : settings_.every);
    }
    return slow_;
  }
  Duration stretched(Duration service, Instant now) {
    if (!is_slow(now)) return service;
    return settings_.extra + Duration{static_cast<Duration::rep>(static_cast<double>(service.count()) * settings_.factor)};
  }

 private:
  Duration gap(Duration mean) {
    return Duration{1 + static_cast<Duration::rep>(random_.exponential(static_cast<double>(mean.count())))};
  }

  SlowPeriods settings_;
  Random random_;
  Instant changes_;
  bool slow_ = false;
};

}  // namespace hedgerow::lab::simulation
