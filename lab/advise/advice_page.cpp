#include "lab/advise/advice_page.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "lab/advise/advice_words.hpp"
#include "root/policy/cluster/hedge_planner.hpp"

namespace hedgerow::lab {

namespace {

using report::Axis;
using report::Chart;
using report::Mark;
using report::Point;
using report::Rule;
using report::Scale;
using report::Series;

constexpr unsigned without_colour = 0, with_colour = 1;
// Points of a latency curve for each nine, from the median on.
constexpr double points_of_a_nine = 12;
constexpr std::size_t points_of_completeness = 160;

Series series_of(std::string name, Mark mark, unsigned colour, bool dashed = false) {
  Series series;
  series.name = std::move(name);
  series.mark = mark;
  series.colour = colour;
  series.dashed = dashed;
  return series;
}

Axis axis_of(std::string title, Scale scale = Scale::linear, bool percent = false) {
  Axis axis;
  axis.title = std::move(title);
  axis.scale = scale;
  axis.percent = percent;
  return axis;
}

Chart latency_chart(const AdviceQuestion& question, const Advice& advice, const AttemptTail& tail) {
  Chart chart;
  chart.name = "latencies";
  chart.title = "How late queries are, with hedges and without";
  chart.caption = "A query over " + std::to_string(question.width) + " partitions, all of which must answer. Bars show between which times each quantile lies with " +
                  percent_text(question.confidence) + " confidence; a curve ends where the samples do.";
  chart.x = report::quantile_axis();
  chart.y = report::latency_axis();
  const double last_nine = std::ceil(-std::log10(1 - question.target)) + 0.5;
  for (const bool hedged : {false, true}) {
    if (hedged && advice.hedges.delays.empty()) continue;
    Series series = series_of(hedged ? "with hedges" : "without hedges", Mark::line_and_points, hedged ? with_colour : without_colour);
    for (double nine = std::log10(2.0); nine <= last_nine; nine += 1 / points_of_a_nine) {
      const double quantile = 1 - std::pow(10, -nine);
      const TimeEstimate estimate = time_until(tail, hedged ? advice.hedges : Hedges{}, policy::late_share(quantile, question.width), question.confidence);
      if (!estimate.time) break;
      Point point;
      point.x = quantile;
      point.y = to_milliseconds(*estimate.time + advice.overhead);
      point.low = to_milliseconds(estimate.at_least + advice.overhead);
      if (estimate.at_most) point.high = to_milliseconds(*estimate.at_most + advice.overhead);
      series.points.push_back(std::move(point));
    }
    chart.series.push_back(std::move(series));
  }
  chart.rules.push_back({quantile_text(question.target), question.target, Rule::Direction::vertical});
  return chart;
}

// The last few partitions are what a deadline is about, so completeness has the scale of quantiles; it is shown as far as all
// partitions of the target's queries have answered.
Chart completeness_chart(const Advice& advice, const AttemptTail& tail) {
  Chart chart;
  chart.name = "completeness";
  chart.title = "How complete answers are at a deadline";
  chart.caption = "The mean share of partitions that have answered by then; 99 % stands as far above 90 % as 99.9 % above 99 %.";
  chart.x = axis_of("deadline (ms)", Scale::logarithmic);
  chart.y = axis_of("mean completeness", Scale::quantile);
  const double least_late = std::min(1e-3, advice.late_share);
  const double begin = std::max(1e-3, to_milliseconds(advice.overhead + tail.earliest(0.9).value_or(tail.last())) / 1.5);
  const double end = std::max(begin * 2, to_milliseconds(advice.overhead + tail.last()));
  for (const bool hedged : {false, true}) {
    if (hedged && advice.hedges.delays.empty()) continue;
    Series series = series_of(hedged ? "with hedges" : "without hedges", Mark::line, hedged ? with_colour : without_colour);
    const Hedges hedges = hedged ? advice.hedges : Hedges{};
    for (std::size_t i = 0; i <= points_of_completeness; ++i) {
      const double ms = begin * std::pow(end / begin, static_cast<double>(i) / points_of_completeness);
      Point point;
      const double late = late_share_after(hedges, from_milliseconds(ms) - advice.overhead, [&](Duration t) { return tail.after(t); });
      point.x = ms;
      point.y = 1 - std::max(least_late, late);
      series.points.push_back(std::move(point));
      if (late <= least_late) break;
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

Chart budget_chart(const AdviceQuestion& question, const Advice& advice) {
  Chart chart;
  chart.name = "budget";
  chart.title = quantile_text(question.target) + " of queries by what hedging may cost";
  chart.caption = "The best plan for each budget, and the rule of one hedge after a quantile of the attempts' latencies.";
  chart.x = axis_of("more attempts (%)", Scale::logarithmic);
  chart.y = report::latency_axis();
  Series best = series_of("the best plan", Mark::line_and_points, with_colour), rules = series_of("one hedge after a quantile", Mark::points, 2);
  for (const BudgetAdvice& each : advice.budgets) {
    if (!each.target) continue;
    Point point;
    point.x = 100 * each.budget;
    point.y = to_milliseconds(*each.target);
    point.label = "hedge " + hedges_text(each.hedges);
    best.points.push_back(std::move(point));
  }
  for (const RuleAdvice& each : advice.rules) {
    if (!each.target || each.extra <= 0) continue;
    Point point;
    point.x = 100 * each.extra;
    point.y = to_milliseconds(*each.target);
    point.label = quantile_text(each.quantile);
    rules.points.push_back(std::move(point));
  }
  chart.series = {std::move(best), std::move(rules)};
  if (const auto without = advice.at_target(question).without.time) chart.rules.push_back({"without hedges", to_milliseconds(*without), Rule::Direction::horizontal});
  return chart;
}

Chart load_chart(const AdviceQuestion& question, const Advice& advice) {
  const HarmfulLoad& harmful = *advice.harmful;
  Chart chart;
  chart.name = "load";
  chart.title = "What hedging does as servers get busier";
  chart.caption = std::string("By a queue's law, from the samples and the load that they were taken at, ") +
                  (question.delays.empty() ? "with the best delays at each load; " : "with the delays to be judged; ") +
                  "where waits at replicas are independent, and where they are alike. Losers are taken to be worked on to their end.";
  chart.x = axis_of("load without hedges", Scale::linear, true);
  chart.y = report::latency_axis(rough_quantile_text(harmful.quantile) + " of queries (ms)");
  chart.x.least = 0;
  chart.x.most = 1;
  Series without = series_of("without, independent", Mark::line, without_colour), with = series_of("with, independent", Mark::line, with_colour);
  Series without_alike = series_of("without, alike", Mark::line, without_colour, true), with_alike = series_of("with, alike", Mark::line, with_colour, true);
  for (const LoadPoint& point : harmful.points) {
    const auto add = [&](Series& series, Duration time) {
      if (time == Duration::max()) return;
      Point drawn;
      drawn.x = point.load;
      drawn.y = to_milliseconds(time);
      series.points.push_back(std::move(drawn));
    };
    add(without, point.without);
    add(with, point.with);
    add(without_alike, point.without_alike);
    add(with_alike, point.with_alike);
  }
  chart.series = {std::move(without), std::move(with), std::move(without_alike), std::move(with_alike)};
  chart.rules = {{"now", *question.load, Rule::Direction::vertical}, {"harmful, alike", harmful.alike, Rule::Direction::vertical}, {"harmful, independent", harmful.independent, Rule::Direction::vertical}};
  return chart;
}

std::string known(const TimeEstimate& estimate) { return estimate.time ? milliseconds_text(*estimate.time) : "≥ " + milliseconds_text(estimate.at_least); }

std::string verdict_words(Verdict verdict) {
  switch (verdict) {
    case Verdict::hedge: return "Hedge.";
    case Verdict::no_replica: return "Nothing to hedge with.";
    case Verdict::too_few_samples: return "Too few samples: a guess.";
    case Verdict::no_gain: return "Do not hedge: nothing is gained.";
    case Verdict::harmful: return "Do not hedge at this load.";
  }
  return {};
}

AttemptTail tail_of(const AdviceQuestion& question) {
  return AttemptTail(question.latencies, question.given_up, question.samples_of == SamplesOf::queries ? question.width : 1);
}

report::Table quantile_table(const AdviceQuestion& question, const Advice& advice) {
  report::Table table;
  table.caption = "Latencies of queries, with intervals of " + percent_text(question.confidence);
  table.columns = {{"quantile", true}, {"without hedges", true}};
  if (!advice.hedges.delays.empty()) table.columns.push_back({"with hedges", true});
  for (const QuantileAdvice& each : advice.quantiles) {
    table.rows.push_back({quantile_text(each.quantile), estimate_text(each.without)});
    if (!advice.hedges.delays.empty()) table.rows.back().push_back(estimate_text(each.with));
  }
  return table;
}

report::Table deadline_table(const AdviceQuestion& question, const Advice& advice) {
  report::Table table;
  table.caption = "The deadline by which " + percent_text(question.target) + " of queries are so complete";
  table.columns = {{"completeness", true}, {"partitions", true}, {"without hedges", true}};
  if (!advice.hedges.delays.empty()) table.columns.push_back({"with hedges", true});
  for (const DeadlineAdvice& each : advice.deadlines) {
    table.rows.push_back({percent_text(each.completeness), std::to_string(each.needed), estimate_text(each.without)});
    if (!advice.hedges.delays.empty()) table.rows.back().push_back(estimate_text(each.with));
  }
  return table;
}

}  // namespace

std::vector<Chart> advice_charts(const AdviceQuestion& question, const Advice& advice) {
  const AttemptTail tail = tail_of(question);
  std::vector<Chart> charts{latency_chart(question, advice, tail), completeness_chart(advice, tail)};
  if (!advice.budgets.empty()) charts.push_back(budget_chart(question, advice));
  if (advice.harmful) charts.push_back(load_chart(question, advice));
  return charts;
}

report::Page advice_page(const AdviceQuestion& question, const Advice& advice, const HeldAgainst& held_against, const std::string& command) {
  report::Page page;
  page.title = "When to hedge";
  page.lead = verdict_text(question, advice);
  page.parts.push_back(report::Verdict{advice.verdict == Verdict::hedge ? report::Verdict::Kind::good : report::Verdict::Kind::note, verdict_words(advice.verdict)});
  report::Facts facts;
  facts.large = true;
  const QuantileAdvice& target = advice.at_target(question);
  if (advice.hedges.delays.empty()) {
    facts.facts = {{quantile_text(question.target) + " without hedges", known(target.without)}};
  } else {
    facts.facts = {{quantile_text(question.target) + " with hedges", known(target.with)},
                   {"without", known(target.without)},
                   {"hedge after", delays_text(advice.hedges)},
                   {"more attempts", percent_text(advice.extra.share)}};
  }
  page.parts.push_back(std::move(facts));
  for (const auto& note : advice.notes) page.parts.push_back(report::Verdict{report::Verdict::Kind::note, note});

  auto charts = advice_charts(question, advice);
  page.parts.push_back(report::Heading{"Latencies"});
  page.parts.push_back(std::move(charts[0]));
  page.parts.push_back(quantile_table(question, advice));
  page.parts.push_back(report::Heading{"Deadlines"});
  page.parts.push_back(std::move(charts[1]));
  page.parts.push_back(deadline_table(question, advice));
  if (charts.size() > 2) page.parts.push_back(report::Heading{"Budget and load"});
  for (std::size_t i = 2; i < charts.size(); ++i) page.parts.push_back(std::move(charts[i]));
  page.parts.push_back(report::Paragraph{load_text(question, advice)});
  if (!advice.shared.empty()) {
    report::Table table;
    table.caption = "Where some of the slow attempts would be slow at every replica";
    table.columns = {{"of the slow ones", true}, {quantile_text(question.target) + " of queries", true}};
    for (const SharedAdvice& each : advice.shared) {
      table.rows.push_back({percent_text(each.shared), each.target ? milliseconds_text(*each.target) : "beyond the samples"});
    }
    if (advice.asked_again) {
      const AskedAgain& again = *advice.asked_again;
      const auto row = [&](const char* limit, double share, const std::optional<Duration>& time) {
        table.rows.push_back({percent_text(share) + "\n" + limit + ", by what was asked again", time ? milliseconds_text(*time) : "beyond the samples"});
      };
      row("at least", again.shared.least, again.target_at_least);
      row("at most", again.shared.most, again.target_at_most);
    }
    page.parts.push_back(std::move(table));
  }
  const auto tell = [&](const char* heading, bool agrees, const std::string& text) {
    page.parts.push_back(report::Heading{heading});
    page.parts.push_back(report::Verdict{agrees ? report::Verdict::Kind::good : report::Verdict::Kind::bad, agrees ? "It agrees." : "It does not agree."});
    page.parts.push_back(report::Code{text});
  };
  if (const auto& run = held_against.run) tell("Against a run that was hedged so", run->agrees(), run->to_text());
  if (const auto& check = held_against.simulator) tell("Against the simulator", check->disagreements().empty(), check->to_text());
  page.parts.push_back(report::Heading{"Made with"});
  page.parts.push_back(report::Code{command});
  page.foot = samples_text(question);
  return page;
}

}  // namespace hedgerow::lab
