#include "lab/advise/hedged_run.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "lab/advise/advice_words.hpp"

namespace hedgerow::lab {

namespace {

constexpr double bearable_difference = 0.15;

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

std::optional<double> difference_of(const HedgedRunCheck::Row& row) {
  if (!row.predicted || !row.measured.time || *row.predicted <= Duration{}) return std::nullopt;
  return to_milliseconds(*row.measured.time) / to_milliseconds(*row.predicted) - 1;
}

}  // namespace

HedgedRunCheck compare_with_run(const AdviceQuestion& question, const Advice& advice, const LatencyCounts& queries) {
  HedgedRunCheck out;
  out.target = question.target;
  out.queries = queries.count();
  const AttemptTail measured(queries, {});
  for (const QuantileAdvice& each : advice.quantiles) {
    out.rows.push_back({each.quantile, each.with.time, time_until(measured, {}, 1 - each.quantile, question.confidence)});
  }
  return out;
}

std::optional<double> HedgedRunCheck::difference() const {
  for (const Row& row : rows) {
    if (std::abs(row.quantile - target) < 1e-9) return difference_of(row);
  }
  return std::nullopt;
}

bool HedgedRunCheck::agrees() const {
  const auto far = difference();
  return far && std::abs(*far) <= bearable_difference;
}

nlohmann::json HedgedRunCheck::to_json() const {
  const auto or_null = [](const auto& value) { return value ? nlohmann::json(*value) : nlohmann::json(); };
  const auto milliseconds = [](const std::optional<Duration>& time) { return time ? nlohmann::json(to_milliseconds(*time)) : nlohmann::json(); };
  nlohmann::json out = {{"queries", queries}, {"tolerance", bearable_difference}, {"difference_at_target", or_null(difference())}, {"agrees", agrees()}};
  out["quantiles"] = nlohmann::json::array();
  for (const Row& row : rows) {
    out["quantiles"].push_back({{"quantile", row.quantile},
                                {"predicted_ms", milliseconds(row.predicted)},
                                {"measured_ms", milliseconds(row.measured.time)},
                                {"measured_at_least_ms", to_milliseconds(row.measured.at_least)},
                                {"measured_at_most_ms", milliseconds(row.measured.at_most)},
                                {"difference", or_null(difference_of(row))}});
  }
  return out;
}

std::string HedgedRunCheck::to_text() const {
  std::string text = "Against " + std::to_string(queries) + " hedged queries\n";
  text += padded("queries", 10) + padded("predicted", 22) + "measured\n";
  for (const Row& row : rows) {
    text += padded(quantile_text(row.quantile), 10) + padded(row.predicted ? milliseconds_text(*row.predicted) : "beyond the samples", 22) +
            estimate_text(row.measured) + "\n";
  }
  const auto far = difference();
  if (!far) return text + "Whether it agrees is not known.\n";
  return text + (agrees() ? "It agrees: " : "It does not agree: ") + percent_text(std::abs(*far)) + (*far > 0 ? " above" : " below") + " what was predicted.\n";
}

}  // namespace hedgerow::lab
