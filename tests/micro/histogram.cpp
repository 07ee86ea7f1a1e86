// base/histogram: what every policy that learns latencies does with every answer.
#include "base/histogram.hpp"

#include <cmath>
#include <memory>

#include "base/random.hpp"
#include "benchmark.hpp"

namespace hedgerow::micro {

namespace {

constexpr std::size_t values_recorded = 1000;

Iteration recording_1000_values(const std::filesystem::path&) {
  Random random(1);
  std::vector<std::uint64_t> microseconds;
  for (std::size_t i = 0; i < values_recorded; ++i) {
    microseconds.push_back(static_cast<std::uint64_t>(2000 * std::exp(random.normal())));
  }
  const auto histogram = std::make_shared<Histogram>(60'000'000);
  return [=] {
    for (const std::uint64_t value : microseconds) histogram->record(value);
    keep(*histogram);
  };
}

}  // namespace

std::vector<Benchmark> histogram_benchmarks() { return {{"histogram/record-1000-values", recording_1000_values}}; }

}  // namespace hedgerow::micro
