#include "lab/advise/hedged_run.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "lab/advise/advice_words.hpp"
#include "lab/advise/worded.hpp"

namespace hedgerow::lab {

namespace {

std::optional<double> difference_of(const HedgedRunCheck::Row& row) {
  if (!row.predicted.time || !row.measured.time || *row.predicted.time <= Duration{}) return std::nullopt;
  return to_milliseconds(*row.measured.time) / to_milliseconds(*row.predicted.time) - 1;
}

}  // namespace

HedgedRunCheck compare_with_run(const AdviceQuestion& question, const Advice& advice, const LatencyCounts& queries, const LatencyCounts& given_up) {
  HedgedRunCheck out;
  out.target = question.target;
  out.queries = queries.count() + given_up.count();
  const AttemptTail measured(queries, given_up);
  for (const QuantileAdvice& each : advice.quantiles) {
    out.rows.push_back({each.quantile, each.with, time_until(measured, {}, 1 - each.quantile, question.confidence)});
  }
  return out;
}

const HedgedRunCheck::Row* HedgedRunCheck::at_target() const {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return std::abs(row.quantile - target) < 1e-9; });
  return found == rows.end() ? nullptr : &*found;
}

std::optional<double> HedgedRunCheck::difference() const {
  const Row* row = at_target();
  return row ? difference_of(*row) : std::nullopt;
}

bool HedgedRunCheck::beyond_chance() const {
  const Row* row = at_target();
  if (!row) return false;
  const auto before = [](const TimeEstimate& one, const TimeEstimate& other) { return one.at_most && *one.at_most < other.at_least; };
  return before(row->predicted, row->measured) || before(row->measured, row->predicted);
}

bool HedgedRunCheck::agrees() const {
  const auto far = difference();
  return far && std::abs(*far) <= bearable_difference;
}

nlohmann::json HedgedRunCheck::to_json() const {
  const auto or_null = [](const auto& value) { return value ? nlohmann::json(*value) : nlohmann::json(); };
  const auto milliseconds = [](const std::optional<Duration>& time) { return time ? nlohmann::json(to_milliseconds(*time)) : nlohmann::json(); };
  nlohmann::json out = {{"queries", queries}, {"tolerance", bearable_difference}, {"difference_at_target", or_null(difference())}, {"agrees", agrees()}, {"beyond_chance", beyond_chance()}};
  out["quantiles"] = nlohmann::json::array();
  for (const Row& row : rows) {
    out["quantiles"].push_back({{"quantile", row.quantile},
                                {"predicted_ms", milliseconds(row.predicted.time)},
                                {"predicted_at_least_ms", to_milliseconds(row.predicted.at_least)},
                                {"predicted_at_most_ms", milliseconds(row.predicted.at_most)},
                                {"measured_ms", milliseconds(row.measured.time)},
                                {"measured_at_least_ms", to_milliseconds(row.measured.at_least)},
                                {"measured_at_most_ms", milliseconds(row.measured.at_most)},
                                {"difference", or_null(difference_of(row))}});
  }
  return out;
}

std::string HedgedRunCheck::to_text() const {
  std::string text = "Against " + std::to_string(queries) + " hedged queries\n";
  text += worded("%-9s %-44s %s\n", "queries", "predicted", "measured");
  for (const Row& row : rows) {
    text += worded("%-9s %-44s %s\n", quantile_text(row.quantile).c_str(), estimate_text(row.predicted).c_str(), estimate_text(row.measured).c_str());
  }
  const auto far = difference();
  if (!far) return text + "Whether it agrees is not known.\n";
  text += (agrees() ? "It agrees: " : "It does not agree: ") + percent_text(std::abs(*far)) + (*far > 0 ? " above" : " below") + " what was predicted";
  return text + (beyond_chance() ? ", and more than chance explains.\n" : ", which may be chance.\n");
}

}  // namespace hedgerow::lab
