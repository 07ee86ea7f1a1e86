// HdrHistogram's forms, against what its own implementations write (tests/lab/data/hdr).
#include <doctest/doctest.h>
#include <zlib.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "base/random.hpp"
#include "golden_latencies.hpp"
#include "lab/hdr/encoding.hpp"
#include "lab/hdr/interval_log.hpp"
#include "lab/hdr/percentile_text.hpp"

using namespace hedgerow;
using namespace hedgerow::lab;
using namespace hedgerow::test;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t ten_minutes = 600'000'000'000;

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE_MESSAGE(file.good(), path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> log_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Histogram recorded(int from, int to) {
  Histogram histogram(ten_minutes);
  for (int i = from; i <= to; ++i) histogram.record(golden_latency(i));
  return histogram;
}

// What stands behind the last comma.
std::string last_column(const std::string& line) { return line.substr(line.rfind(',') + 1); }

std::vector<hdr::Interval> intervals_of(const std::string& text) {
  std::vector<hdr::Interval> intervals;
  for (const auto& line : log_lines(text)) {
    auto interval = hdr::read_interval(line);
    REQUIRE_MESSAGE(interval.has_value(), line);
    if (*interval) intervals.push_back(std::move(**interval));
  }
  return intervals;
}

bool same_buckets(const std::vector<Histogram::Bucket>& a, const std::vector<Histogram::Bucket>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.lowest == y.lowest && x.highest == y.highest && x.count == y.count;
  });
}

// The bucket in which the n-th value lies.
Histogram::Bucket nth_bucket(const std::vector<Histogram::Bucket>& buckets, std::uint64_t n) {
  for (const auto& bucket : buckets) {
    if (n <= bucket.count) return bucket;
    n -= bucket.count;
  }
  return {};
}

std::uint64_t count_in(const std::vector<Histogram::Bucket>& buckets) {
  std::uint64_t count = 0;
  for (const auto& bucket : buckets) count += bucket.count;
  return count;
}

}  // namespace

TEST_CASE("the percentile text is byte for byte what the Java implementation prints, and tells its unit below") {
  CHECK(hdr::percentile_text(recorded(1, golden_latencies)) == bytes_of(golden_file("java.hgrm")) + "#[Unit    = ms]\n");
}

TEST_CASE("a text of nothing has a heading and zeros") {
  const auto text = hdr::percentile_text(Histogram(ten_minutes));
  CHECK(text.find("Total count    =            0]") != std::string::npos);
  CHECK(text.find("nan") == std::string::npos);
  CHECK(log_lines(text).size() == 6);
}

TEST_CASE("an interval's histogram is byte for byte what the Java implementation encodes, empty ones too") {
  const auto lines = log_lines(bytes_of(golden_file("java.hlog")));
  REQUIRE(lines.size() == 11);
  for (int part = 0; part < 5; ++part) {
    CAPTURE(part);
    const Histogram histogram = part < 4 ? recorded(1 + part * 2500, (part + 1) * 2500) : Histogram(ten_minutes);
    const std::string& theirs = lines[4 + static_cast<std::size_t>(part)];
    const auto bytes = hdr::unpacked(last_column(theirs));
    REQUIRE(bytes.has_value());
    CHECK(*bytes == hdr::encode(histogram));
    // Of our own line, the columns before the histogram, and what is packed into it.
    std::string ours = hdr::interval_line(part * 1s, 1s, histogram);
    ours.pop_back();
    CHECK(ours.substr(0, ours.rfind(',')) == theirs.substr(0, theirs.rfind(',')));
    const auto repeated = hdr::unpacked(last_column(ours));
    REQUIRE(repeated.has_value());
    CHECK(*repeated == *bytes);
  }
  // The head's form, the date's words apart.
  const auto head = log_lines(hdr::interval_log_head(std::chrono::system_clock::from_time_t(1'764'496'245), "about"));
  REQUIRE(head.size() == 5);
  CHECK(head[1] == lines[1]);
  CHECK(head[2] == lines[2]);
  CHECK(head[4] == lines[3]);
}

TEST_CASE("a log of the Java implementation is read with its tags and every latency in its bucket") {
  const auto intervals = intervals_of(bytes_of(golden_file("java.hlog")));
  REQUIRE(intervals.size() == 7);
  for (int part = 0; part < 4; ++part) {
    const auto& interval = intervals[static_cast<std::size_t>(part)];
    CHECK(interval.tag == "");
    CHECK(interval.begin_seconds == part);
    CHECK(interval.histogram.digits == 3);
    CHECK(same_buckets(interval.histogram.buckets, recorded(1 + part * 2500, (part + 1) * 2500).buckets()));
  }
  CHECK(intervals[4].histogram.buckets.empty());
  CHECK(intervals[5].tag == "given_up");
  CHECK(count_in(intervals[5].histogram.buckets) == 10);
  CHECK(intervals[6].tag == "others");
}

TEST_CASE("histograms of one to five digits, with a lowest value of 1,000, have the ends that Java tells") {
  // Of 1,000 · i² for i from 1 to 1,000, its getValueAtPercentile(50), lowestEquivalentValue of that, getMaxValue and
  // getMinValue, as Golden.java printed them.
  struct Row {
    int digits;
    std::uint64_t median_lowest, median_highest, max, min;
  };
  for (const auto& [digits, median_lowest, median_highest, max, min] : {Row{1, 243'269'632, 251'658'239, 1'006'632'959, 512},
                                                                       Row{2, 249'561'088, 250'609'663, 1'002'438'655, 512},
                                                                       Row{3, 249'954'304, 250'085'375, 1'000'341'503, 512},
                                                                       Row{4, 249'995'264, 250'003'455, 1'000'013'823, 512},
                                                                       Row{5, 249'999'360, 250'000'383, 1'000'001'535, 512}}) {
    CAPTURE(digits);
    const auto intervals = intervals_of(bytes_of(golden_file(("java-" + std::to_string(digits) + "-digits.hlog").c_str())));
    REQUIRE(intervals.size() == 1);
    const auto& histogram = intervals[0].histogram;
    CHECK(histogram.digits == digits);
    CHECK(count_in(histogram.buckets) == 1000);
    CHECK(nth_bucket(histogram.buckets, 500).lowest == median_lowest);
    CHECK(nth_bucket(histogram.buckets, 500).highest == median_highest);
    CHECK(histogram.buckets.back().highest == max);
    CHECK(histogram.buckets.front().lowest == min);
  }
}

TEST_CASE("a histogram of doubles is read in whole numbers") {
  // 0.25, 0.5, … 250, to two digits.
  const auto intervals = intervals_of(bytes_of(golden_file("java-doubles.hlog")));
  REQUIRE(intervals.size() == 1);
  const auto& buckets = intervals[0].histogram.buckets;
  CHECK(count_in(buckets) == 1000);
  CHECK(buckets.front().lowest == 0);
  CHECK(nth_bucket(buckets, 500).lowest <= 125);
  CHECK(nth_bucket(buckets, 500).highest >= 125);
  CHECK(nth_bucket(buckets, 500).highest <= 127);
  CHECK(buckets.back().lowest <= 250);
  CHECK(buckets.back().highest >= 250);
  CHECK(buckets.back().highest <= 253);
}

TEST_CASE("a log of the JavaScript implementation, of microseconds and two digits, is read") {
  const auto intervals = intervals_of(bytes_of(golden_file("js-microseconds.hlog")));
  REQUIRE(intervals.size() == 1);
  const auto& buckets = intervals[0].histogram.buckets;
  CHECK(intervals[0].histogram.digits == 2);
  CHECK(count_in(buckets) == 10'000);
  // Its getValueAtPercentile(50), (99.9) and maxValue, as golden.mjs printed them.
  CHECK(nth_bucket(buckets, 5000).highest == 4895);
  CHECK(nth_bucket(buckets, 9990).highest == 348'159);
  CHECK(buckets.back().lowest <= 376'804);
  CHECK(buckets.back().highest >= 376'804);
}

TEST_CASE("what is encoded is decoded, of any precision and any numbers") {
  Random random(11);
  for (int round = 0; round < 60; ++round) {
    constexpr int precisions[] = {4, 7, 10, 14};
    Histogram histogram(std::uint64_t{1} << (1 + random.below(45)), precisions[round % 4]);
    const auto values = random.below(3000);
    for (std::uint64_t i = 0; i < values; ++i) {
      const std::uint64_t value = random.next() >> random.below(64);
      // Counts of one to eight bytes; of nine, below.
      histogram.record(std::min(value, histogram.highest()), 1 + (random.chance(0.1) ? random.next() >> (12 + random.below(40)) : 0));
    }
    if (round % 5 == 0) histogram.record(1, std::uint64_t{1} << 60);
    CAPTURE(round);
    const auto decoded = hdr::decode_base64(hdr::encode_base64(histogram));
    REQUIRE(decoded.has_value());
    CHECK(decoded->digits == 1 + round % 4);
    CHECK(same_buckets(decoded->buckets, histogram.buckets()));
  }
}

TEST_CASE("no cut and no damage of a histogram is read beyond its end, or taken for whole") {
  const std::string whole = hdr::encode_base64(recorded(1, 3000));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);
    CAPTURE(size);
    CHECK(hdr::decode_base64(cut).has_error());
  }
  Random random(5);
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = whole;
    damaged[static_cast<std::size_t>(random.below(damaged.size()))] = static_cast<char>(random.below(256));
    // zlib's checksum finds what is not the character that was there; padding apart, nothing else may be taken.
    if (const auto decoded = hdr::decode_base64(damaged)) CHECK(count_in(decoded->buckets) == 3000);
  }
  CHECK(hdr::decode_base64("").has_error());
  CHECK(hdr::decode_base64("HISTFAAA").has_error());
  CHECK(hdr::decode_base64("no base64 at all").has_error());
}

TEST_CASE("a histogram that unpacks to more than any can be is refused, and one of an older version is named") {
  std::string zeros(70u << 20, '\0');
  uLongf size = compressBound(zeros.size());
  std::string packed(size, '\0');
  REQUIRE(compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(zeros.data()), zeros.size(), 1) == Z_OK);
  packed.resize(size);
  std::string bytes{'\x1c', '\x84', '\x93', '\x14'};
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(packed.size() >> shift));
  CHECK(hdr::decode(bytes + packed).error().code == Errc::too_large);
  CHECK(hdr::decode(std::string{'\x1c', '\x84', '\x93', '\x12', 0, 0, 0, 0}).error().code == Errc::unsupported);
  CHECK(hdr::decode(std::string{'\x1c', '\x84', '\x93', '\x09', 0, 0, 0, 0}).error().code == Errc::unsupported);
}

TEST_CASE("lines that are no intervals are passed over, and what is no line of a log is an error") {
  for (const char* line : {"", "  ", "# a comment", "#[Histogram log format version 1.3]", "\"StartTimestamp\",\"Interval_Length\""}) {
    const auto interval = hdr::read_interval(line);
    REQUIRE_MESSAGE(interval.has_value(), line);
    CHECK(!*interval);
  }
  for (const char* line : {"0.1", "0.1,1.0", "0.1,1.0,2.0", "0.1,1.0,2.0,", "a,1.0,2.0,HISTFAAA", "Tag=x", "0.1,1.0,2.0,HISTFAAA!"}) {
    CHECK_MESSAGE(hdr::read_interval(line).has_error(), line);
  }
}
