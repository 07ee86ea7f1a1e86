// From the results of all rounds to the figures that are compared: medians, ratios, and whether engines agree. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/peers/results.hpp"

namespace hedgerow::peers {

// The middle one, or the mean of the two in the middle; nothing of nothing.
std::optional<double> median(std::vector<double> values);

// One engine in one part of the benchmark, over all rounds.
class Rounds {
 public:
  Rounds(const std::vector<LoadRun>& loads, std::string_view engine, std::string_view part);

  bool empty() const { return runs_.empty(); }
  // Whether the engine answered nothing at all in more than half of the rounds.
  bool failed() const;
  std::string first_error() const;
  double rate() const;
  // Medians over the rounds that have the figure; nothing where the engine failed.
  std::optional<double> figure(std::string_view name) const;
  std::optional<double> share(std::string_view name) const;

 private:
  std::optional<double> median_of(const std::function<std::optional<double>(const LoadRun&)>& value) const;
  std::vector<const LoadRun*> runs_;  // in the order of the results
};

// How an engine's answers stand to another's, over the queries that both have answered.
struct Agreement {
  std::size_t compared = 0;
  double same_count = 0;  // the share of queries with as many hits
  double shared_ids = 0;  // the share of the other's hits that this one has as well
  double same_order = 0;  // the share of queries with the same ids in the same order
};
Agreement agreement(const FoundIds& one, const FoundIds& other);

}  // namespace hedgerow::peers
