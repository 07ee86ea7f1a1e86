#include "lab/sweep/pages.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

#include "lab/sweep/charts.hpp"

namespace hedgerow::lab::sweep {

namespace {

using report::Page;
using report::Table;
using report::Verdict;

std::string grouped(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}
std::string count_text(std::uint64_t count, const char* one, const char* many) { return grouped(count) + " " + (count == 1 ? one : many); }

// The measures that any run has.
std::vector<const Measure*> measured(const SweepResults& results) {
  std::vector<const Measure*> out;
  for (const Measure& measure : measures()) {
    const bool any = std::any_of(results.runs.begin(), results.runs.end(), [&](const Run& run) { return measure.of(run.figures).has_value(); });
    if (any) out.push_back(&measure);
  }
  return out;
}

// "97.25 %" and, as a remark, "96.9 to 97.8"; or the mean alone where that says it all. The unit of times stands at the
// column's head.
std::string spread_text(const Measure& measure, const std::optional<Spread>& spread) {
  if (!spread) return "";
  const std::string mean = figure_text(measure, spread->mean), least = figure_text(measure, spread->least), most = figure_text(measure, spread->most);
  const auto without_unit = [](const std::string& text) { return text.substr(0, text.rfind(' ')); };
  const std::string shown = measure.kind == Measure::Kind::time ? without_unit(mean) : mean;
  if (spread->repetitions < 2 || least == most) return shown;
  return shown + "\n" + without_unit(least) + " to " + without_unit(most);
}

std::vector<Table::Column> point_columns() {
  return {{"faults"}, {"policy"}, {"partitions", true}, {"deadline", true}};
}
std::vector<std::string> point_cells(const SweepPoint& point) {
  char deadline[64];
  std::snprintf(deadline, sizeof(deadline), "%.6g ms", to_milliseconds(point.deadline));
  return {point.faults, point.policy, fanout_text(point.fanout), deadline};
}

Table all_points(const SweepResults& results, const std::string& caption, const std::vector<std::size_t>& points) {
  Table table{.caption = caption, .columns = point_columns(), .rows = {}};
  const auto shown = measured(results);
  for (const Measure* measure : shown) table.columns.push_back({measure->title, true});
  for (const std::size_t place : points) {
    auto row = point_cells(results.points[place]);
    for (const Measure* measure : shown) row.push_back(spread_text(*measure, spread_of(results, place, *measure)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<std::size_t> every_point(const SweepResults& results) {
  std::vector<std::size_t> points(results.points.size());
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = i;
  return points;
}

std::uint64_t queries_of(const SweepResults& results) {
  std::uint64_t queries = 0;
  for (const Run& run : results.runs) queries += run.figures.queries;
  return queries;
}

void add_frontiers(Page& page, const SweepResults& results, const Measure& latency, const Measure& gain) {
  page.parts.push_back(report::Heading{"What no other combination beats"});
  page.parts.push_back(report::Paragraph{std::string("Of these, no other has both more ") + gain.title + " and less " + latency.title +
                                         ". Whoever may wait longer reads further down."});
  const std::vector<Side> sides{{&results, ""}};
  for (const auto& faults : fault_names(sides)) {
    std::vector<std::size_t> points;
    for (const std::size_t place : every_point(results)) {
      if (results.points[place].faults == faults) points.push_back(place);
    }
    page.parts.push_back(all_points(results, "Faults: " + faults, frontier(results, points, latency, gain)));
  }
}

// Names of charts are made of those of faults, of which two may be alike in letters: "late leaf" and "late, leaf".
void tell_apart(Page& page) {
  std::set<std::string> taken;
  for (auto& part : page.parts) {
    auto* chart = std::get_if<report::Chart>(&part);
    if (!chart) continue;
    const std::string name = chart->name;
    for (std::size_t number = 2; !taken.insert(chart->name).second; ++number) chart->name = name + "-" + std::to_string(number);
  }
}

void add_charts(Page& page, const std::vector<Side>& sides) {
  const Measure& latency = charted_latency(sides);
  const auto faults = fault_names(sides);
  for (const auto& name : faults) {
    page.parts.push_back(report::Heading{faults.size() > 1 ? "Faults: " + name : "What is gained by waiting"});
    for (const Measure* gain : charted_gains(sides)) {
      for (auto& chart : gain_charts(sides, name, latency, *gain)) page.parts.push_back(std::move(chart));
    }
    for (auto& chart : latency_charts(sides, name)) page.parts.push_back(std::move(chart));
  }
  tell_apart(page);
}

std::string p_text(const std::optional<double>& p) {
  if (!p) return "too few runs";
  if (*p < 0.0001) return "below 0.0001";
  char text[32];
  std::snprintf(text, sizeof(text), "%.4f", *p);
  return text;
}

// name_a, name_b: what the figures' columns are called.
Table difference_table(const Comparison& comparison, bool beyond, const std::string& name_a = "A", const std::string& name_b = "B") {
  Table table{.caption = beyond ? "Beyond noise" : "Within noise", .columns = point_columns(), .rows = {}};
  table.columns.insert(table.columns.end(), {{"measure"}, {name_a, true}, {name_b, true}, {"change"}, {"verdict"}, {"p", true}});
  for (const Difference& difference : comparison.differences) {
    if (difference.beyond_noise() != beyond) continue;
    auto row = point_cells(difference.point);
    const std::string verdict = !beyond ? "not told apart" : difference.better() ? "better" : "worse";
    row.insert(row.end(), {difference.measure->title, figure_text(*difference.measure, difference.a), figure_text(*difference.measure, difference.b),
                           difference.change_text(), verdict, p_text(difference.p)});
    table.rows.push_back(std::move(row));
  }
  return table;
}

// What the other policies change, where there are others.
void add_policies(Page& page, const SweepResults& results) {
  const auto comparison = compare_policies(results);
  if (comparison.compared == 0) return;
  const std::string& first = results.points.front().policy;
  page.parts.push_back(report::Heading{"What changes against " + first});
  page.parts.push_back(report::Paragraph{
      "Policies are compared with " + first + " at the same deadline, width and faults, repetition by repetition (Student's paired t test, times by their "
      "logarithms), with p values corrected by Holm's method over all comparisons: the chance that any one of the differences named is noise is at "
      "most 5 %. Of " + count_text(comparison.compared, "figure", "figures") + ", " + grouped(comparison.beyond_noise) + " differ beyond noise."});
  if (comparison.too_few > 0) page.parts.push_back(Verdict{Verdict::Kind::note, "With fewer than two repetitions nothing can be told from noise."});
  if (comparison.beyond_noise > 0) page.parts.push_back(difference_table(comparison, true, first, "this policy"));
}

constexpr const char* how_compared =
    "The repetitions of A and of B are compared by Welch's t test, times by their logarithms; p values are corrected by Holm's method over "
    "all comparisons, so that the chance that any one of the differences named is noise is at most 5 %. The test knows the spread of "
    "repetitions, not what else changed between the two sweeps: the machine, or what ran beside.";

}  // namespace

std::vector<std::string> doubts(const SweepResults& results) {
  std::vector<std::string> out;
  if (results.plan && !results.complete()) {
    out.push_back("Not complete: " + std::to_string(results.runs.size()) + " of " + std::to_string(schedule_of(*results.plan).size()) + " runs are here.");
  }
  std::uint64_t behind = 0, failed = 0;
  const Run* first_behind = nullptr;
  std::vector<std::size_t> repetitions(results.points.size());
  for (const Run& run : results.runs) {
    ++repetitions[run.point];
    failed += run.figures.failed;
    if (run.figures.kept_up) continue;
    ++behind;
    if (!first_behind) first_behind = &run;
  }
  if (behind > 0) {
    out.push_back("In " + count_text(behind, "run", "runs") + " the load did not keep up, so that latencies tell of it as much as of the cluster. The first: " +
                  to_text(results.points[first_behind->point]) + ": " + first_behind->figures.not_kept_up);
  }
  if (failed > 0) out.push_back(count_text(failed, "query", "queries") + " failed with neither an answer nor a refusal.");
  if (std::any_of(repetitions.begin(), repetitions.end(), [](std::size_t count) { return count == 1; })) {
    out.push_back("Points that ran once have no spread: what is noise there cannot be told.");
  }
  return out;
}

Page sweep_page(const SweepResults& results, const std::vector<std::string>& notes, const std::string& made) {
  Page page;
  page.title = results.plan ? results.plan->name : "Sweep";
  const bool live = results.world == "live";
  page.lead = std::string("Deadlines, fan-out widths, policies and faults, every combination of them, ") +
              (live ? "on a cluster of real processes." : "in virtual time, with the policies of the root and the queue of the leaf.");
  report::Facts facts{.facts = {}, .large = true};
  facts.facts = {{"combinations", std::to_string(results.points.size())},
                 {"runs", std::to_string(results.runs.size())},
                 {"queries measured", grouped(queries_of(results))}};
  if (results.plan) {
    char rate[64];
    std::snprintf(rate, sizeof(rate), "%g", results.plan->load.rate);
    facts.facts.emplace_back("queries per second", rate);
    facts.facts.emplace_back("each run", format_duration(results.plan->load.duration));
  }
  page.parts.push_back(std::move(facts));
  for (const auto& doubt : doubts(results)) page.parts.push_back(Verdict{Verdict::Kind::bad, doubt});
  for (const auto& note : notes) page.parts.push_back(Verdict{Verdict::Kind::note, note});

  const std::vector<Side> sides{{&results, ""}};
  add_charts(page, sides);
  // The best measure of what an answer is worth that there is.
  const auto gains = charted_gains(sides);
  if (!gains.empty()) add_frontiers(page, results, charted_latency(sides), *gains.back());
  add_policies(page, results);
  page.parts.push_back(report::Heading{"Every combination"});
  page.parts.push_back(all_points(results, "Means over repetitions (of times the geometric mean), with the least and the most", every_point(results)));
  if (results.plan) {
    page.parts.push_back(report::Heading{"How it was run"});
    page.parts.push_back(report::Paragraph{
        "Every run begins with fresh policies that know nothing. In each repetition all combinations run once, in an order drawn anew, with the same "
        "arrivals. Latencies run from the instant at which a query should have been sent to its whole answer, and are those of answers alone; completeness, recall and nDCG are means over all queries, and one without an answer counts 0."});
    page.parts.push_back(report::Code{to_json(*results.plan).dump(2)});
  }
  page.foot = made;
  return page;
}

Page comparison_page(const SweepResults& a, const SweepResults& b, const Comparison& comparison, const std::string& name_a, const std::string& name_b,
                     const std::string& made) {
  Page page;
  page.title = "Two sweeps compared";
  page.lead = "A is " + name_a + (a.begun.empty() ? "" : ", begun " + a.begun) + "; B is " + name_b + (b.begun.empty() ? "" : ", begun " + b.begun) +
              ". B is drawn dashed.";
  const std::size_t better = static_cast<std::size_t>(std::count_if(comparison.differences.begin(), comparison.differences.end(), [](const Difference& difference) {
    return difference.beyond_noise() && difference.better();
  }));
  page.parts.push_back(report::Facts{{{"figures compared", std::to_string(comparison.compared)},
                                      {"beyond noise", std::to_string(comparison.beyond_noise)},
                                      {"of them better in B", std::to_string(better)},
                                      {"worse in B", std::to_string(comparison.beyond_noise - better)}},
                                     true});
  for (const auto& setting : comparison.settings) page.parts.push_back(Verdict{Verdict::Kind::note, "Run differently: " + setting});
  if (comparison.too_few > 0) {
    page.parts.push_back(Verdict{Verdict::Kind::bad, count_text(comparison.too_few, "figure", "figures") +
                                                         " cannot be told from noise: a side has fewer than two repetitions."});
  }
  for (const auto& [results, name] : {std::pair(&a, "A"), std::pair(&b, "B")}) {
    for (const auto& doubt : doubts(*results)) page.parts.push_back(Verdict{Verdict::Kind::bad, std::string(name) + ": " + doubt});
  }
  if (comparison.beyond_noise == 0) page.parts.push_back(Verdict{Verdict::Kind::note, "Nothing differs beyond noise."});
  page.parts.push_back(report::Paragraph{how_compared});
  page.parts.push_back(report::Heading{"Differences"});
  if (comparison.beyond_noise > 0) page.parts.push_back(difference_table(comparison, true));
  add_charts(page, {{&a, "A"}, {&b, "B"}});
  page.parts.push_back(report::Heading{"What is not told apart"});
  page.parts.push_back(difference_table(comparison, false));
  const auto list_points = [&](const char* name, const std::vector<SweepPoint>& points) {
    if (points.empty()) return;
    std::string text = std::string("Only in ") + name + ": ";
    for (std::size_t i = 0; i < points.size(); ++i) text += std::string(i > 0 ? "; " : "") + to_text(points[i]);
    page.parts.push_back(report::Paragraph{text + "."});
  };
  list_points("A", comparison.only_a);
  list_points("B", comparison.only_b);
  page.foot = made;
  return page;
}

std::string to_text(const SweepResults& results) {
  Table table = all_points(results, "", every_point(results));
  // "12.3 (11.9 to 12.8)".
  for (auto& row : table.rows) {
    for (auto& cell : row) {
      const auto end = cell.find('\n');
      if (end != std::string::npos) cell = cell.substr(0, end) + " (" + cell.substr(end + 1) + ")";
    }
  }
  std::vector<std::size_t> widths;
  for (const auto& column : table.columns) widths.push_back(column.title.size());
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  const auto line = [&](const auto& cell_of) {
    std::string text;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const std::string& cell = cell_of(i);
      const std::string space(widths[i] - cell.size(), ' ');
      text += std::string(i > 0 ? "  " : "") + (table.columns[i].number ? space + cell : cell + space);
    }
    while (text.ends_with(' ')) text.pop_back();
    out += text + "\n";
  };
  line([&](std::size_t i) -> const std::string& { return table.columns[i].title; });
  for (const auto& row : table.rows) line([&](std::size_t i) -> const std::string& { return row[i]; });
  for (const auto& doubt : doubts(results)) out += doubt + "\n";
  return out;
}

}  // namespace hedgerow::lab::sweep
