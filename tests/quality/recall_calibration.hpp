// How honest estimated_recall is, and what it is worth: partial answers made by leaving partitions out, the estimate
// against the share of the true top 10 that is there.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace hedgerow::test {

struct RecallBin {
  std::size_t answers = 0;
  double estimated = 0, measured = 0;  // means
};

struct RecallCalibration {
  std::size_t answers = 0;
  std::array<RecallBin, 5> bins;  // of the estimate: up to 0.2, 0.4, 0.6, 0.8 and 1
  double error = 0;               // mean absolute error of the estimate
  double error_of_documents = 0;  // of the share of documents searched, taken for an estimate
  double slowest_milliseconds = 0, mean_milliseconds = 0;  // what an estimate takes, statistics and all
};

// Each query so many times, each time with another random set of partitions missing: between one and all but one.
// Queries that match nothing or cannot be planned are left out. Throws where the index cannot be read.
RecallCalibration calibrate_recall(const std::filesystem::path& index, const std::vector<std::string>& queries,
                                   std::size_t times, std::uint64_t seed);

// A few lines for people.
std::string to_text(const RecallCalibration& calibration);

}  // namespace hedgerow::test
