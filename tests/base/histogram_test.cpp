#include "base/histogram.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.hpp"

using hedgerow::Histogram;
using hedgerow::Random;

TEST_CASE("small values are exact") {
  Histogram histogram(1'000'000);
  for (std::uint64_t v = 1; v <= 1000; ++v) histogram.record(v);
  CHECK(histogram.count() == 1000);
  CHECK(histogram.min() == 1);
  CHECK(histogram.max() == 1000);
  CHECK(histogram.mean() == doctest::Approx(500.5));
  CHECK(histogram.value_at_quantile(0.5) == 500);
  CHECK(histogram.value_at_quantile(0.99) == 990);
  CHECK(histogram.value_at_quantile(0.999) == 999);
  CHECK(histogram.value_at_quantile(0) == 1);
  CHECK(histogram.value_at_quantile(1) == 1000);
}

TEST_CASE("quantiles agree with the sorted samples to within the precision, over ten orders of magnitude") {
  Random random(7);
  Histogram histogram(100'000'000'000, 10);
  std::vector<std::uint64_t> samples;
  for (int i = 0; i < 20'000; ++i) {
    const auto value = static_cast<std::uint64_t>(std::exp(random.uniform() * 24));
    samples.push_back(value);
    histogram.record(value);
  }
  std::sort(samples.begin(), samples.end());
  for (double q : {0.001, 0.01, 0.1, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto rank = static_cast<std::size_t>(std::ceil(q * 20'000));
    const double exact = static_cast<double>(samples[rank - 1]);
    const double estimate = static_cast<double>(histogram.value_at_quantile(q));
    CAPTURE(q);
    CHECK(estimate >= exact);
    CHECK(estimate <= exact * (1 + 1.0 / 1024) + 1);
  }
}

TEST_CASE("an empty histogram says zero, and values beyond the highest are counted as overflow") {
  Histogram histogram(1000);
  CHECK(histogram.value_at_quantile(0.5) == 0);
  CHECK(histogram.mean() == 0);
  histogram.record(5000);
  CHECK(histogram.overflowed() == 1);
  CHECK(histogram.max() == 1000);
  CHECK(histogram.value_at_quantile(1) == 1000);
}

TEST_CASE("merging is the same as recording everything in one") {
  Random random(11);
  Histogram all(1'000'000'000), left(1'000'000'000), right(1'000'000'000);
  for (int i = 0; i < 5000; ++i) {
    const auto value = random.below(900'000'000);
    all.record(value);
    (i % 3 == 0 ? left : right).record(value);
  }
  left.merge(right);
  CHECK(left.count() == all.count());
  CHECK(left.min() == all.min());
  CHECK(left.max() == all.max());
  for (double q : {0.01, 0.5, 0.99}) CHECK(left.value_at_quantile(q) == all.value_at_quantile(q));
  std::uint64_t counted = 0;
  for (const auto& bucket : left.buckets()) {
    CHECK(bucket.lowest <= bucket.highest);
    counted += bucket.count;
  }
  CHECK(counted == 5000);
}
