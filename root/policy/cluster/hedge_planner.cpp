#include "root/policy/cluster/hedge_planner.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace hedgerow::policy {

namespace {

using Nanoseconds = Duration::rep;

constexpr std::size_t most_hedges = 4;
// Shares closer together than this need no point of their own on the resampled curve.
constexpr double resolution = 0.0025;
// Of two plans whose targets differ by less than this the cheaper one is better.
constexpr double worth_of_the_budget = 0.002;

// Pr(X > t), resampled and quick to look up. Like the curve it comes from it is never too small.
class Tail {
 public:
  explicit Tail(const LatencyCurve& curve) {
    times_.push_back(0);
    shares_.push_back(1);
    const double smallest = 1 / static_cast<double>(curve.answered);
    for (std::size_t i = 0; i < curve.steps.size(); ++i) {
      const double share = std::max(smallest, curve.steps[i].unanswered);
      const bool last = i + 1 == curve.steps.size();
      if (share > shares_.back() * (1 - resolution) && !(last && share < shares_.back())) continue;
      times_.push_back(curve.steps[i].time.count());
      shares_.push_back(share);
    }
    std::size_t point = 0;
    starts_.reserve(cell_of(times_.back()) + 1);
    for (std::size_t cell = 0; cell <= cell_of(times_.back()); ++cell) {
      while (point + 1 < times_.size() && cell_of(times_[point + 1]) < cell) ++point;
      starts_.push_back(static_cast<std::uint32_t>(point));
    }
  }

  double after(Nanoseconds time) const {
    if (time < 0) return 1;
    if (time >= times_.back()) return shares_.back();
    std::size_t point = starts_[cell_of(time)];
    while (times_[point + 1] <= time) ++point;
    return shares_[point];
  }

  Nanoseconds last() const { return times_.back(); }
  // Less is left at no time that is known.
  double smallest() const { return shares_.back(); }
  // The earliest time after which no more than this share is left; `never` where that is not known of any.
  Nanoseconds earliest(double share, Nanoseconds never) const {
    const auto found = std::partition_point(shares_.begin(), shares_.end(), [&](double left) { return left > share; });
    return found == shares_.end() ? never : times_[static_cast<std::size_t>(found - shares_.begin())];
  }

 private:
  // Cells of equal width within each doubling, 64 of them; starts_ says with which point a cell's times begin.
  static std::size_t cell_of(Nanoseconds time) {
    const auto value = static_cast<std::uint64_t>(time);
    const int shift = std::max(0, static_cast<int>(std::bit_width(value)) - 7);
    return (static_cast<std::size_t>(shift) << 6) + static_cast<std::size_t>(value >> shift);
  }

  std::vector<Nanoseconds> times_;
  std::vector<double> shares_;
  std::vector<std::uint32_t> starts_;
};

// What is searched over: the probability, and which part of what is left of the budget each reissue may spend. The last
// one may spend all that is left.
struct Division {
  double probability = 1;
  std::array<double, most_hedges> parts{};
};

struct Outcome {
  std::array<Nanoseconds, most_hedges> delays{};
  std::size_t hedges = 0;
  Nanoseconds target = std::numeric_limits<Nanoseconds>::max();
  double cost = 0;
};

class Search {
 public:
  Search(const HedgeProblem& problem, std::size_t hedges)
      : first_(problem.first), further_(problem.further), late_share_(problem.late_share), budget_(problem.budget),
        hedges_(hedges), shortest_(problem.shortest_delay.count()) {
    aim_at(hedges);
    // Where the first curve does not reach the target: from when on nothing changes any more.
    const Nanoseconds last = shortest_ + first_.last() + static_cast<Nanoseconds>(hedges) * further_.last();
    unhedged_ = first_.earliest(late_share_, last);
  }

  double late_share() const { return late_share_; }
  // The target quantile without hedges, as far as it is known.
  Nanoseconds unhedged() const { return std::min(unhedged_, first_.last()); }
  double probability() const { return best_division_.probability; }

  void consider(Division division) {
    division.probability = std::clamp(division.probability, 0.02, 1.0);
    const Outcome outcome = tried(division);
    if (outcome.hedges == 0) return;
    const double score = static_cast<double>(outcome.target) * (1 + worth_of_the_budget * outcome.cost / budget_);
    if (score >= best_score_) return;
    best_score_ = score;
    best_ = outcome;
    best_division_ = division;
    improved_ = true;
  }

  Outcome best() {
    if (hedges_ == 0 || budget_ <= 0) return {};
    for (const double probability : {1.0, 0.85, 0.7, 0.5, 0.35, 0.2, 0.1}) {
      // Without its hedge this share is late for certain.
      if ((1 - probability) * first_.after(unhedged_ - 1) > late_share_) continue;
      Division division{probability, {}};
      division.parts.fill(0.9);
      if (hedges_ == 1) {
        consider(division);
        continue;
      }
      for (const double part : {0.3, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98}) {
        division.parts[0] = part;
        consider(division);
      }
    }
    if (best_.hedges == 0) return best_;
    double probability_step = 0.1, part_step = 0.8;
    for (int level = 0; level < 5; ++level, probability_step /= 2, part_step /= 2) {
      for (int round = 0; round < 4; ++round) {
        improved_ = false;
        for (const double sign : {-1.0, 1.0}) {
          Division division = best_division_;
          division.probability += sign * probability_step;
          consider(division);
          for (std::size_t i = 0; i + 1 < hedges_; ++i) {
            division = best_division_;
            // In odds, so that the steps become small where hardly anything is left to the rest.
            const double odds = division.parts[i] / (1 - division.parts[i]) * std::exp(sign * part_step);
            division.parts[i] = odds / (1 + odds);
            consider(division);
          }
        }
        if (!improved_) break;
      }
    }
    return best_;
  }

 private:
  // Not at less than so many hedges can be known to reach.
  void aim_at(std::size_t hedges) {
    double known = first_.smallest();
    for (std::size_t i = 0; i < hedges; ++i) known *= further_.smallest();
    late_share_ = std::max(late_share_, known);
  }

  double left(const Outcome& outcome, Nanoseconds time) const {
    double share = first_.after(time);
    for (std::size_t i = 0; i < outcome.hedges; ++i) share *= further_.after(time - outcome.delays[i]);
    return share;
  }

  Outcome tried(const Division& division) const {
    Outcome outcome;
    std::array<double, most_hedges> costs{};
    double affordable = budget_ / division.probability;
    while (outcome.hedges < hedges_ && affordable > 0) {
      const double part = outcome.hedges + 1 == hedges_ ? affordable : affordable * division.parts[outcome.hedges];
      const Nanoseconds delay = earliest_within(outcome, part);
      if (delay >= unhedged_) break;
      const double cost = left(outcome, delay);
      affordable -= cost;
      costs[outcome.hedges] = division.probability * cost;
      outcome.cost += costs[outcome.hedges];
      outcome.delays[outcome.hedges++] = delay;
    }
    if (outcome.hedges == 0) return outcome;
    outcome.target = target(outcome, division.probability);
    if (outcome.target > unhedged_) outcome.hedges = 0;
    // One that is sent after the target does nothing for it.
    while (outcome.hedges > 1 && outcome.delays[outcome.hedges - 1] >= outcome.target) {
      outcome.cost -= costs[--outcome.hedges];
    }
    return outcome;
  }

  // The earliest time after which no more than late_share_ is left.
  Nanoseconds target(const Outcome& outcome, double probability) const {
    const double unhedged_share = 1 - probability;
    const auto late = [&](Nanoseconds time) {
      const double first = first_.after(time);
      double all = probability;
      for (std::size_t i = 0; i < outcome.hedges; ++i) all *= further_.after(time - outcome.delays[i]);
      return first * (unhedged_share + all);
    };
    Nanoseconds too_soon = outcome.delays[0], enough = unhedged_;
    if (late(enough) > late_share_) return std::numeric_limits<Nanoseconds>::max();
    while (enough - too_soon > enough / 8192 + 500) {
      const Nanoseconds middle = too_soon + (enough - too_soon) / 2;
      (late(middle) <= late_share_ ? enough : too_soon) = middle;
    }
    return enough;
  }

  // The earliest delay at which no more than this share is left to be hedged; unhedged_ or later: it does not pay.
  Nanoseconds earliest_within(const Outcome& before, double share) const {
    if (before.hedges == 0) return std::max(shortest_, first_.earliest(share, unhedged_));
    Nanoseconds too_soon = before.delays[before.hedges - 1], enough = unhedged_;
    if (left(before, enough) > share) return unhedged_;
    while (enough - too_soon > enough / 4096 + 500) {
      const Nanoseconds middle = too_soon + (enough - too_soon) / 2;
      (left(before, middle) <= share ? enough : too_soon) = middle;
    }
    return enough;
  }

  Tail first_, further_;
  double late_share_, budget_;
  std::size_t hedges_;
  Nanoseconds shortest_, unhedged_;
  Outcome best_;
  Division best_division_;
  double best_score_ = std::numeric_limits<double>::max();
  bool improved_ = false;
};

}  // namespace

double late_share(double query_quantile, std::size_t width) {
  return 1 - std::pow(query_quantile, 1 / static_cast<double>(std::max<std::size_t>(1, width)));
}

HedgePlan plan_hedges(const HedgeProblem& problem) {
  HedgePlan plan;
  if (problem.first.answered == 0 || problem.further.answered == 0) return plan;
  // With fewer hedges where so many cannot be afforded.
  std::size_t hedges = std::min(problem.most_hedges, most_hedges);
  Search search(problem, hedges);
  Outcome best = search.best();
  while (best.hedges == 0 && hedges > 1) {
    search = Search(problem, --hedges);
    best = search.best();
  }
  plan.late_share = search.late_share();
  plan.without_hedges = plan.with_hedges = Duration{search.unhedged()};
  if (best.hedges == 0) return plan;
  plan.with_hedges = Duration{best.target};
  plan.without_hedges = std::max(plan.without_hedges, plan.with_hedges);
  plan.extra_share = best.cost;
  plan.probability = search.probability();
  for (std::size_t i = 0; i < best.hedges; ++i) plan.delays.push_back(Duration{best.delays[i]});
  return plan;
}

}  // namespace hedgerow::policy
