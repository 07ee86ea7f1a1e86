// The pictures and the page of an advice show its figures.
#include "lab/advise/advice_page.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "lab/advise/advice_words.hpp"
#include "lab/experiments/hedged_model.hpp"
#include "samples_of.hpp"

namespace hedgerow::lab {

using namespace std::chrono_literals;

namespace {

AdviceQuestion question_with_load() {
  AdviceQuestion question;
  const auto latency = hedged_experiment_latency();
  question.latencies = exact_samples(20'000, [&](double share) { return latency.quantile(share); });
  question.width = 20;
  question.replicas = 3;
  question.load = 0.1;
  return question;
}

const report::Chart* chart_named(const std::vector<report::Chart>& charts, const std::string& name) {
  const auto found = std::find_if(charts.begin(), charts.end(), [&](const report::Chart& chart) { return chart.name == name; });
  return found == charts.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("the pictures are of latencies, completeness, budget and load, and every point can be drawn") {
  const AdviceQuestion question = question_with_load();
  const Advice advice = advise(question);
  const auto charts = advice_charts(question, advice);
  for (const char* name : {"latencies", "completeness", "budget", "load"}) {
    CAPTURE(name);
    const report::Chart* chart = chart_named(charts, name);
    REQUIRE(chart);
    CHECK_FALSE(chart->title.empty());
    CHECK_FALSE(chart->caption.empty());
    CHECK(chart->series.size() >= 2);
    for (const auto& series : chart->series) {
      CAPTURE(series.name);
      CHECK(series.points.size() >= 3);
      for (const auto& point : series.points) {
        CHECK(std::isfinite(point.x));
        CHECK(std::isfinite(point.y));
        if (point.low) CHECK(*point.low <= point.y);
        if (point.high) CHECK(*point.high >= point.y);
      }
    }
  }
  // A curve ends where the samples do: 5e-5 of 20,000 attempts without hedges, p99.9 with them.
  const auto& latencies = chart_named(charts, "latencies")->series;
  CHECK(latencies[0].points.back().x < 0.999);
  CHECK(latencies[1].points.back().x > 0.999);
}

TEST_CASE("what cannot be shown has no picture") {
  AdviceQuestion question = question_with_load();
  question.load = std::nullopt;
  question.replicas = 1;
  const auto charts = advice_charts(question, advise(question));
  CHECK_FALSE(chart_named(charts, "load"));
  CHECK_FALSE(chart_named(charts, "budget"));
  REQUIRE(chart_named(charts, "latencies"));
  CHECK(chart_named(charts, "latencies")->series.size() == 1);
}

TEST_CASE("the page leads with the advice, shows the notes, and says how it is made again") {
  const AdviceQuestion question = question_with_load();
  const Advice advice = advise(question);
  const std::string command = "hedgerow-lab advise --samples latencies.txt";
  const report::Page page = advice_page(question, advice, {}, command);
  CHECK(page.lead == verdict_text(question, advice));
  const auto count = [&](auto&& holds) { return std::count_if(page.parts.begin(), page.parts.end(), holds); };
  CHECK(count([](const report::Part& part) { return std::holds_alternative<report::Chart>(part); }) == 4);
  CHECK(count([&](const report::Part& part) {
          const auto* code = std::get_if<report::Code>(&part);
          return code && code->text == command;
        }) == 1);
  for (const auto& note : advice.notes) {
    CAPTURE(note);
    CHECK(count([&](const report::Part& part) {
            const auto* verdict = std::get_if<report::Verdict>(&part);
            return verdict && verdict->text == note;
          }) == 1);
  }
  for (const report::Part& part : page.parts) {
    const auto* table = std::get_if<report::Table>(&part);
    if (!table) continue;
    for (const auto& row : table->rows) CHECK(row.size() == table->columns.size());
  }
}

}  // namespace hedgerow::lab
