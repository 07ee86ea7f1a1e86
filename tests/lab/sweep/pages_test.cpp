#include "lab/sweep/pages.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "lab/sweep/charts.hpp"

using namespace hedgerow;
using namespace hedgerow::lab;
using namespace hedgerow::lab::sweep;
using namespace std::chrono_literals;

namespace {

// Two policies at two deadlines and so many widths, twice each: longer deadlines are slower and more complete, "slow" is twice as slow.
SweepResults swept(std::size_t widths = 1, bool ndcg = false) {
  SweepResults results;
  results.world = "live";
  for (const char* policy : {"quick", "slow"}) {
    for (std::size_t width = 0; width < widths; ++width) {
      for (const Duration deadline : {20ms, 100ms}) {
        const std::optional<std::uint32_t> fanout = width == 0 ? std::nullopt : std::optional(static_cast<std::uint32_t>(width));
        results.points.push_back({deadline, fanout, policy, "none"});
        for (std::uint64_t repetition = 1; repetition <= 2; ++repetition) {
          const double factor = (policy == std::string("slow") ? 2 : 1) * (repetition == 1 ? 1.0 : 1.21);
          Figures figures;
          figures.queries = figures.answered = 500;
          Histogram latencies(600'000'000'000);
          latencies.record(static_cast<std::uint64_t>(to_milliseconds(deadline) / 2 * factor * 1e6), 500);
          set_latencies(figures, latencies);
          figures.completeness = deadline == 20ms ? 0.8 : 0.98;
          if (ndcg) figures.ndcg = 0.6;
          results.runs.push_back({results.points.size() - 1, repetition, repetition, figures});
        }
      }
    }
  }
  return results;
}

std::vector<report::Chart> charts_of(const report::Page& page) {
  std::vector<report::Chart> charts;
  for (const auto& part : page.parts) {
    if (std::holds_alternative<report::Chart>(part)) charts.push_back(std::get<report::Chart>(part));
  }
  return charts;
}

const report::Series* series_named(const report::Chart& chart, const std::string& name) {
  for (const auto& series : chart.series) {
    if (series.name == name) return &series;
  }
  return nullptr;
}

bool says(const report::Page& page, report::Verdict::Kind kind, const std::string& words) {
  return std::any_of(page.parts.begin(), page.parts.end(), [&](const auto& part) {
    const auto* verdict = std::get_if<report::Verdict>(&part);
    return verdict && verdict->kind == kind && verdict->text.find(words) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("what is gained stands against p99, a line for each policy from the shortest deadline on") {
  const auto results = swept();
  const auto charts = gain_charts({{&results, ""}}, "none", measure("p99_ms"), measure("completeness"));
  REQUIRE(charts.size() == 1);
  const auto* quick = series_named(charts[0], "quick");
  REQUIRE(quick);
  REQUIRE(quick->points.size() == 2);
  // The geometric mean of 10 and 12.1 ms.
  CHECK(quick->points[0].x == doctest::Approx(11).epsilon(0.002));
  CHECK(quick->points[1].x == doctest::Approx(55).epsilon(0.002));
  CHECK(quick->points[0].y == doctest::Approx(0.8));
  CHECK(quick->points[0].label == "deadline 20ms");
  // Quick beats slow at each deadline.
  const auto* best = series_named(charts[0], "frontier");
  REQUIRE(best);
  REQUIRE(best->points.size() == 2);
  CHECK(best->points[1].x == quick->points[1].x);
}

TEST_CASE("lines that could not be told apart become a chart for each width") {
  const auto few = swept(3), many = swept(5);
  CHECK(gain_charts({{&few, ""}}, "none", measure("p99_ms"), measure("completeness")).size() == 1);
  const auto charts = gain_charts({{&many, ""}}, "none", measure("p99_ms"), measure("completeness"));
  REQUIRE(charts.size() == 5);
  std::vector<std::string> names;
  for (const auto& chart : charts) {
    CHECK(chart.series.size() <= report::colours);
    names.push_back(chart.name);
  }
  std::sort(names.begin(), names.end());
  CHECK(std::unique(names.begin(), names.end()) == names.end());
}

TEST_CASE("a report has every measure that was taken, the curves, the frontier and every point") {
  const auto results = swept(1, true);
  const auto page = sweep_page(results, {"a note"}, "made");
  const auto charts = charts_of(page);
  std::vector<std::string> titles;
  for (const auto& chart : charts) titles.push_back(chart.title);
  CHECK(titles == std::vector<std::string>{"Completeness against latency", "nDCG@10 against latency", "Latencies"});
  // Two policies at two deadlines.
  CHECK(charts.back().series.size() == 4);
  CHECK(says(page, report::Verdict::Kind::note, "a note"));
  std::size_t tables = 0;
  for (const auto& part : page.parts) {
    const auto* table = std::get_if<report::Table>(&part);
    if (!table) continue;
    ++tables;
    for (const auto& row : table->rows) CHECK(row.size() == table->columns.size());
  }
  CHECK(tables == 3);  // the frontier, what changes, every point
  CHECK(report::to_html(page).size() > 200'000);
}

TEST_CASE("charts of faults that are alike in letters have names of their own") {
  auto results = swept();
  const auto points = results.points.size();
  for (const char* faults : {"late leaf", "late, leaf", "…"}) {
    for (std::size_t i = 0; i < points; ++i) {
      auto point = results.points[i];
      point.faults = faults;
      results.points.push_back(point);
      results.runs.push_back({results.points.size() - 1, 1, 1, results.runs.front().figures});
    }
  }
  std::vector<std::string> names;
  for (const auto& chart : charts_of(sweep_page(results, {}, "made"))) names.push_back(chart.name);
  CHECK(names.size() == 8);
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

TEST_CASE("what speaks against the figures stands at the head of the report") {
  auto results = swept();
  CHECK(doubts(results).empty());
  results.runs[3].figures.kept_up = false;
  results.runs[3].figures.not_kept_up = "sent late";
  results.runs[1].figures.failed = 3;
  results.runs.pop_back();
  results.plan = *parse_plan({{"load", {{"rate", 10}}}, {"repetitions", 9}});
  const auto page = sweep_page(results, {}, "made");
  CHECK(says(page, report::Verdict::Kind::bad, "1 run the load did not keep up"));
  CHECK(says(page, report::Verdict::Kind::bad, "sent late"));
  CHECK(says(page, report::Verdict::Kind::bad, "3 queries failed"));
  CHECK(says(page, report::Verdict::Kind::bad, "Not complete: 7 of 9 runs"));
  CHECK(says(page, report::Verdict::Kind::bad, "ran once"));
}

TEST_CASE("two sweeps are drawn over each other, the second dashed in the first one's colours") {
  const auto a = swept(), b = swept();
  const auto page = comparison_page(a, b, compare(a, b), "before", "after", "made");
  const auto charts = charts_of(page);
  REQUIRE_FALSE(charts.empty());
  const auto *first = series_named(charts[0], "quick (A)"), *second = series_named(charts[0], "quick (B)");
  REQUIRE(first);
  REQUIRE(second);
  CHECK(first->colour == second->colour);
  CHECK_FALSE(first->dashed);
  CHECK(second->dashed);
  CHECK(series_named(charts[0], "slow (A)")->colour != first->colour);
  CHECK(says(page, report::Verdict::Kind::note, "Nothing differs beyond noise"));
}

TEST_CASE("on a terminal every point is a line of aligned columns") {
  const std::string text = to_text(swept());
  CHECK(std::count(text.begin(), text.end(), '\n') == 5);
  CHECK(text.find("quick") != std::string::npos);
  CHECK(text.find("p99 (ms)") != std::string::npos);
}
