#include "lab/load_report.hpp"

#include <doctest/doctest.h>

using namespace hedgerow;
using namespace hedgerow::lab;
using namespace std::chrono_literals;

namespace {

LoadOutcome answered(Duration latency, double completeness = 1) {
  LoadOutcome outcome;
  outcome.latency = latency;
  outcome.status = 200;
  outcome.completeness = completeness;
  outcome.completeness_in_body = completeness;
  outcome.took_ms = to_milliseconds(latency) / 2;
  outcome.finished = completeness >= 1 ? "complete" : "deadline";
  return outcome;
}

LoadFrame open_loop(double rate, Duration elapsed) {
  LoadFrame frame;
  frame.rate = rate;
  frame.measured = frame.elapsed = elapsed;
  frame.connections = 8;
  return frame;
}

}  // namespace

TEST_CASE("quantiles, throughput, completeness and the server's own time of a hundred answers") {
  LoadReport report;
  for (int i = 1; i <= 100; ++i) report.record(answered(i * 1ms, i > 90 ? 0.5 : 1));
  const auto out = report.to_json(open_loop(50, 2s));
  const auto& latency = out["latency_ms"];
  CHECK(latency["count"] == 100);
  // The k-th of 1, 2, … 100 ms, to the histogram's three digits.
  CHECK(latency["p50"].get<double>() == doctest::Approx(50).epsilon(0.001));
  CHECK(latency["p90"].get<double>() == doctest::Approx(90).epsilon(0.001));
  CHECK(latency["p95"].get<double>() == doctest::Approx(95).epsilon(0.001));
  CHECK(latency["p99"].get<double>() == doctest::Approx(99).epsilon(0.001));
  CHECK(latency["p99_9"].get<double>() == doctest::Approx(100).epsilon(0.001));
  CHECK(latency["max"] == 100);
  CHECK(latency["mean"].get<double>() == doctest::Approx(50.5).epsilon(0.001));
  CHECK(out["took_ms"]["max"] == 50);
  CHECK(out["answers_per_second"] == 50);
  CHECK(out["completeness"]["mean"].get<double>() == doctest::Approx(0.95));
  CHECK(out["completeness"]["min"] == 0.5);
  CHECK(out["completeness"]["complete_share"].get<double>() == doctest::Approx(0.9));
  CHECK(out["completeness"]["header_and_body_differ"] == 0);
  CHECK(out["finished"] == nlohmann::ordered_json({{"complete", 90}, {"deadline", 10}}));
  CHECK(out["kept_up"] == true);
}

TEST_CASE("a quick refusal and a slow failure are counted apart, and flatter no latency") {
  LoadReport report;
  for (int i = 0; i < 10; ++i) report.record(answered(20ms));
  for (int i = 0; i < 30; ++i) {
    LoadOutcome refused;
    refused.latency = 1ms;
    refused.status = 503;
    refused.completeness = 0;
    report.record(refused);
  }
  LoadOutcome lost;
  lost.latency = 10s;
  lost.error = Errc::expired;
  report.record(lost);
  lost.error = Errc::unavailable;
  report.record(lost);
  const auto out = report.to_json(open_loop(100, 1s));
  CHECK(out["latency_ms"]["count"] == 10);
  CHECK(out["latency_ms"]["p50"].get<double>() == doctest::Approx(20).epsilon(0.001));
  CHECK(out["latency_of_others_ms"]["count"] == 32);
  CHECK(out["latency_of_others_ms"]["max"] == 10'000);
  CHECK(out["status"] == nlohmann::ordered_json({{"200", 10}, {"503", 30}}));
  CHECK(out["transport_errors"]["expired"] == 1);
  CHECK(out["transport_errors"]["unavailable"] == 1);
  CHECK(out["queries"]["answered"] == 40);
  CHECK(out["queries"]["failed"] == 2);
  CHECK(out["completeness"]["answers"] == 10);
  CHECK(out["completeness"]["min"] == 1);
  CHECK(out["completeness"]["complete_share"] == 1);
  CHECK(out["completeness"]["complete_share_of_all_queries"].get<double>() == doctest::Approx(10.0 / 42));
}

TEST_CASE("0.99996 complete is not complete, though the header rounds it to 1") {
  LoadReport report;
  auto outcome = answered(1ms);
  outcome.completeness = 1.0;
  outcome.completeness_in_body = 0.99996;
  report.record(outcome);
  const auto out = report.to_json(open_loop(1, 1s));
  CHECK(out["completeness"]["complete_share"] == 0);
  CHECK(out["completeness"]["header_and_body_differ"] == 0);
}

TEST_CASE("a header and a body that contradict each other are told") {
  LoadReport report;
  auto outcome = answered(1ms);
  outcome.completeness_in_body = 0.5;
  report.record(outcome);
  CHECK(report.to_json(open_loop(1, 1s))["completeness"]["header_and_body_differ"] == 1);
  CHECK(report.to_text(open_loop(1, 1s)).find("disagree") != std::string::npos);
}

TEST_CASE("a load that fell behind says so, and why, one that kept up does not") {
  const auto lagging = [](Duration lag, int late) {
    LoadReport report;
    for (int i = 0; i < 100; ++i) {
      auto outcome = answered(5ms);
      outcome.send_lag = i < late ? lag : 10us;
      report.record(outcome);
    }
    return report;
  };
  auto frame = open_loop(1000, 1s);
  CHECK(!lagging(50ms, 1).could_not_keep_up(frame));   // one in a hundred is borne
  CHECK(!lagging(900us, 50).could_not_keep_up(frame));  // so is less than a millisecond
  REQUIRE(lagging(50ms, 2).could_not_keep_up(frame));
  CHECK(lagging(50ms, 2).could_not_keep_up(frame)->find("processor") != std::string::npos);
  CHECK(lagging(50ms, 2).to_json(frame)["kept_up"] == false);
  frame.waited_for_connection = 40;
  CHECK(lagging(50ms, 40).could_not_keep_up(frame)->find("all 8 connections busy") != std::string::npos);
  CHECK(lagging(50ms, 40).to_text(frame).find("did not keep up") != std::string::npos);
  frame.open_loop = false;
  CHECK(!lagging(50ms, 40).could_not_keep_up(frame));
}

TEST_CASE("how far the quantiles go: those with ten answers beyond them") {
  const auto supported_to = [](int answers) {
    LoadReport report;
    for (int i = 0; i < answers; ++i) report.record(answered(1ms));
    return report.to_json(open_loop(1, 1s))["quantiles"]["supported_to"];
  };
  CHECK(supported_to(19).is_null());
  CHECK(supported_to(20) == "p50");
  CHECK(supported_to(100) == "p90");
  CHECK(supported_to(9'999) == "p99");
  CHECK(supported_to(10'000) == "p99.9");
  CHECK(supported_to(100'000) == "p99.99");
}

TEST_CASE("p99.99 is the slowest of ten thousand but one, and a text says where luck begins") {
  LoadReport report;
  for (int i = 0; i < 9'999; ++i) report.record(answered(1ms));
  report.record(answered(500ms));
  const auto out = report.to_json(open_loop(1, 1s));
  CHECK(out["latency_ms"]["p99_99"].get<double>() == doctest::Approx(1).epsilon(0.001));
  CHECK(out["latency_ms"]["max"] == 500);
  const auto text = report.to_text(open_loop(1, 1s));
  CHECK(text.find("p99.99") != std::string::npos);
  CHECK(text.find("Quantiles beyond p99.9 are the luck of fewer than ten answers") != std::string::npos);
  CHECK(report.latency().count() == 10'000);
}

TEST_CASE("lateness of this process's own spoils the quantiles that it reaches, waiting for a connection does not") {
  const auto undistorted_to = [](Duration own_lag, int late) {
    LoadReport report;
    for (int i = 0; i < 10'000; ++i) {
      auto outcome = answered(5ms);
      if (i < late) outcome.own_lag = outcome.send_lag = own_lag;
      if (i == 9'999) outcome.send_lag = 10s;  // all connections were busy
      report.record(outcome);
    }
    return report.to_json(open_loop(1, 1s))["quantiles"]["undistorted_to"];
  };
  CHECK(undistorted_to(50ms, 0) == "p99.99");
  CHECK(undistorted_to(900us, 10'000) == "p99.99");
  CHECK(undistorted_to(50ms, 5) == "p99.9");    // one in two thousand
  CHECK(undistorted_to(50ms, 50) == "p99");     // one in two hundred
  CHECK(undistorted_to(50ms, 6'000).is_null());
}

TEST_CASE("attempts are summed, and what goes beyond one for each partition asked is their extra share") {
  LoadReport report;
  const auto kind = [](AttemptKind of) { return static_cast<std::size_t>(of); };
  for (int i = 0; i < 100; ++i) {
    auto outcome = answered(1ms);
    outcome.partitions_asked = 20;
    outcome.attempts[kind(AttemptKind::primary)] = 20;
    if (i < 40) outcome.attempts[kind(AttemptKind::hedge)] = 1;
    outcome.hedges_won = i < 30 ? 1 : 0;
    outcome.subsystems = {{"spelling", i < 10 ? "late" : "ok"}, {"facets", "off"}};
    report.record(outcome);
  }
  // From a cache: nobody was asked.
  auto cached = answered(1ms);
  cached.partitions_asked = 20;
  report.record(cached);
  const auto out = report.to_json(open_loop(100, 1s));
  CHECK(out["attempts"]["primary"] == 2000);
  CHECK(out["attempts"]["hedge"] == 40);
  CHECK(out["attempts"]["hedge_won"] == 30);
  CHECK(out["attempts"]["extra_share"] == 0.02);
  CHECK(out["subsystems"] == nlohmann::ordered_json({{"facets", {{"off", 100}}}, {"spelling", {{"late", 10}, {"ok", 90}}}}));
  const auto text = report.to_text(open_loop(100, 1s));
  CHECK(text.find("40 hedge; 30 hedges won; 2.00 % beyond") != std::string::npos);
  CHECK(text.find("spelling: 10 late, 90 ok") != std::string::npos);
  CHECK(text.find("facets") == std::string::npos);
}

TEST_CASE("words of a server that says something else each time are counted together") {
  LoadReport report;
  for (int i = 0; i < 1000; ++i) {
    auto outcome = answered(1ms);
    outcome.finished = "word" + std::to_string(i);
    outcome.subsystems = {{"part" + std::to_string(i), "status" + std::to_string(i)}, {"one", "status" + std::to_string(i)}};
    report.record(outcome);
  }
  const auto out = report.to_json(open_loop(1, 1s));
  CHECK(out["finished"].size() == 17);
  CHECK(out["finished"]["other"] == 984);
  CHECK(out["subsystems"].size() <= 17);
  CHECK(out["subsystems"]["one"].size() <= 17);
}

TEST_CASE("a report of nothing has no quantiles and divides by nothing") {
  const LoadReport report;
  const auto out = report.to_json(open_loop(10, 0s));
  CHECK(out["latency_ms"] == nlohmann::ordered_json({{"count", 0}}));
  CHECK(out["answers_per_second"] == 0);
  CHECK(out["completeness"] == nlohmann::ordered_json({{"answers", 0}}));
  CHECK(!report.to_text(open_loop(10, 0s)).empty());
}
