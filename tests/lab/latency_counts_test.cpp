#include "lab/latency_counts.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/random.hpp"

using namespace hedgerow;
using namespace hedgerow::lab;
using namespace std::chrono_literals;

TEST_CASE("single samples: the n-th is the n-th of them sorted, and a quantile is the n-th of its share") {
  Random random(3);
  std::vector<Duration> samples;
  std::vector<LatencyCounts::Bucket> buckets;
  for (int i = 0; i < 1001; ++i) {
    samples.push_back(Duration(random.below(400)));
    buckets.push_back({samples.back(), samples.back(), 1});
  }
  const LatencyCounts counts(buckets);
  std::sort(samples.begin(), samples.end());
  REQUIRE(counts.count() == samples.size());
  CHECK(counts.buckets().size() < 401);
  for (std::uint64_t n = 1; n <= samples.size(); ++n) CHECK_MESSAGE(counts.nth(n) == samples[n - 1], n);
  CHECK(counts.at_quantile(0) == samples.front());
  CHECK(counts.at_quantile(0.5) == samples[500]);  // half of 1,001 is 500.5: the 501st
  CHECK(counts.at_quantile(0.999) == samples[999]);
  CHECK(counts.at_quantile(1) == samples.back());
  CHECK(counts.shortest() == samples.front());
  CHECK(counts.longest() == samples.back());
}

TEST_CASE("what lies in a wide bucket is spread evenly over it") {
  const LatencyCounts counts({{10ms, 20ms, 10}, {0ms, 10ms, 10}});
  CHECK(counts.nth(1) == 500us);
  CHECK(counts.nth(10) == 9500us);
  CHECK(counts.nth(11) == 10'500us);
  CHECK(counts.nth(20) == 19'500us);
  CHECK(counts.mean() == 10ms);
}

TEST_CASE("equal buckets are one, empty ones none, and negative times are none of ours") {
  const LatencyCounts counts({{2ms, 2ms, 3}, {1ms, 1ms, 0}, {2ms, 2ms, 4}, {-5ms, -1ms, 1}});
  CHECK(counts.buckets() == std::vector<LatencyCounts::Bucket>{{0ms, 0ms, 1}, {2ms, 2ms, 7}});
  CHECK(counts.count() == 8);
  const LatencyCounts nothing;
  CHECK(nothing.count() == 0);
  CHECK(nothing.at_quantile(0.5) == 0ms);
  CHECK(nothing.mean() == 0ms);
  CHECK(nothing.longest() == 0ms);
}

TEST_CASE("of a histogram and back, nothing is lost but what its buckets do not know") {
  Histogram histogram(10'000'000'000);
  Random random(9);
  for (int i = 0; i < 5000; ++i) histogram.record(static_cast<std::uint64_t>(1e6 * random.exponential(5)));
  const auto counts = LatencyCounts::of(histogram);
  CHECK(counts.count() == histogram.count());
  CHECK(counts.shortest() == Duration(histogram.min()));
  CHECK(counts.longest() == Duration(histogram.max()));
  const Histogram microseconds = counts.to_histogram(1us, 10s);
  CHECK(microseconds.count() == histogram.count());
  for (const double quantile : {0.1, 0.5, 0.9, 0.99, 0.999}) {
    CHECK(static_cast<double>(counts.at_quantile(quantile).count()) ==
          doctest::Approx(static_cast<double>(histogram.value_at_quantile(quantile))).epsilon(0.002));
    CHECK(1000 * static_cast<double>(microseconds.value_at_quantile(quantile)) ==
          doctest::Approx(static_cast<double>(histogram.value_at_quantile(quantile))).epsilon(0.003));
  }
}
