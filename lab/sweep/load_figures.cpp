#include "lab/sweep/load_figures.hpp"

#include <nlohmann/json.hpp>

namespace hedgerow::lab::sweep {

namespace {

std::optional<double> number_in(const nlohmann::ordered_json& json, const char* section, const char* name) {
  const bool there = json.contains(section) && json[section].is_object() && json[section].contains(name) && json[section][name].is_number();
  if (!there) return std::nullopt;
  return json[section][name].get<double>();
}

}  // namespace

Figures figures_of(const LoadFrame& frame, const LoadReport& report) {
  const auto json = report.to_json(frame);
  Figures figures;
  const auto status = [&](const char* code) { return json["status"].value(code, std::uint64_t{0}); };
  figures.queries = report.recorded();
  figures.answered = status("200");
  figures.refused = status("503");
  figures.late = status("504");
  figures.failed = figures.queries - figures.answered - figures.refused - figures.late;
  if (const auto behind = report.could_not_keep_up(frame)) {
    figures.kept_up = false;
    figures.not_kept_up = *behind;
  }
  set_latencies(figures, report.latency());
  // A query that got nothing got nothing of the documents, or a deadline that only the quickest meet would look good.
  const auto told = number_in(json, "completeness", "answers").value_or(0);
  if (figures.queries > 0 && (told > 0 || figures.answered == 0)) {
    figures.completeness = number_in(json, "completeness", "mean").value_or(0) * told / static_cast<double>(figures.queries);
  }
  figures.recall = number_in(json, "recall", "mean_of_all_queries");
  figures.ndcg = number_in(json, "ndcg", "mean_of_all_queries");
  figures.extra_attempts = number_in(json, "attempts", "extra_share");
  return figures;
}

}  // namespace hedgerow::lab::sweep
