#include "lab/sweep/figures.hpp"

#include <array>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace hedgerow::lab::sweep {

namespace {

constexpr std::uint64_t longest = 600'000'000'000;  // nanoseconds
constexpr int curve_bits = 7;                       // 1 %
constexpr std::uint64_t least_beyond = 2;

std::optional<double> quantile_ms(const Histogram& nanoseconds, double quantile) {
  const double beyond = static_cast<double>(nanoseconds.count()) * (1 - quantile);
  if (beyond < static_cast<double>(least_beyond) * (1 - 1e-9)) return std::nullopt;
  return static_cast<double>(nanoseconds.value_at_quantile(quantile)) / 1e6;
}

using Better = Measure::Better;
using Kind = Measure::Kind;
constexpr double histogram_step = 1.0 / 1024;
constexpr double counted = 1e-4;

constexpr std::array<Measure, 10> all_measures{{
    {"p50_ms", "p50 (ms)", Better::less, Kind::time, [](const Figures& f) { return f.p50_ms; }, histogram_step},
    {"p90_ms", "p90 (ms)", Better::less, Kind::time, [](const Figures& f) { return f.p90_ms; }, histogram_step},
    {"p99_ms", "p99 (ms)", Better::less, Kind::time, [](const Figures& f) { return f.p99_ms; }, histogram_step},
    {"p99_9_ms", "p99.9 (ms)", Better::less, Kind::time, [](const Figures& f) { return f.p99_9_ms; }, histogram_step},
    {"max_ms", "longest (ms)", Better::less, Kind::time, [](const Figures& f) { return f.max_ms; }, histogram_step},
    {"completeness", "completeness", Better::more, Kind::share, [](const Figures& f) { return f.completeness; }, counted},
    {"recall", "recall@k", Better::more, Kind::share, [](const Figures& f) { return f.recall; }, counted},
    {"ndcg", "nDCG@10", Better::more, Kind::share, [](const Figures& f) { return f.ndcg; }, counted},
    {"answered_share", "answered", Better::more, Kind::share, [](const Figures& f) { return f.answered_share(); }, counted},
    {"extra_attempts", "extra attempts", Better::less, Kind::share, [](const Figures& f) { return f.extra_attempts; }, counted},
}};

}  // namespace

std::optional<double> Figures::answered_share() const {
  if (queries == 0) return std::nullopt;
  return static_cast<double>(answered) / static_cast<double>(queries);
}

Histogram curve_histogram() { return Histogram(longest, curve_bits); }

void set_latencies(Figures& figures, const Histogram& nanoseconds) {
  figures.p50_ms = quantile_ms(nanoseconds, 0.5);
  figures.p90_ms = quantile_ms(nanoseconds, 0.9);
  figures.p99_ms = quantile_ms(nanoseconds, 0.99);
  figures.p99_9_ms = quantile_ms(nanoseconds, 0.999);
  figures.max_ms.reset();
  if (nanoseconds.count() > 0) figures.max_ms = static_cast<double>(nanoseconds.max()) / 1e6;
  figures.latency = curve_histogram();
  for (const auto& bucket : nanoseconds.buckets()) figures.latency->record(bucket.highest, bucket.count);
}

std::span<const Measure> measures() { return all_measures; }

const Measure& measure(const char* key) {
  for (const Measure& each : all_measures) {
    if (std::strcmp(each.key, key) == 0) return each;
  }
  assert(false);
  return all_measures[0];
}

std::string figure_text(const Measure& measure, double value) {
  char text[64];
  if (measure.kind == Measure::Kind::share) {
    std::snprintf(text, sizeof(text), "%.2f %%", value * 100);
  } else {
    // Three digits that mean something.
    std::snprintf(text, sizeof(text), value >= 100 ? "%.0f ms" : value >= 10 ? "%.1f ms" : "%.2f ms", value);
  }
  return text;
}

}  // namespace hedgerow::lab::sweep
