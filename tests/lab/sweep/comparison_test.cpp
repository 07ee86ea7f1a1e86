#include "lab/sweep/comparison.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"

using namespace hedgerow;
using namespace hedgerow::lab::sweep;
using namespace std::chrono_literals;

namespace {

// A sweep of points at so many deadlines, whose figures vary from repetition to repetition by chance: p50 around 10 ms, p99
// around `p99_ms`, both by a tenth, completeness around 0.9 by a hundredth.
SweepResults drawn(Random& random, std::size_t points, std::uint64_t repetitions, double p99_ms) {
  SweepResults results;
  for (std::size_t i = 0; i < points; ++i) results.points.push_back({std::chrono::milliseconds(10 * (i + 1)), std::nullopt, "plain", "none"});
  for (std::uint64_t repetition = 1; repetition <= repetitions; ++repetition) {
    for (std::size_t i = 0; i < points; ++i) {
      Figures figures;
      figures.queries = figures.answered = 1000;
      figures.p50_ms = 10 * std::exp(0.1 * random.normal());
      figures.p99_ms = p99_ms * std::exp(0.1 * random.normal());
      figures.completeness = 0.9 + 0.01 * random.normal();
      results.runs.push_back({i, repetition, repetition, figures});
    }
  }
  return results;
}

SweepResults one_point(const std::vector<double>& p99_ms, const std::string& policy = "plain") {
  SweepResults results;
  results.points = {{20ms, std::nullopt, policy, "none"}};
  for (std::size_t i = 0; i < p99_ms.size(); ++i) {
    Figures figures;
    figures.p99_ms = p99_ms[i];
    results.runs.push_back({0, i + 1, i, figures});
  }
  return results;
}

const Difference& p99_of(const Comparison& comparison) {
  const auto found = std::find_if(comparison.differences.begin(), comparison.differences.end(),
                                  [](const Difference& difference) { return difference.measure == &measure("p99_ms"); });
  REQUIRE(found != comparison.differences.end());
  return *found;
}

}  // namespace

TEST_CASE("p values are those of Welch's test in the literature") {
  // Student's sleep data, as R's t.test(extra ~ group, data = sleep) has it: p-value = 0.07939.
  CHECK(welch_p({0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}, {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}, 0) ==
        doctest::Approx(0.07939).epsilon(1e-4));
  // The first example of Wikipedia's article on Welch's t-test: P = 0.021.
  CHECK(welch_p({27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4},
                {27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4}, 0) ==
        doctest::Approx(0.02138).epsilon(1e-3));
  CHECK(welch_p({1, 2}, {1, 2}, 0) == 1);
  CHECK(welch_p({1, 1}, {1, 1}, 0) == 1);
  CHECK(welch_p({1, 1}, {2, 2}, 0) == 0);
}

TEST_CASE("p values of pairs are those of Student's paired test in the literature") {
  // The sleep data again, as pairs: R's t.test(…, paired = TRUE) has p-value = 0.002833.
  CHECK(paired_p({1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4}, 0) == doctest::Approx(0.002833).epsilon(1e-3));
  CHECK(paired_p({0, 0}, 0) == 1);
  CHECK(paired_p({1, 1}, 0) == 0);
}

TEST_CASE("policies are compared with the first one, pair by pair, everything else being the same") {
  // What repetitions have in common is far more than what the policies differ by: only pairs show it.
  SweepResults results;
  for (const char* policy : {"first", "quicker", "same"}) {
    for (const Duration deadline : {Duration(20ms), Duration(50ms)}) results.points.push_back({deadline, std::nullopt, policy, "none"});
  }
  const double common[] = {10, 40, 25, 90, 15};
  const double own[] = {1, 1.01, 0.99, 1.015, 0.985};
  for (std::uint64_t repetition = 1; repetition <= 5; ++repetition) {
    for (std::size_t point = 0; point < results.points.size(); ++point) {
      const std::string& policy = results.points[point].policy;
      Figures figures;
      figures.p99_ms = common[repetition - 1] * own[(repetition + 2 * point) % 5] * (policy == "quicker" ? 0.8 : 1);
      results.runs.push_back({point, repetition, repetition, figures});
    }
  }
  const auto comparison = compare_policies(results);
  REQUIRE(comparison.compared == 4);
  for (const Difference& difference : comparison.differences) {
    CAPTURE(to_text(difference.point));
    CHECK(results.points[difference.a_point].policy == "first");
    CHECK(results.points[difference.a_point].deadline == difference.point.deadline);
    CHECK(difference.beyond_noise() == (difference.point.policy == "quicker"));
    if (difference.beyond_noise()) CHECK(difference.better());
  }
  // As two unpaired samples they could not be told apart.
  CHECK(welch_p({std::log(10.0), std::log(40.0), std::log(25.0), std::log(90.0), std::log(15.0)},
                {std::log(8.0), std::log(32.0), std::log(20.0), std::log(72.0), std::log(12.0)}, 0) > 0.5);
}

TEST_CASE("p values are corrected as by R's p.adjust, method holm") {
  const auto corrected = holm({0.01, 0.04, 0.03, 0.005});
  CHECK(corrected[0] == doctest::Approx(0.03));
  CHECK(corrected[1] == doctest::Approx(0.06));
  CHECK(corrected[2] == doctest::Approx(0.06));
  CHECK(corrected[3] == doctest::Approx(0.02));
  CHECK(holm({0.9, 0.8}) == std::vector<double>{1, 1});
  CHECK(holm({}).empty());
}

TEST_CASE("where nothing changed, one comparison in twenty or fewer names any difference") {
  Random random(5);
  int alarms = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto a = drawn(random, 4, 5, 100), b = drawn(random, 4, 5, 100);
    if (compare(a, b).beyond_noise > 0) ++alarms;
  }
  // Of 1,000 at 5 %: 50 and three standard deviations.
  CHECK(alarms <= 71);
}

TEST_CASE("a difference of six times the noise is found, and nothing else is named") {
  Random random(6);
  int found = 0, others = 0;
  for (int i = 0; i < 200; ++i) {
    const auto comparison = compare(drawn(random, 4, 5, 100), drawn(random, 4, 5, 180));
    for (const Difference& difference : comparison.differences) {
      if (!difference.beyond_noise()) continue;
      if (difference.measure == &measure("p99_ms")) {
        ++found;
        CHECK_FALSE(difference.better());
      } else {
        ++others;
      }
    }
  }
  CHECK(found >= 720);  // of 800
  CHECK(others <= 20);
}

TEST_CASE("repetitions that agree to the last digit do not make a digit's difference certain") {
  // The histogram tells 10 ms from 10.0098 at best.
  const auto comparison = compare(one_point({10, 10, 10}), one_point({10.005, 10.005, 10.005}));
  CHECK_FALSE(p99_of(comparison).beyond_noise());
  CHECK(p99_of(compare(one_point({10, 10, 10}), one_point({11, 11, 11}))).beyond_noise());
}

TEST_CASE("times are compared by ratio: a tenth is a tenth at 1 ms and at 1,000 ms") {
  const auto p = [](double scale) {
    return *p99_of(compare(one_point({scale, 1.05 * scale, 0.97 * scale}), one_point({1.1 * scale, 1.13 * scale, 1.08 * scale}))).p;
  };
  CHECK(p(1) == doctest::Approx(p(1000)));
}

TEST_CASE("a single repetition tells nothing, and that is said") {
  const auto comparison = compare(one_point({10}), one_point({1000, 1001}));
  CHECK_FALSE(p99_of(comparison).p);
  CHECK_FALSE(p99_of(comparison).beyond_noise());
  CHECK(comparison.too_few == comparison.compared);
  CHECK(to_text(comparison).find("fewer than two repetitions") != std::string::npos);
  CHECK(to_json(comparison)["differences"][0]["p"].is_null());
}

TEST_CASE("points of one sweep alone, and settings that differ, are told and not compared") {
  auto a = one_point({10, 11}), b = one_point({10, 11}, "other");
  a.plan = *parse_plan({{"load", {{"rate", 10}}}, {"policies", {{{"name", "plain"}, {"hedge", "off"}}}}, {"seed", 1}});
  b.plan = *parse_plan({{"load", {{"rate", 20}}}, {"policies", {{{"name", "plain"}, {"hedge", "p95"}}}}, {"seed", 2}});
  const auto comparison = compare(a, b);
  CHECK(comparison.compared == 0);
  CHECK(comparison.only_a.size() == 1);
  CHECK(comparison.only_b.size() == 1);
  REQUIRE(comparison.settings.size() == 2);
  CHECK(comparison.settings[0].find("policies 'plain'") == 0);
  CHECK(comparison.settings[1] == "load.rate: 10.0, 20.0");
  CHECK(to_text(comparison).find("only in B: other") != std::string::npos);
}

TEST_CASE("a change is told in the words of its kind") {
  const auto text = [](const char* key, double a, double b) {
    Difference difference;
    difference.measure = &measure(key);
    difference.a = a;
    difference.b = b;
    return difference.change_text() + (difference.better() ? ", better" : "");
  };
  CHECK(text("p99_ms", 100, 88) == "12.0 % shorter, better");
  CHECK(text("p99_ms", 10, 25) == "2.5 times longer");
  CHECK(text("p99_ms", 1800, 75) == "24.0 times shorter, better");
  CHECK(text("completeness", 0.9, 0.95) == "5.00 points more, better");
  CHECK(text("extra_attempts", 0.02, 0.05) == "3.00 points more");
  CHECK(text("p50_ms", 7, 7) == "the same");
}
