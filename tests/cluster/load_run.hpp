// One run of the laboratory's load generator within a test, and its figures.
#pragma once

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <future>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lab/load.hpp"
#include "waiting.hpp"

namespace hedgerow::test {

// The upper one of two; there is at least one.
inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct LoadFigures {
  nlohmann::json report;
  double seconds = 0;       // in which queries were intended to be sent (closed loop: until the last answer)
  std::uint64_t asked = 0;
  std::uint64_t answered = 0, complete = 0;  // with 200; with every document of the collection
  std::uint64_t refused = 0, late = 0, failed = 0;  // 503; 504; transport errors
  double work = 0;          // answers, each by its share of the collection
  double p50 = 0, p99 = 0;  // of answers, in ms, from the intended instant
  double p99_others = 0;    // of refusals and other errors
  double complete_per_second() const { return static_cast<double>(complete) / seconds; }
  double work_per_second() const { return work / seconds; }
};

inline LoadFigures figures_of(const nlohmann::json& report) {
  LoadFigures figures;
  figures.report = report;
  const bool open = report["loop"] == "open";
  figures.seconds = report[open ? "measured_seconds" : "elapsed_seconds"];
  figures.asked = report["queries"]["intended"];
  figures.failed = report["queries"]["failed"];
  const auto status = [&](const char* code) { return report["status"].value(code, std::uint64_t{0}); };
  figures.answered = status("200");
  figures.refused = status("503");
  figures.late = status("504");
  const auto& completeness = report["completeness"];
  const auto with = completeness["answers"].get<double>();
  if (with > 0) {
    figures.complete = static_cast<std::uint64_t>(completeness["complete_share"].get<double>() * with + 0.5);
    figures.work = completeness["mean"].get<double>() * with;
  }
  const auto milliseconds = [&](const char* which, const char* quantile) {
    const auto& histogram = report[which];
    return histogram.is_object() && histogram.contains(quantile) && histogram[quantile].is_number() ? histogram[quantile].get<double>() : 0.0;
  };
  figures.p50 = milliseconds("latency_ms", "p50");
  figures.p99 = milliseconds("latency_ms", "p99");
  figures.p99_others = milliseconds("latency_of_others_ms", "p99");
  return figures;
}

// Runs to the end. address as TestCluster gives it.
inline LoadFigures run_load(const std::string& address, lab::LoadSettings settings) {
  settings.target = "http://" + address;
  boost::asio::io_context context(1);
  lab::Load load(context, std::move(settings));
  std::optional<result<lab::LoadResult>> end;
  boost::asio::co_spawn(context, load.run(), [&](std::exception_ptr problem, result<lab::LoadResult> value) {
    if (problem) std::rethrow_exception(problem);
    end = std::move(value);
  });
  context.run();
  if (end->has_error()) throw std::runtime_error(to_string(end->error()));
  return figures_of(nlohmann::json::parse((**end).report.to_json((**end).frame).dump()));
}

inline std::future<LoadFigures> load_in_background(const std::string& address, lab::LoadSettings settings) {
  return std::async(std::launch::async, [address, settings = std::move(settings)]() mutable { return run_load(address, std::move(settings)); });
}

}  // namespace hedgerow::test
