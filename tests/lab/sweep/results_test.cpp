#include "lab/sweep/results.hpp"

#include <doctest/doctest.h>

#include "lab/sweep/csv.hpp"
#include "lab/sweep/summary.hpp"

using namespace hedgerow;
using namespace hedgerow::lab::sweep;
using namespace std::chrono_literals;

namespace {

Figures figures_with(double p99_ms, double completeness) {
  Figures figures;
  figures.queries = 100;
  figures.answered = 97;
  figures.refused = 2;
  figures.late = 1;
  figures.p50_ms = 1.25;
  figures.p99_ms = p99_ms;
  figures.completeness = completeness;
  return figures;
}

SweepResults two_points() {
  SweepResults results;
  results.plan = *parse_plan(nlohmann::ordered_json::parse(
      R"({"deadlines": ["20ms"], "policies": [{"name": "plain"}, {"name": "with, \"quotes\"\nand lines"}], "repetitions": 2, "load": {"rate": 50}, "simulated": {}})"));
  results.world = "simulated";
  results.begun = "2026-11-30T10:00:00Z";
  results.points = points_of(*results.plan);
  results.points[1].fanout = 4;
  results.runs = {{0, 1, 77, figures_with(12.5, 0.75)}, {1, 1, 77, figures_with(13.5, 1)}};
  results.runs[1].figures.kept_up = false;
  results.runs[1].figures.not_kept_up = "too slow, by far";
  results.runs[1].figures.completeness.reset();
  // Every other one is measured there.
  results.runs[1].figures.p90_ms = 2;
  results.runs[1].figures.p99_9_ms = 30;
  results.runs[1].figures.max_ms = 31;
  results.runs[1].figures.recall = 0.5;
  results.runs[1].figures.ndcg = 0.25;
  results.runs[1].figures.extra_attempts = 0.021;
  Histogram latencies(600'000'000'000);
  latencies.record(1'000'000, 90);
  latencies.record(50'000'000, 7);
  set_latencies(results.runs[0].figures, latencies);
  return results;
}

void check_same(const SweepResults& read, const SweepResults& written) {
  CHECK(read.points == written.points);
  REQUIRE(read.runs.size() == written.runs.size());
  for (std::size_t i = 0; i < read.runs.size(); ++i) {
    const Run &a = read.runs[i], &b = written.runs[i];
    CHECK(a.point == b.point);
    CHECK(a.repetition == b.repetition);
    CHECK(a.seed == b.seed);
    CHECK(a.figures.queries == b.figures.queries);
    CHECK(a.figures.refused == b.figures.refused);
    CHECK(a.figures.late == b.figures.late);
    CHECK(a.figures.failed == b.figures.failed);
    CHECK(a.figures.kept_up == b.figures.kept_up);
    CHECK(a.figures.not_kept_up == b.figures.not_kept_up);
    for (const Measure& measure : measures()) {
      CAPTURE(measure.key);
      REQUIRE(measure.of(a.figures).has_value() == measure.of(b.figures).has_value());
      if (measure.of(b.figures)) CHECK(*measure.of(a.figures) == doctest::Approx(*measure.of(b.figures)).epsilon(1e-6));
    }
  }
}

}  // namespace

TEST_CASE("quantiles are told only where two answers lie beyond them") {
  const auto figures_of = [](std::uint64_t count) {
    Histogram histogram(600'000'000'000);
    for (std::uint64_t i = 1; i <= count; ++i) histogram.record(i * 1'000'000);
    Figures figures;
    set_latencies(figures, histogram);
    return figures;
  };
  CHECK_FALSE(figures_of(0).max_ms);
  CHECK_FALSE(figures_of(3).p50_ms);
  CHECK(figures_of(4).p50_ms == doctest::Approx(2).epsilon(0.002));
  CHECK_FALSE(figures_of(199).p99_ms);
  CHECK(figures_of(200).p99_ms == doctest::Approx(198).epsilon(0.002));
  CHECK_FALSE(figures_of(1999).p99_9_ms);
  CHECK(figures_of(2000).p99_9_ms == doctest::Approx(1998).epsilon(0.002));
  CHECK(figures_of(3).max_ms == doctest::Approx(3));
}

TEST_CASE("JSON is read back as it was written, with plan and curves") {
  const auto written = two_points();
  const auto read = results_from_json(to_json(written).dump());
  REQUIRE_MESSAGE(read.has_value(), read.error().context);
  check_same(*read, written);
  CHECK(read->world == "simulated");
  CHECK(read->begun == written.begun);
  CHECK(to_json(*read->plan) == to_json(*written.plan));
  REQUIRE(read->runs[0].figures.latency);
  CHECK(read->latency_of(0).count() == 97);
  CHECK(static_cast<double>(read->latency_of(0).value_at_quantile(0.99)) == doctest::Approx(50e6).epsilon(0.01));
  CHECK(read->latency_of(1).count() == 0);
  CHECK_FALSE(read->complete());  // two of four runs
  // Once more, and nothing has changed.
  CHECK(to_json(*read) == to_json(written));
}

TEST_CASE("CSV is read back as it was written, but for plan and curves") {
  const auto written = two_points();
  const auto read = results_from_csv(to_csv(written));
  REQUIRE_MESSAGE(read.has_value(), read.error().context);
  check_same(*read, written);
  CHECK_FALSE(read->plan);
  CHECK_FALSE(read->runs[0].figures.latency);
  CHECK(to_csv(*read) == to_csv(written));
}

TEST_CASE("what is no result of a sweep is refused, with the place") {
  const std::string good = to_json(two_points()).dump();
  for (const std::string& bad : {std::string("{}"), std::string("[1]"), std::string("{\"format\": 3}"), std::string("no JSON"), good.substr(0, good.size() / 2)}) {
    CHECK(results_from_json(bad).has_error());
  }
  auto json = nlohmann::ordered_json::parse(good);
  json["runs"][1]["point"] = 9;
  CHECK(results_from_json(json.dump()).error().context.find("run 2") != std::string::npos);
  json = nlohmann::ordered_json::parse(good);
  json["runs"][0].erase("queries");
  CHECK(results_from_json(json.dump()).has_error());

  std::string csv = to_csv(two_points());
  CHECK(results_from_csv("").has_error());
  CHECK(results_from_csv("a,b\n1,2\n").error().context.find("deadline_ms") != std::string::npos);
  CHECK(results_from_csv(csv + "1,2\n").error().context.find("cells") != std::string::npos);
  csv.replace(csv.find(",77,") + 1, 2, "xx");
  CHECK(results_from_csv(csv).error().context.find("line 2") != std::string::npos);
}

TEST_CASE("comma-separated values follow RFC 4180") {
  const auto rows = [](std::string_view text) { return *parse_csv(text); };
  using Rows = std::vector<CsvRow>;
  CHECK(rows("aaa,bbb,ccc\r\nzzz,yyy,xxx\r\n") == Rows{{"aaa", "bbb", "ccc"}, {"zzz", "yyy", "xxx"}});
  CHECK(rows("aaa,bbb,ccc\nzzz,yyy,xxx") == Rows{{"aaa", "bbb", "ccc"}, {"zzz", "yyy", "xxx"}});
  CHECK(rows("\"aaa\",\"b\r\nbb\",\"ccc\"\r\n") == Rows{{"aaa", "b\r\nbb", "ccc"}});
  CHECK(rows("\"aaa\",\"b\"\"bb\",\"ccc\"") == Rows{{"aaa", "b\"bb", "ccc"}});
  CHECK(rows(",\n") == Rows{{"", ""}});
  CHECK(rows("a b\"c,1") == Rows{{"a b\"c", "1"}});
  CHECK(rows("").empty());
  CHECK(parse_csv("\"open").has_error());
  CHECK(parse_csv("\"a\"b,c").has_error());
  const CsvRow nasty{"", ",", "\"", "a\r\nb", " plain ", "é"};
  CHECK(rows(csv_line(nasty) + csv_line({"x"})) == Rows{nasty, {"x"}});
}

TEST_CASE("times are averaged as ratios, shares as they are, each with its least and most") {
  SweepResults results;
  results.points = {{20ms, std::nullopt, "plain", "none"}};
  results.runs = {{0, 1, 1, figures_with(10, 0.9)}, {0, 2, 2, figures_with(40, 0.7)}};
  const auto time = spread_of(results, 0, measure("p99_ms"));
  CHECK(time->mean == doctest::Approx(20));
  CHECK(time->least == 10);
  CHECK(time->most == 40);
  CHECK(time->repetitions == 2);
  CHECK(spread_of(results, 0, measure("completeness"))->mean == doctest::Approx(0.8));
  CHECK(spread_of(results, 0, measure("answered_share"))->mean == doctest::Approx(0.97));
  CHECK_FALSE(spread_of(results, 0, measure("ndcg")));
}

TEST_CASE("the frontier holds what no other point beats") {
  SweepResults results;
  // Cost and gain: 0 and 3 are alone the best in one, 2 is a compromise; 1 is beaten by 2, 4 by 3, 5 is as good as 2.
  const std::pair<double, double> points[] = {{10, 0.5}, {30, 0.7}, {20, 0.8}, {40, 0.95}, {50, 0.95}, {20, 0.8}};
  std::vector<std::size_t> all;
  for (const auto& [cost, gain] : points) {
    all.push_back(results.points.size());
    results.points.push_back({std::chrono::milliseconds(all.size()), std::nullopt, "plain", "none"});
    results.runs.push_back({all.back(), 1, 1, figures_with(cost, gain)});
  }
  CHECK(frontier(results, all, measure("p99_ms"), measure("completeness")) == std::vector<std::size_t>{0, 2, 5, 3});
  CHECK(frontier(results, {1, 4}, measure("p99_ms"), measure("completeness")) == std::vector<std::size_t>{1, 4});
  CHECK(frontier(results, all, measure("p99_ms"), measure("ndcg")).empty());
  CHECK(frontier(results, {}, measure("p99_ms"), measure("completeness")).empty());
}
