// What a sweep found, run by run: kept as JSON (all of it) and as CSV (a line for each run, for spreadsheets; without the
// latency curves and the plan). Both are read back. Pure but for read_results.
//
// The CSV has the columns deadline_ms, fanout, policy, faults, repetition, seed, then the counts, kept_up, and the measures
// of figures.hpp; an empty cell is a figure that was not measured.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "lab/sweep/figures.hpp"
#include "lab/sweep/plan.hpp"

namespace hedgerow::lab::sweep {

struct Run {
  std::size_t point = 0;  // of SweepResults::points
  std::uint64_t repetition = 1;
  std::uint64_t seed = 0;
  Figures figures;
};

struct SweepResults {
  std::optional<SweepPlan> plan;  // none where they were read from CSV
  std::string world;              // "live", "simulated"; empty from CSV
  std::string begun;              // "2026-11-30T10:00:00Z"; empty where unknown
  std::vector<SweepPoint> points;
  std::vector<Run> runs;
  bool complete() const;  // every run of the plan is there

  // The latencies of a point, all its repetitions together; empty where none are known.
  Histogram latency_of(std::size_t point) const;
};

nlohmann::ordered_json to_json(const SweepResults& results);
std::string to_csv(const SweepResults& results);

// Errors: input, with what is wrong and where.
result<SweepResults> results_from_json(std::string_view text);
result<SweepResults> results_from_csv(std::string_view text);
// A directory of a sweep (its results.json), or a file: CSV where its name ends so. Errors: also io.
result<SweepResults> read_results(const std::filesystem::path& path);

}  // namespace hedgerow::lab::sweep
