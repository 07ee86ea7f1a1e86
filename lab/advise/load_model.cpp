#include "lab/advise/load_model.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace hedgerow::lab {

namespace {

// Below this, what is measured is service.
constexpr double idle = 1e-3;
// Times of a curve are that close to each other, relatively.
constexpr double grid = 0.005;
// A curve ends where the further wait leaves less than this part of the smallest share.
constexpr double negligible = 0.5;

double count_of(Duration duration) { return static_cast<double>(duration.count()); }
Duration nanoseconds(double count) { return Duration{static_cast<Duration::rep>(std::llround(count))}; }

struct Moments {
  double mean = 0, mean_of_squares = 0;
};

// Integrals over the steps: the mean is that of Pr(X > t), that of squares that of 2 t Pr(X > t).
Moments moments_of(const policy::LatencyCurve& curve) {
  Moments out;
  double from = 0, left = 1;
  for (const auto& step : curve.steps) {
    const double to = count_of(step.time);
    out.mean += left * (to - from);
    out.mean_of_squares += left * (to * to - from * from);
    from = to;
    left = step.unanswered;
  }
  return out;
}

// E[e^-rate X], the rate in 1/ns: 1 - the integral of rate e^(-rate t) Pr(X > t).
double transform(const policy::LatencyCurve& curve, double rate) {
  double integral = 0, from = 0, left = 1;
  for (const auto& step : curve.steps) {
    const double to = count_of(step.time);
    integral += left * std::exp(-rate * from) * -std::expm1(-rate * (to - from));
    from = to;
    left = step.unanswered;
  }
  return 1 - integral;
}

// The arrival rate at which a share of `load` leaves somebody behind.
double arrival_rate(const policy::LatencyCurve& curve, double load, double mean) {
  // By Jensen's inequality it is no smaller than this.
  double low = -std::log1p(-load) / mean, high = low;
  // (Where more than 1 - load take no time at all, no rate is high enough.)
  for (int i = 0; i < 60 && transform(curve, high) > 1 - load; ++i) high *= 2;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (transform(curve, middle) > 1 - load ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

double chance_of_waiting(std::size_t workers, double load) {
  assert(load >= 0 && load < 1 && workers >= 1);
  // Erlang's B by its recursion, and C from it.
  const double offered = load * static_cast<double>(workers);
  double lost = 1;
  for (std::size_t i = 1; i <= workers; ++i) lost = offered * lost / (static_cast<double>(i) + offered * lost);
  return lost / (1 - load * (1 - lost));
}

LoadModel::LoadModel(const AttemptTail& tail, double load, std::size_t workers)
    : measured_(tail.curve()), load_(load), workers_(workers) {
  assert(load >= 0 && load < 1 && workers >= 1 && tail.partitions() == 1);
  const Moments moments = moments_of(measured_);
  const double c = static_cast<double>(workers);
  double service = moments.mean, residual = moments.mean > 0 ? moments.mean_of_squares / moments.mean / 2 : 0;
  if (load_ >= idle && moments.mean > 0) {
    if (workers == 1) {
      service = load_ / arrival_rate(measured_, load_, moments.mean);
      residual = std::max(0.0, moments.mean - service) * (1 - load_) / load_;
    } else {
      // Residual times in mean service times: (1 + cv^2) / 2.
      const double residuals = moments.mean_of_squares / (moments.mean * moments.mean) / 2;
      service = moments.mean / (1 + chance_of_waiting(workers, load_) * residuals / (c * (1 - load_)));
      residual = residuals * service;
    }
  }
  mean_ = nanoseconds(moments.mean);
  service_ = nanoseconds(service);
  residual_ = nanoseconds(residual);
}

Duration LoadModel::mean_wait(double load) const {
  return nanoseconds(chance_of_waiting(workers_, load) * count_of(residual_) / (static_cast<double>(workers_) * (1 - load)));
}

policy::LatencyCurve LoadModel::with_further_wait(const policy::LatencyCurve& curve, double load) const {
  assert(load >= load_ && load < 1);
  const double none = (1 - chance_of_waiting(workers_, load)) / (1 - chance_of_waiting(workers_, load_));
  const double mean = count_of(residual_) / (static_cast<double>(workers_) * (1 - load));
  if (none >= 1 || mean < 1 || curve.steps.empty()) return curve;

  policy::LatencyCurve out;
  out.answered = curve.answered;
  out.given_up = curve.given_up;
  const double smallest = 1 / static_cast<double>(std::max<std::uint64_t>(1, curve.answered));

  // X and an exponential wait E: Pr(X + E > t) = Pr(X > t) + the integral over x <= t of e^-((t - x) / mean) dPr(X <= x),
  // which decays between the steps and grows at each.
  double time = count_of(curve.steps.front().time), left = 1, waiting = 0;
  const auto tell = [&] { out.steps.push_back({nanoseconds(time), left + (1 - none) * waiting}); };
  const auto go_on_to = [&](double to) {
    while (to > time * (1 + grid) + 1) {
      const double next = time * (1 + grid) + 1;
      waiting *= std::exp(-(next - time) / mean);
      time = next;
      tell();
    }
    waiting *= std::exp(-(to - time) / mean);
    time = to;
  };
  for (const auto& step : curve.steps) {
    go_on_to(count_of(step.time));
    waiting += left - step.unanswered;
    left = step.unanswered;
    tell();
  }
  while ((1 - none) * waiting > negligible * smallest) go_on_to(time * (1 + grid) + 2);
  return out;
}

}  // namespace hedgerow::lab
