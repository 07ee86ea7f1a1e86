#include "lab/load_files.hpp"

#include <doctest/doctest.h>

#include <sstream>

#include "../corpus/files.hpp"
#include "lab/hdr/interval_log.hpp"
#include "lab/latency_file.hpp"

using namespace hedgerow;
using namespace hedgerow::lab;
using namespace hedgerow::test;
using namespace std::chrono_literals;

namespace {

LoadOutcome ended_query(Duration intended_at, Duration latency, int status = 200) {
  LoadOutcome outcome;
  outcome.intended_at = intended_at;
  outcome.latency = latency;
  outcome.status = status;
  return outcome;
}

struct WrittenRun {
  TemporaryFolder folder;
  LoadFileSettings settings{folder.path("hgrm"), folder.path("hlog"), folder.path("attempts"), folder.path("samples"), 1s};

  // Records the outcomes in files and report, and closes.
  void write(const std::vector<LoadOutcome>& outcomes, LoadFrame frame = {}) {
    auto files = LoadFiles::create(settings, std::chrono::system_clock::from_time_t(1'764'496'245));
    REQUIRE(files.has_value());
    LoadResult result;
    result.frame = frame;
    for (const auto& outcome : outcomes) {
      files->record(outcome);
      result.report.record(outcome);
    }
    REQUIRE(files->finish(result).has_value());
  }

  std::vector<hdr::Interval> intervals() const {
    std::vector<hdr::Interval> out;
    std::istringstream lines(contents(settings.hlog));
    for (std::string line; std::getline(lines, line);) {
      auto interval = hdr::read_interval(line);
      REQUIRE(interval.has_value());
      if (*interval) out.push_back(std::move(**interval));
    }
    return out;
  }

  std::vector<std::string> sample_lines() const {
    std::vector<std::string> out;
    std::istringstream lines(contents(settings.samples));
    for (std::string line; std::getline(lines, line);) out.push_back(line);
    return out;
  }
};

LatencyFile read_back(const std::filesystem::path& path) {
  auto file = read_latency_file(path);
  REQUIRE_MESSAGE(file.has_value(), to_string(file.error()));
  return std::move(*file);
}

std::uint64_t count_of_interval(const hdr::Interval& interval) {
  std::uint64_t count = 0;
  for (const auto& bucket : interval.histogram.buckets) count += bucket.count;
  return count;
}

}  // namespace

TEST_CASE("every file holds the same latencies, and is read back in its own unit") {
  WrittenRun run;
  std::vector<LoadOutcome> outcomes;
  for (int i = 1; i <= 1000; ++i) {
    outcomes.push_back(ended_query(i * 10ms, i * 100us));
    outcomes.back().attempt_latencies = {{i * 50us, true}, {3ms, i % 10 != 0}};
  }
  run.write(outcomes);
  for (const auto& path : {run.settings.hgrm, run.settings.hlog, run.settings.samples}) {
    CAPTURE(path.string());
    const auto file = read_back(path);
    CHECK(file.latencies.count() == 1000);
    CHECK(to_milliseconds(file.latencies.at_quantile(0.5)) == doctest::Approx(50).epsilon(0.01));
    CHECK(to_milliseconds(file.latencies.at_quantile(0.99)) == doctest::Approx(99).epsilon(0.01));
    CHECK(to_milliseconds(file.latencies.longest()) == doctest::Approx(100).epsilon(0.001));
  }
  const auto attempts = read_back(run.settings.attempts);
  CHECK(attempts.latencies.count() == 1900);
  CHECK(attempts.given_up.count() == 100);
  CHECK(to_milliseconds(attempts.given_up.longest()) == doctest::Approx(3).epsilon(0.001));
}

TEST_CASE("an answer counts in the interval in which it came, intervals without answers are there, and other ends are tagged") {
  WrittenRun run;
  run.write({ended_query(100ms, 10ms), ended_query(0s, 1500ms), ended_query(1600ms, 2s, 503), ended_query(4100ms, 50ms), ended_query(4200ms, 60ms)});
  const auto intervals = run.intervals();
  REQUIRE(intervals.size() == 6);
  const std::uint64_t counts[] = {1, 1, 0, 0, 1, 2};
  const double begins[] = {0, 1, 2, 3, 3, 4};
  for (std::size_t i = 0; i < 6; ++i) {
    CAPTURE(i);
    CHECK(count_of_interval(intervals[i]) == counts[i]);
    CHECK(intervals[i].begin_seconds == begins[i]);
    CHECK(intervals[i].tag == (i == 4 ? "others" : ""));
  }
}

TEST_CASE("a stall of weeks does not write a line for each of its seconds") {
  WrittenRun run;
  run.write({ended_query(0s, 10ms), ended_query(0s, 24h * 30), ended_query(0s, 24h * 30 + 1s)});
  const auto intervals = run.intervals();
  CHECK(intervals.size() < 4000);
  CHECK(intervals.back().begin_seconds == 24 * 30 * 3600 + 1);
  CHECK(count_of_interval(intervals.back()) == 1);
}

TEST_CASE("a row tells all that is known of a query, and leaves empty what is not") {
  WrittenRun run;
  auto good = ended_query(1234567us, 5ms);
  good.query = 6;
  good.send_lag = 300us;
  good.own_lag = 200us;
  good.took_ms = 4.5;
  good.finished = "deadline";
  good.completeness = 0.93;
  good.completeness_in_body = 0.9375;
  good.recall = 0.9;
  LoadOutcome lost;
  lost.latency = 10s;
  lost.error = Errc::expired;
  auto odd = ended_query(0s, 1ms, 503);
  odd.finished = "a,\"b\"\n";
  run.write({good, lost, odd});
  const auto lines = run.sample_lines();
  REQUIRE(lines.size() == 4);
  CHECK(lines[1] == "1.234567,5.000,,0.300,0.200,200,4.5,deadline,0.9375,,0.9,,7");
  CHECK(lines[2] == "0.000000,,10000.000,0.000,0.000,expired,,,,,,,1");
  CHECK(lines[3] == "0.000000,,1.000,0.000,0.000,503,,other,,,,,1");
}

TEST_CASE("a load that did not keep up says so in the files that outlive its report") {
  WrittenRun run;
  LoadFrame frame;
  frame.rate = 100;
  frame.connections = 1;
  std::vector<LoadOutcome> outcomes;
  for (int i = 0; i < 100; ++i) {
    outcomes.push_back(ended_query(i * 10ms, 500ms));
    outcomes.back().send_lag = 499ms;
  }
  run.write(outcomes, frame);
  for (const auto& path : {run.settings.hgrm, run.settings.hlog}) {
    CHECK(contents(path).find("#[the load did not keep up") != std::string::npos);
    CHECK(read_back(path).latencies.count() == 100);
  }
}

TEST_CASE("a file that cannot be written is known before anything is sent") {
  const TemporaryFolder folder;
  LoadFileSettings settings;
  settings.hlog = folder.path("nowhere/hlog");
  const auto files = LoadFiles::create(settings, {});
  REQUIRE(files.has_error());
  CHECK(files.error().code == Errc::io);
  CHECK(!LoadFileSettings{}.any());
  CHECK(settings.any());
}
