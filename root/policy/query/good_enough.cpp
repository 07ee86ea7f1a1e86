#include "root/policy/query/good_enough.hpp"

#include <algorithm>

namespace hedgerow::policy {

namespace {

using Steps = std::vector<LatencyCurve::Step>;

// Of the curve as it is for this partition's leaf.
double still_unanswered(const Awaited& awaited, const LatencyCurve& latencies) {
  return latencies.unanswered_after(awaited.waited - awaited.later);
}

// The first step that lies after what was waited already.
Steps::const_iterator first_after(const Awaited& awaited, const LatencyCurve& latencies) {
  return std::upper_bound(latencies.steps.begin(), latencies.steps.end(), awaited.waited - awaited.later,
                          [](Duration waited, const LatencyCurve::Step& step) { return waited < step.time; });
}

// An answer that becomes more likely by so much, so long after now.
struct Arrival {
  Duration in;
  double percent;
};

// What was waited for less long than this says nothing of how long it will last.
constexpr Duration least_telling = std::chrono::milliseconds(1);

// Of a partition that is waited for longer than anything known: what has lasted for so long probably lasts for as long
// again, and Pr(answered by t' | not until t) = 1 - t / t'.
void add_unknown(const Awaited& one, double farthest, std::vector<Arrival>& arrivals) {
  const auto waited = static_cast<double>(std::max(one.waited, least_telling).count());
  double answered = 0;
  for (const double part : {0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0}) {
    const double in = part * waited;
    if (in > farthest) break;
    const double by_then = 1 - waited / (waited + in);
    arrivals.push_back({Duration(static_cast<Duration::rep>(in)), 100 * one.share * (by_then - answered)});
    answered = by_then;
  }
}

}  // namespace

Duration usual_rest(const Awaited& awaited, const LatencyCurve& latencies) {
  const double half = still_unanswered(awaited, latencies) / 2;
  for (auto step = first_after(awaited, latencies); step != latencies.steps.end(); ++step) {
    if (step->unanswered <= half) return step->time + awaited.later - awaited.waited;
  }
  return Duration::max();
}

std::optional<Instant> worth_waiting_until(const GoodEnoughRule& rule, double completeness,
                                           const std::vector<Awaited>& awaited, const LatencyCurve& latencies,
                                           Instant search_end, Instant now) {
  if (completeness < rule.min_completeness || latencies.answered == 0) return search_end;

  // Beyond this even the arrival of everything would not pay.
  double all = 0;
  for (const Awaited& one : awaited) all += 100 * one.share;
  const auto worth = [&](double percent) { return percent * static_cast<double>(rule.patience.count()); };
  const double farthest = std::min(worth(all), static_cast<double>((search_end - now).count()));

  std::vector<Arrival> arrivals;
  for (const Awaited& one : awaited) {
    const double now_unanswered = still_unanswered(one, latencies);
    if (now_unanswered <= 0 || first_after(one, latencies) == latencies.steps.end()) {
      add_unknown(one, farthest, arrivals);
      continue;
    }
    double before = now_unanswered;
    for (auto step = first_after(one, latencies); step != latencies.steps.end(); ++step) {
      const Duration in = step->time + one.later - one.waited;
      if (static_cast<double>(in.count()) > farthest) break;
      arrivals.push_back({in, 100 * one.share * (before - step->unanswered) / now_unanswered});
      before = step->unanswered;
    }
  }
  std::sort(arrivals.begin(), arrivals.end(), [](const Arrival& a, const Arrival& b) { return a.in < b.in; });

  double gain = 0, best = 0;
  std::optional<Instant> until;
  for (const Arrival& arrival : arrivals) {
    gain += arrival.percent;
    const double net = worth(gain) - static_cast<double>(arrival.in.count());
    if (net <= best) continue;
    best = net;
    until = now + arrival.in;
  }
  return until;
}

}  // namespace hedgerow::policy
