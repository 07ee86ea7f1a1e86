#include "lab/latency_file.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "../corpus/files.hpp"
#include "golden_latencies.hpp"
#include "lab/hdr/interval_log.hpp"
#include "lab/hdr/percentile_text.hpp"

using namespace hedgerow;
using namespace hedgerow::lab;
using namespace hedgerow::test;
using namespace std::chrono_literals;

namespace {

LatencyFile read_form(const std::filesystem::path& path, const LatencyFileSettings& settings = {}) {
  auto file = read_latency_file(path, settings);
  REQUIRE_MESSAGE(file.has_value(), to_string(file.error()));
  return std::move(*file);
}

LatencyFile read_text(const std::string& text, const LatencyFileSettings& settings = {}) {
  const TemporaryFolder folder;
  return read_form(folder.write("latencies", text), settings);
}

Error fault_of_text(const std::string& text, const LatencyFileSettings& settings = {}) {
  const TemporaryFolder folder;
  const auto file = read_latency_file(folder.write("latencies", text), settings);
  REQUIRE(file.has_error());
  return file.error();
}

// The golden latencies, sorted.
std::vector<Duration> sorted_latencies() {
  std::vector<Duration> latencies;
  for (int i = 1; i <= golden_latencies; ++i) latencies.push_back(Duration(golden_latency(i)));
  std::sort(latencies.begin(), latencies.end());
  return latencies;
}

// At quantiles from 0.1 to 0.9999, within so much of the true ones.
void check_quantiles(const LatencyCounts& counts, double tolerance) {
  const auto truth = sorted_latencies();
  CHECK(counts.count() == truth.size());
  for (const double quantile : {0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.985, 0.995, 0.999, 0.9999}) {
    CAPTURE(quantile);
    const auto exact = truth[static_cast<std::size_t>(quantile * golden_latencies) - 1];
    CHECK(to_milliseconds(counts.at_quantile(quantile)) == doctest::Approx(to_milliseconds(exact)).epsilon(tolerance));
  }
}

}  // namespace

TEST_CASE("an interval log is all of its intervals, to its precision, with what was given up apart and other tags left out") {
  const auto file = read_form(golden_file("java.hlog"));
  CHECK(file.form == LatencyForm::interval_log);
  CHECK(file.unit == 1ns);
  check_quantiles(file.latencies, 0.001);
  CHECK(file.given_up.count() == 10);
  CHECK(file.given_up.shortest() <= 250ms);
  CHECK(file.given_up.longest() >= 250ms);
  CHECK(file.given_up.longest() < 251ms);
  CHECK(file.notes == std::vector<std::string>{"left out: 1 interval tagged 'others'"});

  const auto others = read_form(golden_file("java.hlog"), {.tag = "others"});
  CHECK(others.latencies.count() == 1);
  CHECK(others.given_up.count() == 0);
  CHECK(read_latency_file(golden_file("java.hlog"), {.tag = "nobody"}).error().code == Errc::input);
}

TEST_CASE("a log of another tool's unit is read in the unit that is given") {
  check_quantiles(read_form(golden_file("js-microseconds.hlog"), {.unit = 1us}).latencies, 0.01);
  // Taken for nanoseconds, it would be a thousandth.
  CHECK(read_form(golden_file("js-microseconds.hlog")).latencies.longest() < 1ms);
}

TEST_CASE("a percentiles file is as near as its lines lie, and needs a unit unless it tells one") {
  for (const char* name : {"java.hgrm", "js-microseconds.hgrm"}) {
    CAPTURE(name);
    CHECK(read_latency_file(golden_file(name)).error().code == Errc::invalid_argument);
    const auto file = read_form(golden_file(name), {.unit = 1ms});
    CHECK(file.form == LatencyForm::percentiles);
    check_quantiles(file.latencies, 0.02);
    CHECK(file.notes.size() == 1);
  }
  Histogram histogram(600'000'000'000);
  for (int i = 1; i <= golden_latencies; ++i) histogram.record(golden_latency(i));
  for (const Duration unit : {Duration(1us), Duration(1ms), Duration(1s)}) {
    const auto file = read_text(hdr::percentile_text(histogram, unit));
    CHECK(file.unit == unit);
    check_quantiles(file.latencies, unit == 1s ? 0.3 : 0.02);
  }
  CHECK(fault_of_text(hdr::percentile_text(histogram, 1us), {.unit = 1ms}).code == Errc::invalid_argument);
}

TEST_CASE("the spectrum in the midst of a report of wrk2 is found") {
  const std::string report =
      "Running 30s test @ http://127.0.0.1:80/index.html\n"
      "  2 threads and 100 connections\n"
      "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n"
      "    Latency     6.14ms    4.55ms  40.00ms   90.00%\n"
      "  Latency Distribution (HdrHistogram - Recorded Latency)\n"
      " 50.000%    5.00ms\n"
      "\n"
      "  Detailed Percentile spectrum:\n"
      "       Value   Percentile   TotalCount 1/(1-Percentile)\n"
      "\n"
      "       1.000     0.000000            1         1.00\n"
      "       5.000     0.500000            5         2.00\n"
      "      10.000     0.900000            9        10.00\n"
      "      40.000     0.950000           10        20.00\n"
      "      40.000     1.000000           10          inf\n"
      "#[Mean    =        6.140, StdDeviation   =        4.550]\n"
      "#[Max     =       40.000, Total count    =           10]\n"
      "#[Buckets =           27, SubBuckets     =         2048]\n"
      "----------------------------------------------------------\n"
      "  20 requests in 30.00s, 1.00MB read\n";
  const auto file = read_text(report, {.unit = 1ms});
  CHECK(file.form == LatencyForm::percentiles);
  CHECK(file.latencies.count() == 10);
  CHECK(file.latencies.buckets() ==
        std::vector<LatencyCounts::Bucket>{{1ms, 1ms, 1}, {1ms, 5ms, 4}, {5ms, 10ms, 4}, {10ms, 40ms, 1}});
}

TEST_CASE("samples: numbers with a unit or in the one that is given, with those that were given up apart") {
  const auto file = read_text("# of a proxy\n12.5ms\n\n1.5 s\n250us\n> 250ms\n>250ms\n");
  CHECK(file.form == LatencyForm::samples);
  CHECK(file.latencies.buckets() == std::vector<LatencyCounts::Bucket>{{250us, 250us, 1}, {12'500us, 12'500us, 1}, {1500ms, 1500ms, 1}});
  CHECK(file.given_up.buckets() == std::vector<LatencyCounts::Bucket>{{250ms, 250ms, 2}});
  CHECK(read_text("3\n1e1\n.5\n", {.unit = 1ms}).latencies.buckets() ==
        std::vector<LatencyCounts::Bucket>{{500us, 500us, 1}, {3ms, 3ms, 1}, {10ms, 10ms, 1}});
  CHECK(fault_of_text("3\n4\n").code == Errc::invalid_argument);
  CHECK(fault_of_text("3ms\nfour\n").context.find(":2: ") != std::string::npos);
  for (const char* bad : {"-3ms\n", "3 parsecs\n", "nan\n", "3ms 4ms\n", "1e300s\n"}) CHECK_MESSAGE(fault_of_text(bad).code == Errc::input, bad);
}

TEST_CASE("a table: the column that is a latency, or the one that is asked for, in the unit that its name ends in") {
  // As `hedgerow-lab load --samples` writes it.
  const std::string load = "intended_s,latency_ms,other_ms,send_lag_ms,status\n0.000,1.5,,0.1,200\n0.010,2.5,,0.1,200\n0.020,,0.7,0.1,503\n";
  const auto file = read_text(load);
  CHECK(file.unit == 1ms);
  CHECK(file.latencies.buckets() == std::vector<LatencyCounts::Bucket>{{1500us, 1500us, 1}, {2500us, 2500us, 1}});
  CHECK(file.notes.size() == 1);
  CHECK(read_text(load, {.column = "send_lag_ms"}).latencies.buckets() == std::vector<LatencyCounts::Bucket>{{100us, 100us, 3}});
  CHECK(fault_of_text(load, {.column = "sent"}).context.find("intended_s, latency_ms") != std::string::npos);
  CHECK(fault_of_text(load, {.unit = 1s}).code == Errc::invalid_argument);

  // As `hey -o csv` does.
  const std::string hey = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n"
                          "0.0012,0.0001,0.0000,0.0000,0.0011,0.0000,200,0.0100\n";
  CHECK(fault_of_text(hey).code == Errc::invalid_argument);
  CHECK(read_text(hey, {.unit = 1s}).latencies.buckets() == std::vector<LatencyCounts::Bucket>{{1200us, 1200us, 1}});

  CHECK(read_text("\"when\";\"Latency (us)\"\n1;\"7\"\n").latencies.shortest() == 7us);
  CHECK(read_text("when\tms\n1\t7\n").latencies.shortest() == 7ms);
  CHECK(read_text("name,took\n\"a, b\",7\n", {.unit = 1ms, .column = "took"}).latencies.shortest() == 7ms);
  CHECK(fault_of_text("when,latency_ms\n1\n").code == Errc::input);
}

TEST_CASE("units at a name's end are words of their own") {
  CHECK(read_text("latency_seconds\n2\n").latencies.shortest() == 2s);
  CHECK(read_text("latency_usec\n2\n").latencies.shortest() == 2us);
  CHECK(read_text("latencyMillis\n2\n", {.unit = 1ms}).latencies.shortest() == 2ms);
  // An s behind the micro sign, or behind the Greek letter, is no second.
  for (const char* heading : {"latency (\u00b5s)", "latency_\u03bcs", "\u00b5s"}) {
    CAPTURE(heading);
    CHECK(read_text(std::string(heading) + "\n2\n").latencies.shortest() == 2us);
  }
  CHECK(read_text("12.5\u00b5s\n7 \u03bcs\n").latencies.buckets() == std::vector<LatencyCounts::Bucket>{{7us, 7us, 1}, {12'500ns, 12'500ns, 1}});
  // "latencies" ends in an s and is of no unit.
  CHECK(fault_of_text("latencies\n2\n").code == Errc::input);
  CHECK(fault_of_text("latency-times\n2\n").code == Errc::invalid_argument);
}

TEST_CASE("compressed files are read as they are") {
  const TemporaryFolder folder;
  CHECK(read_form(folder.write("samples.gz", packed("1ms\n2ms\n", "gzip"))).latencies.count() == 2);
}

TEST_CASE("what is none of the forms, holds nothing or is not there is an error that says so") {
  CHECK(read_latency_file("/nowhere/at/all").error().code == Errc::not_found);
  for (const char* nothing : {"", "\n", "# nothing\n\n"}) CHECK_MESSAGE(fault_of_text(nothing).context.find("holds no latencies") != std::string::npos, nothing);
  CHECK(fault_of_text("0.01,200,GET\n").context.find("needs a heading") != std::string::npos);
  CHECK(fault_of_text("once upon a time\nthere was\n").context.find("--column") != std::string::npos);
  CHECK(fault_of_text("{\"latency_ms\":{\"p50\":1}}\n").context.find("--hlog") != std::string::npos);
  CHECK(fault_of_text("latency_ms\n").code == Errc::input);
  CHECK(fault_of_text("1ms\n", {.tag = "x"}).code == Errc::invalid_argument);
  CHECK(fault_of_text("#[Histogram log format version 1.3]\n0.0,1.0,2.0,HISTFAAA\n").context.find(":2: ") != std::string::npos);
  const std::string heading = "Value Percentile TotalCount 1/(1-Percentile)\n";
  CHECK(fault_of_text(heading + "1.0 0.5 5 2.0\n0.5 0.9 9 10.0\n", {.unit = 1ms}).code == Errc::input);
  CHECK(fault_of_text(heading + "1.0 0.5\n", {.unit = 1ms}).code == Errc::input);
}

TEST_CASE("units are read by their words") {
  CHECK(*parse_latency_unit("us") == 1us);
  CHECK(*parse_latency_unit("s") == 1s);
  CHECK(parse_latency_unit("m").has_error());
}
