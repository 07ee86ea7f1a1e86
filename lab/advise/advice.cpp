#include "lab/advise/advice.hpp"

#include <algorithm>
#include <cmath>

#include "lab/advise/advice_words.hpp"
#include "lab/advise/worded.hpp"
#include "root/policy/cluster/hedge_planner.hpp"
#include "root/policy/cluster/hedge_worth.hpp"

namespace hedgerow::lab {

namespace {

constexpr Duration usual_shortest_delay = std::chrono::milliseconds(1);

// Of a budget that replicas' common slowness would exceed; and after so many smaller ones nothing is left of it.
constexpr double dearer_is_bearable = 0.002;
constexpr int most_smaller_budgets = 20;
constexpr std::uint64_t fewest_to_halve = 100;
constexpr std::uint64_t seed_of_halves = 1;  // any: it is drawn once, so that the same samples give the same advice
// Beyond a quantile of queries that is compared with their attempts, at least so many must lie of each. And where the overhead is
// read off.
constexpr double fewest_queries_beyond = 20, fewest_attempts_beyond = 10;
constexpr std::uint64_t fewest_queries = 100;
constexpr double overhead_quantiles[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
// From this factor on the effective width is another.
constexpr double other_width = 1.5;
// Half of all answers sooner or later than this: hardly what somebody hedges, rather another unit.
constexpr Duration suspiciously_soon = std::chrono::microseconds(20), suspiciously_late = std::chrono::seconds(10);
// From this difference on the halves say that the samples are too few.
constexpr double overfitted = 0.1;
constexpr double told_budgets[] = {0.005, 0.01, 0.02, 0.05, 0.1, 0.2};
constexpr double told_rules[] = {0.9, 0.95, 0.99};
constexpr double told_shared[] = {0.01, 0.05, 0.1, 0.2};
constexpr double told_quantiles[] = {0.5, 0.9, 0.95, 0.99, 0.999};
constexpr double told_completeness[] = {1, 0.99, 0.95, 0.9};

struct Planned {
  Hedges hedges;
  double extra = 0;
};

class Advisor {
 public:
  explicit Advisor(const AdviceQuestion& question)
      : question_(question),
        partitions_(question.samples_of == SamplesOf::queries ? question.width : 1),
        tail_(question.latencies, question.given_up, partitions_) {
    advice_.late_share = policy::late_share(question.target, question.width);
    advice_.shortest_delay = question.shortest_delay.value_or(std::min(usual_shortest_delay, tail_.earliest(0.5).value_or(usual_shortest_delay)));
  }

  Advice advice() {
    compare_with_queries();
    advice_.hedges = question_.delays.empty() ? plan(tail_, question_.budget).hedges : Hedges{question_.delays, 1, shared()};
    advice_.verdict = verdict();
    // What is not worth hedging is told without.
    if (advice_.verdict == Verdict::no_gain && question_.delays.empty()) advice_.hedges.delays.clear();
    advice_.extra = extra_attempts_of(tail_, advice_.hedges, question_.confidence);
    tell_quantiles();
    tell_deadlines();
    tell_budgets();
    tell_rules();
    tell_shared();
    cross_check();
    tell_load();
    tell_notes();
    return std::move(advice_);
  }

 private:
  std::size_t most_hedges() const { return std::min(question_.most_hedges, question_.replicas - 1); }

  // What is slow again by chance alone is a share of a share, and left in: hedges then seem a little less useful than they are.
  double shared() const {
    if (question_.asked_again == 0) return question_.shared;
    return static_cast<double>(question_.slow_again) / static_cast<double>(question_.asked_again);
  }

  Planned plan(const AttemptTail& tail, double budget) const {
    const policy::LatencyCurve curve = tail.curve();
    // The planner knows nothing of what replicas share; where that makes further hedges dearer, it is given less to spend.
    double spent = budget;
    for (int i = 0; i < most_smaller_budgets; ++i) {
      const policy::HedgePlan plan =
          policy::plan_hedges({curve, curve, advice_.late_share, spent, most_hedges(), advice_.shortest_delay});
      Planned planned{{plan.delays, plan.probability, shared()}, plan.extra_share};
      if (shared() <= 0) return planned;
      planned.extra = extra_attempts(planned.hedges, [&](Duration t) { return tail.after(t); });
      if (planned.extra <= budget * (1 + dearer_is_bearable)) return planned;
      spent *= budget / planned.extra;
    }
    return {};
  }

  // Of queries, the overhead included.
  std::optional<Duration> target_of(const AttemptTail& tail, const Hedges& hedges) const {
    auto time = time_until(tail, hedges, advice_.late_share, question_.confidence).time;
    if (time) *time += advice_.overhead;
    return time;
  }

  std::optional<Duration> unhedged_at(double quantile) const {
    return time_until(tail_, {}, policy::late_share(quantile, question_.width), question_.confidence).time;
  }

  void compare_with_queries() {
    const LatencyCounts& queries = question_.query_latencies;
    const bool told = queries.count() >= fewest_queries;
    advice_.overhead = question_.overhead.value_or(told ? overhead_from(queries) : Duration{});
    if (!told) return;
    for (const double quantile : {0.999, 0.99, 0.9, 0.5}) {
      const auto predicted = unhedged_at(quantile);
      const double attempts_beyond = policy::late_share(quantile, question_.width) / tail_.smallest();
      if (!predicted || attempts_beyond < fewest_attempts_beyond || static_cast<double>(queries.count()) * (1 - quantile) < fewest_queries_beyond) continue;
      QueryCheck check{quantile, queries.at_quantile(quantile), *predicted + advice_.overhead, 0};
      // (1 - S)^n = quantile.
      const double late = std::min(0.999999, tail_.after(check.measured - advice_.overhead));
      check.effective_width = std::log(quantile) / std::log1p(-late);
      advice_.query_check = check;
      return;
    }
  }

  // The median of how much later queries are than the latest of their attempts.
  Duration overhead_from(const LatencyCounts& queries) const {
    std::vector<Duration> later;
    for (const double quantile : overhead_quantiles) {
      if (const auto predicted = unhedged_at(quantile)) later.push_back(queries.at_quantile(quantile) - *predicted);
    }
    if (later.empty()) return {};
    const auto middle = later.begin() + static_cast<std::ptrdiff_t>(later.size() / 2);
    std::nth_element(later.begin(), middle, later.end());
    return std::max(Duration{}, *middle);
  }

  Verdict verdict() const {
    if (question_.replicas < 2 || question_.most_hedges == 0) return Verdict::no_replica;
    if (tail_.answered() < policy::enough_to_plan) return Verdict::too_few_samples;
    if (advice_.hedges.delays.empty()) return Verdict::no_gain;
    // As the root asks: whether without hedges more than may be late would be, when with them the target has long been
    // reached. That is known also where the unhedged target is not.
    const double late_at_last = late_share_after(advice_.hedges, 2 * tail_.last() + advice_.hedges.delays.back(), [&](Duration t) { return tail_.after(t); });
    const auto reached = time_until(tail_, advice_.hedges, std::max(advice_.late_share, late_at_last), question_.confidence).time;
    if (!reached) return Verdict::no_gain;
    // (Of the samples as they are: that something later may exist is no gain.)
    const double late_without = tail_.curve().unanswered_after(policy::worth_hedging_after(*reached, advice_.shortest_delay));
    return late_without > advice_.late_share ? Verdict::hedge : Verdict::no_gain;
  }

  TimeEstimate until(const Hedges& hedges, double late_share) const {
    TimeEstimate estimate = time_until(tail_, hedges, late_share, question_.confidence);
    estimate.at_least += advice_.overhead;
    if (estimate.time) *estimate.time += advice_.overhead;
    if (estimate.at_most) *estimate.at_most += advice_.overhead;
    return estimate;
  }

  void tell_quantiles() {
    std::vector<double> quantiles(std::begin(told_quantiles), std::end(told_quantiles));
    quantiles.push_back(question_.target);
    std::sort(quantiles.begin(), quantiles.end());
    quantiles.erase(std::unique(quantiles.begin(), quantiles.end(), [](double a, double b) { return std::abs(a - b) < 1e-9; }), quantiles.end());
    for (const double quantile : quantiles) {
      const double late = policy::late_share(quantile, question_.width);
      advice_.quantiles.push_back({quantile, until({}, late), until(advice_.hedges, late)});
    }
  }

  void tell_deadlines() {
    std::vector<double> wanted = question_.completeness;
    if (wanted.empty()) wanted.assign(std::begin(told_completeness), std::end(told_completeness));
    const auto mean = [&](const Hedges& hedges, const TimeEstimate& deadline) -> std::optional<double> {
      if (!deadline.time) return std::nullopt;
      return 1 - late_share_after(hedges, *deadline.time - advice_.overhead, [&](Duration t) { return tail_.after(t); });
    };
    for (const double completeness : wanted) {
      const std::size_t needed = needed_partitions(completeness, question_.width);
      // Of few partitions several shares are the same number.
      const auto told = [&](const DeadlineAdvice& deadline) { return deadline.needed == needed; };
      if (question_.completeness.empty() && std::any_of(advice_.deadlines.begin(), advice_.deadlines.end(), told)) continue;
      const double late = late_share_for(question_.target, needed, question_.width);
      DeadlineAdvice deadline{completeness, needed, until({}, late), until(advice_.hedges, late)};
      deadline.mean_without = mean({}, deadline.without);
      deadline.mean_with = mean(advice_.hedges, deadline.with);
      advice_.deadlines.push_back(deadline);
    }
  }

  void tell_budgets() {
    if (most_hedges() == 0) return;
    std::vector<double> wanted(std::begin(told_budgets), std::end(told_budgets));
    if (std::find(wanted.begin(), wanted.end(), question_.budget) == wanted.end()) wanted.push_back(question_.budget);
    std::sort(wanted.begin(), wanted.end());
    for (const double budget : wanted) {
      const Planned planned = plan(tail_, budget);
      advice_.budgets.push_back({budget, planned.hedges, planned.extra, target_of(tail_, planned.hedges)});
    }
  }

  void tell_rules() {
    if (most_hedges() == 0) return;
    for (const double quantile : told_rules) {
      const auto delay = tail_.earliest(1 - quantile);
      if (!delay) continue;
      const Hedges hedges{{*delay}, 1, shared()};
      advice_.rules.push_back({quantile, hedges, extra_attempts(hedges, [&](Duration t) { return tail_.after(t); }), target_of(tail_, hedges)});
    }
  }

  void tell_shared() {
    if (advice_.hedges.delays.empty()) return;
    for (const double share : told_shared) {
      Hedges hedges = advice_.hedges;
      hedges.shared = share;
      advice_.shared.push_back({share, target_of(tail_, hedges)});
    }
    if (question_.asked_again == 0) return;
    const BinomialLimits limits = binomial_limits(static_cast<double>(question_.slow_again), static_cast<double>(question_.asked_again), (1 - question_.confidence) / 2);
    const auto at = [&](double share) {
      Hedges hedges = advice_.hedges;
      hedges.shared = share;
      return target_of(tail_, hedges);
    };
    advice_.asked_again = AskedAgain{{shared(), limits.least, limits.most}, at(limits.least), at(limits.most)};
  }

  void cross_check() {
    if (!question_.delays.empty() || advice_.hedges.delays.empty() || tail_.answered() < fewest_to_halve) return;
    const auto halves = AttemptTail::halves(question_.latencies, question_.given_up, partitions_, seed_of_halves);
    const auto judged = [&](const AttemptTail& by, const AttemptTail& of) {
      const Hedges hedges = plan(of, question_.budget).hedges;
      return std::pair{target_of(by, hedges), extra_attempts(hedges, [&](Duration t) { return by.after(t); })};
    };
    const auto [one, one_extra] = judged(halves.other, halves.one);
    const auto [other, other_extra] = judged(halves.one, halves.other);
    CrossCheck check;
    if (one && other) check.target = from_milliseconds(std::sqrt(to_milliseconds(*one) * to_milliseconds(*other)));
    check.extra = (one_extra + other_extra) / 2;
    advice_.cross_check = check;
  }

  void tell_load() {
    if (!question_.load || question_.samples_of == SamplesOf::queries) return;
    advice_.load_model.emplace(tail_, *question_.load, question_.workers);
    if (most_hedges() == 0 || advice_.verdict == Verdict::too_few_samples) return;
    advice_.harmful = find_harmful_load(*advice_.load_model, {question_.width, most_hedges(), advice_.late_share, question_.budget,
                                                              advice_.shortest_delay, shared(), question_.delays});
    if (advice_.verdict == Verdict::hedge && *question_.load > 0 && advice_.harmful->independent <= *question_.load) advice_.verdict = Verdict::harmful;
  }

  void tell_notes() {
    auto& notes = advice_.notes;
    advice_.samples_for_target = trials_to_exclude(partitions_ > 1 ? 1 - question_.target : advice_.late_share, (1 - question_.confidence) / 2);
    const auto samples = static_cast<unsigned long long>(tail_.samples());
    if (static_cast<double>(tail_.samples()) < advice_.samples_for_target) {
      notes.push_back(worded("%llu samples cannot tell p%g of queries without hedges, whatever their slowest is: that takes %.0f.", samples,
                           100 * question_.target, advice_.samples_for_target));
    }
    if (advice_.verdict == Verdict::too_few_samples) {
      notes.push_back(worded("A root plans with %llu latencies or more; with %llu, the delays are a guess.",
                           static_cast<unsigned long long>(policy::enough_to_plan), static_cast<unsigned long long>(tail_.answered())));
    }
    if (advice_.cross_check) {
      const auto predicted = target_of(tail_, advice_.hedges);
      const auto& check = *advice_.cross_check;
      const double dearer = check.extra / std::max(1e-12, advice_.extra.share) - 1;
      if (!check.target) {
        notes.push_back("Half of the samples suggest a plan whose target the other half does not reach: they are too few for a plan.");
      } else if (predicted && to_milliseconds(*check.target) > (1 + overfitted) * to_milliseconds(*predicted)) {
        notes.push_back(worded("The plan that one half of the samples suggests reaches %s by the other half, not %s: more samples would make it better.",
                             milliseconds_text(*check.target).c_str(), milliseconds_text(*predicted).c_str()));
      }
      if (dearer > overfitted) {
        notes.push_back(worded("By the half of the samples that did not make it, a plan costs %.0f %% more than it should: bound hedges with a token bucket.", 100 * dearer));
      }
    }
    note_smaller_budget();
    note_queries();
    note_unit();
    note_timeout();
    if (question_.given_up.count() == 0 && question_.samples_of == SamplesOf::attempts) {
      notes.push_back("No sample is marked as given up. If requests were cancelled, timed out or overtaken by hedges, mark them (\">250ms\"), or the tail looks shorter than it is.");
    }
    if (question_.samples_of == SamplesOf::queries) {
      notes.push_back("Latencies of attempts are inferred from whole queries, as if slowness struck attempts independently, and of the fast ones hardly anything is known. Samples of attempts tell more.");
    }
  }

  // What is spent beyond some point gains next to nothing: told of half the budget or less.
  void note_smaller_budget() {
    if (!question_.delays.empty() || advice_.hedges.delays.empty()) return;
    const auto reached = target_of(tail_, advice_.hedges);
    if (!reached) return;
    for (const BudgetAdvice& each : advice_.budgets) {
      if (each.budget > question_.budget / 2 || !each.target || each.hedges.delays.empty()) continue;
      if (policy::worth_hedging_after(*reached, advice_.shortest_delay) < *each.target) continue;
      advice_.notes.push_back(worded("A budget of %s does nearly as well: %s.", percent_text(each.budget).c_str(), milliseconds_text(*each.target).c_str()));
      return;
    }
  }

  void note_queries() {
    const std::uint64_t queries = question_.query_latencies.count();
    if (queries > 0 && queries < fewest_queries) {
      advice_.notes.push_back(worded("%llu whole queries are too few to be held against their attempts: that takes %llu.",
                                     static_cast<unsigned long long>(queries), static_cast<unsigned long long>(fewest_queries)));
    }
    if (!advice_.query_check) return;
    const QueryCheck& check = *advice_.query_check;
    const auto width = static_cast<double>(question_.width);
    if (check.effective_width * other_width < width) {
      advice_.notes.push_back(worded("Slow attempts come together: p%g of queries is %s, as if %.3g independent partitions were asked, not %zu (%s). Queries are less late than told here; and what makes all of a query's attempts slow no hedge cures (--shared).",
                                   100 * check.quantile, milliseconds_text(check.measured).c_str(), check.effective_width, question_.width, milliseconds_text(check.predicted).c_str()));
    } else if (check.effective_width > other_width * width) {
      advice_.notes.push_back(worded("Queries are later than their attempts explain: p%g is %s, not %s. What else they wait for no hedge cures.",
                                   100 * check.quantile, milliseconds_text(check.measured).c_str(), milliseconds_text(check.predicted).c_str()));
    }
  }

  void note_unit() {
    const Duration median = question_.latencies.at_quantile(0.5);
    if (median >= suspiciously_soon && median <= suspiciously_late) return;
    advice_.notes.push_back(worded("Half of the latencies are within %s: is the unit right (--unit)?", milliseconds_text(median).c_str()));
  }

  // Many that took as long as the longest, exactly or as far as a histogram tells.
  void note_timeout() {
    const auto& buckets = question_.latencies.buckets();
    if (buckets.size() < 3) return;
    const auto& last = buckets.back();
    const auto& before = buckets[buckets.size() - 2];
    if (last.highest - last.lowest > last.highest / 100 || last.count < 10 || last.count < 3 * before.count) return;
    advice_.notes.push_back(worded("%llu samples took %s%.6g ms, the longest: if that is a timeout, mark them as given up (\">%.6gms\").",
                                   static_cast<unsigned long long>(last.count), last.lowest == last.highest ? "exactly " : "about ",
                                   to_milliseconds(last.highest), to_milliseconds(last.highest)));
  }

  const AdviceQuestion& question_;
  std::size_t partitions_;
  AttemptTail tail_;
  Advice advice_;
};

}  // namespace

const QuantileAdvice& Advice::at_target(const AdviceQuestion& question) const {
  return *std::min_element(quantiles.begin(), quantiles.end(), [&](const QuantileAdvice& a, const QuantileAdvice& b) {
    return std::abs(a.quantile - question.target) < std::abs(b.quantile - question.target);
  });
}

Advice advise(const AdviceQuestion& question) { return Advisor(question).advice(); }

}  // namespace hedgerow::lab
