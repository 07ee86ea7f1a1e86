#include "base/distribution.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

namespace hedgerow {

using namespace std::chrono_literals;
using nlohmann::json;

TEST_CASE("what is drawn is longer than a time as often as the distribution says, and as long on average") {
  const auto file = std::filesystem::temp_directory_path() / ("hedgerow-distribution-" + std::to_string(::getpid()) + ".txt");
  std::ofstream(file) << "# measured\n1ms\n2ms 3\n7ms\n";
  const std::string texts[] = {"constant:5ms",
                               "uniform:3ms..10ms",
                               "exponential:5ms",
                               "erlang:15ms,6",
                               "lognormal:5ms,0.7",
                               "pareto:1ms,2.5",
                               "pareto:1ms,0.8,cap=50ms",
                               "pieces:3ms=1,10ms=0.02,70ms=0.0032,1800ms=0.00001,cap=4s",
                               "pieces:1ms=1,2ms=0.5,4ms=0",
                               "mix:0.9*constant:2ms+0.1*exponential:20ms",
                               "empirical:" + file.string()};
  constexpr int draws = 200'000;
  for (const auto& text : texts) {
    CAPTURE(text);
    const auto distribution = Distribution::parse(text);
    REQUIRE(distribution.has_value());
    Random random(7);
    std::vector<Duration> drawn;
    double sum = 0, squares = 0;
    for (int i = 0; i < draws; ++i) {
      drawn.push_back(distribution->draw(random));
      const double seconds = to_seconds(drawn.back());
      sum += seconds;
      squares += seconds * seconds;
    }
    const double mean = sum / draws, deviation = std::sqrt(std::max(0.0, squares / draws - mean * mean) / draws);
    CHECK(std::abs(mean - distribution->mean_seconds()) <= 4 * deviation + 1e-8);
    for (const double ms : {0.5, 1.5, 2.5, 4.9, 5.1, 9.0, 11.0, 30.0, 100.0}) {
      CAPTURE(ms);
      const Duration time = from_milliseconds(ms);
      const double expected = distribution->longer_than(time);
      const auto longer = std::count_if(drawn.begin(), drawn.end(), [&](Duration d) { return d > time; });
      const double tolerance = 4 * std::sqrt(expected * (1 - expected) / draws) + 2.0 / draws;
      CHECK(std::abs(static_cast<double>(longer) / draws - expected) <= tolerance);
    }
  }
  std::filesystem::remove(file);
}

TEST_CASE("the tail of the hedged experiment goes through the points that the paper's example names") {
  const auto latency = Distribution::parse("pieces:3ms=1,10ms=0.02,70ms=0.0032,1800ms=0.00001,cap=4s");
  REQUIRE(latency.has_value());
  const auto longer = [&](double ms) { return latency->longer_than(from_milliseconds(ms)); };
  CHECK(longer(2.9) == 1);
  CHECK(longer(6.5) == doctest::Approx(0.51));
  CHECK(longer(10) == doctest::Approx(0.02));
  CHECK(longer(70) == doctest::Approx(0.0032));
  CHECK(longer(1800) == doctest::Approx(1e-5));
  // Half way between two points on both logarithmic scales: the geometric means.
  CHECK(longer(std::sqrt(10.0 * 70)) == doctest::Approx(std::sqrt(0.02 * 0.0032)));
  CHECK(longer(3999) > 0);
  CHECK(longer(4000) == 0);
}

TEST_CASE("what is no distribution is an error that says why") {
  for (const char* text : {"", "5", "ms", "constant", "constant:5", "normal:5ms,1", "uniform:5ms", "uniform:5ms..3ms", "lognormal:5ms",
                           "lognormal:5ms,-1", "erlang:5ms", "erlang:5ms,0", "erlang:5ms,1.5", "pieces:3ms=1", "pieces:3ms=0.5,4ms=0",
                           "pieces:3ms=1,4ms=0.1", "pieces:3ms=1,2ms=0.1,cap=1s", "pieces:3ms=1,4ms=2,cap=1s", "mix:0.5*constant:1ms",
                           "mix:constant:1ms", "mix:1*mix:1*1ms", "mix:", "pareto:1ms", "pareto:0ms,1", "pareto:1ms,0",
                           "pareto:1ms,-1", "pareto:1ms,1,2s", "pareto:2ms,1,cap=1ms", "empirical:/nowhere/at/all"}) {
    CAPTURE(text);
    const auto parsed = Distribution::parse(text);
    REQUIRE(parsed.has_error());
    CHECK_FALSE(parsed.error().context.empty());
  }
}

TEST_CASE("a duration alone is always the same") {
  const auto fixed = Distribution::parse("1.5ms");
  REQUIRE(fixed.has_value());
  CHECK(fixed->is_constant());
  CHECK(fixed->text() == "1.5ms");
  CHECK_FALSE(Distribution::parse("exponential:1ms")->is_constant());
  Random random(1);
  for (int i = 0; i < 10; ++i) CHECK(fixed->draw(random) == 1500us);
  CHECK(fixed->quantile(0) == 0ns);
  CHECK(fixed->quantile(0.001) == 1500us);
  CHECK(fixed->quantile(1) == 1500us);
}

TEST_CASE("quantiles are those that the formulas of textbooks give") {
  struct Row {
    const char* text;
    double share, milliseconds;
  };
  const Row rows[] = {
      {"uniform:3ms..10ms", 0.5, 6.5},
      {"exponential:5ms", 0.5, 5 * std::log(2)},
      {"exponential:5ms", 0.999, 5 * std::log(1000)},
      {"erlang:5ms,1", 0.9, 5 * std::log(10)},
      {"lognormal:5ms,0.7", 0.5, 5},
      {"lognormal:5ms,0.7", 0.975, 5 * std::exp(0.7 * 1.959963984540054)},  // the normal distribution's table
      {"lognormal:5ms,0", 0.1, 5},
      {"pareto:1ms,2", 0.99, 10},                                           // shortest / (1 - share)^(1 / exponent)
      {"pareto:1ms,1.5", 0.875, 4},
      {"pareto:1ms,1,cap=4ms", 0.9, 4},                                     // a quarter lies at the cap
      {"pieces:1ms=1,2ms=0.5,4ms=0", 0.5, 2},
      {"pieces:1ms=1,2ms=0.5,4ms=0", 0.75, 3},
      {"mix:0.5*1ms+0.5*uniform:2ms..4ms", 0.75, 3},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CAPTURE(row.share);
    CHECK(to_milliseconds(Distribution::parse(row.text)->quantile(row.share)) == doctest::Approx(row.milliseconds).epsilon(1e-5));
  }
}

TEST_CASE("of measured durations a quantile is one of them, by their weights, and unweighted by rank") {
  const auto ten = Distribution::empirical({{1ms}, {2ms}, {3ms}, {4ms}, {5ms}, {6ms}, {7ms}, {8ms}, {9ms}, {10ms}});
  REQUIRE(ten.has_value());
  for (int i = 1; i <= 10; ++i) CHECK(ten->quantile(i / 10.0) == i * 1ms);
  CHECK(ten->quantile(0.91) == 10ms);
  CHECK(ten->mean_seconds() == doctest::Approx(0.0055));

  const auto weighted = Distribution::empirical({{7ms, 1}, {1ms, 3}, {9ms, 0}});
  REQUIRE(weighted.has_value());
  CHECK(weighted->quantile(0.75) == 1ms);
  CHECK(weighted->quantile(0.76) == 7ms);
  CHECK(weighted->quantile(1) == 7ms);  // what weighs nothing is never drawn
  CHECK(weighted->longer_than(7ms) == 0);

  CHECK(Distribution::empirical({}).has_error());
  CHECK(Distribution::empirical({{1ms, 0}}).has_error());
  CHECK(Distribution::empirical({{1ms, -1}, {2ms, 2}}).has_error());
  CHECK(Distribution::empirical({{-1ms, 1}}).has_error());
  CHECK(Distribution::empirical({{1ms, std::nan("")}}).has_error());
}

TEST_CASE("a file of measured durations has one a line, with a weight or without, and notes, and its errors name the line") {
  const auto samples = parse_samples("# measured on Monday\n1ms\n\n  2.5ms 3  # thrice\r\n7us\t0.5");
  REQUIRE(samples.has_value());
  REQUIRE(samples->size() == 3);
  CHECK((*samples)[0].time == 1ms);
  CHECK((*samples)[0].weight == 1);
  CHECK((*samples)[1].time == 2500us);
  CHECK((*samples)[1].weight == 3);
  CHECK((*samples)[2].time == 7us);
  CHECK((*samples)[2].weight == 0.5);
  for (const char* text : {"1ms\n2\n", "1ms\n2ms x\n", "1ms\n2ms -1\n", "1ms\n2ms 1 1\n", "1ms\n2ms,1\n"}) {
    CAPTURE(text);
    const auto none = parse_samples(text);
    REQUIRE(none.has_error());
    CHECK(none.error().context.find("line 2") != std::string::npos);
  }
  CHECK(parse_samples("# nothing\n")->empty());
  const auto empty = Distribution::parse("empirical:x", [](const std::string&) -> result<std::string> { return std::string("# nothing\n"); });
  CHECK(empty.has_error());
}

TEST_CASE("only the reader that is given decides which file a distribution reads, and its error is passed on") {
  std::string asked;
  const Distribution::ReadFile read = [&](const std::string& name) -> result<std::string> {
    asked = name;
    if (name != "measured.txt") return Error{Errc::not_found, "there is no '" + name + "'"};
    return std::string("4ms\n");
  };
  const auto measured = Distribution::parse("empirical:measured.txt", read);
  REQUIRE(measured.has_value());
  CHECK(asked == "measured.txt");
  CHECK(measured->quantile(0.5) == 4ms);
  const auto none = Distribution::from_json("mix:0.5*1ms+0.5*empirical:/etc/passwd", read);
  REQUIRE(none.has_error());
  CHECK(asked == "/etc/passwd");
  CHECK(none.error().code == Errc::not_found);
}

TEST_CASE("what a distribution says of itself in JSON is read back without any file, and draws the same") {
  const Distribution::ReadFile two = [](const std::string&) -> result<std::string> { return std::string("3ms 2\n1ms\n"); };
  const Distribution::ReadFile none = [](const std::string&) -> result<std::string> { return Error{Errc::io, "no files"}; };
  for (const json& written : {json("5ms"), json("constant:5ms"), json("uniform:3ms..10ms"), json("pareto:1ms,1.5,cap=2s"),
                              json("empirical:two.txt"), json{{"empirical", {"1ms", {"2ms", 3}, "1ms"}}},
                              json("mix:0.9*2ms+0.1*empirical:two.txt"),
                              json{{"mix", {{0.25, "1ms"}, {0.75, {{"empirical", {"2ms", "3ms"}}}}}}}}) {
    CAPTURE(written.dump());
    const auto first = Distribution::from_json(written, two);
    REQUIRE(first.has_value());
    const auto again = Distribution::from_json(first->to_json(), none);
    REQUIRE_MESSAGE(again.has_value(), first->to_json().dump());
    CHECK(again->to_json() == first->to_json());
    Random one(7), other(7);
    for (int i = 0; i < 1000; ++i) REQUIRE(first->draw(one) == again->draw(other));
  }
  CHECK(Distribution::from_json("empirical:two.txt", two)->to_json().dump() == R"({"empirical":["1ms",["3ms",2.0]]})");
  CHECK(Distribution::empirical({{3ms}, {1ms}, {3ms}, {3ms, 0.5}})->to_json().dump() == R"({"empirical":["1ms",["3ms",2.5]]})");
}

TEST_CASE("JSON that is no distribution is an error that says why") {
  for (const char* text : {"5", "null", "[]", "{}", R"({"empirical": []})", R"({"empirical": "1ms"})", R"({"empirical": [1]})",
                           R"({"empirical": ["1"]})", R"({"empirical": [["1ms", "2"]]})", R"({"empirical": [["1ms", -2]]})",
                           R"({"empirical": [["1ms", 1, 1]]})", R"({"empirical": ["1ms"], "mix": []})", R"({"mix": []})",
                           R"({"mix": [[0.5, "1ms"]]})", R"({"mix": [["1ms", 1]]})", R"({"mix": [[1, "mix:1*1ms"]]})",
                           R"({"mix": [[1, {"mix": [[1, "1ms"]]}]]})", R"({"mix": [[-1, "1ms"], [2, "1ms"]]})", R"({"uniform": []})"}) {
    CAPTURE(text);
    const auto parsed = Distribution::from_json(json::parse(text), read_sample_file);
    REQUIRE(parsed.has_error());
    CHECK_FALSE(parsed.error().context.empty());
  }
}

TEST_CASE("nothing is longer than a day, however heavy the tail") {
  const auto heavy = Distribution::parse("pareto:1s,0.001");
  REQUIRE(heavy.has_value());
  Random random(3);
  bool longest = false;
  for (int i = 0; i < 1000; ++i) {
    const Duration drawn = heavy->draw(random);
    REQUIRE(drawn >= 1s);
    REQUIRE(drawn <= 24h);
    longest = longest || drawn == 24h;
  }
  CHECK(longest);
  CHECK(heavy->quantile(1) == 24h);
  CHECK(heavy->longer_than(24h) == 0);
  const auto wide = Distribution::parse("lognormal:1s,1000");
  for (int i = 0; i < 1000; ++i) {
    const Duration drawn = wide->draw(random);
    REQUIRE(drawn >= 0s);
    REQUIRE(drawn <= 24h);
  }
}

}  // namespace hedgerow
