#include "lab/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace hedgerow::lab {

namespace {

using nlohmann::ordered_json;

// Nanoseconds up to ten minutes.
constexpr std::uint64_t longest_took = 600'000'000'000;

double to_six_places(double value) { return std::round(value * 1e6) / 1e6; }

struct NamedMeasure {
  const char* name;
  const char* key;
  double Measures::*value;
};
constexpr NamedMeasure named_measures[] = {{"nDCG@10", "ndcg_10", &Measures::ndcg_10},
                                           {"MAP", "map", &Measures::average_precision},
                                           {"recall@100", "recall_100", &Measures::recall_100},
                                           {"P@10", "precision_10", &Measures::precision_10},
                                           {"MRR", "mrr", &Measures::reciprocal_rank}};

std::string count_text(std::uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

}  // namespace

Evaluation::Evaluation(std::string source, std::size_t depth)
    : source_(std::move(source)), depth_(depth), latency_(longest_took) {}

void Evaluation::record(const TestQuery& query, const QueryOutcome& outcome, const Qrels& qrels) {
  const auto judgements = qrels.find(query.id);
  if (judgements == qrels.end()) return;
  ++judged_;
  if (!outcome.failure.empty()) {
    ++failed_;
    ++failures_[outcome.failure];
    return;
  }
  latency_.record(static_cast<std::uint64_t>(std::max<Duration::rep>(0, outcome.latency.count())));
  if (outcome.completeness) {
    ++with_completeness_;
    completeness_sum_ += *outcome.completeness;
    completeness_min_ = std::min(completeness_min_, *outcome.completeness);
    if (*outcome.completeness >= 1) ++complete_;
  }
  if (outcome.hits.empty()) {
    ++without_hits_;
    return;
  }
  std::vector<std::string> ranking;
  ranking.reserve(outcome.hits.size());
  for (const RankedDocument& hit : outcome.hits) ranking.push_back(hit.id);
  measured_.push_back(measure(ranking, judgements->second));
}

void Evaluation::set_unasked(std::uint64_t without_judgements, std::uint64_t without_text) {
  without_judgements_ = without_judgements;
  without_text_ = without_text;
}

ordered_json Evaluation::to_json() const {
  const Measures mean = this->mean();
  ordered_json measures;
  for (const auto& [name, key, value] : named_measures) measures[key] = to_six_places(mean.*value);
  ordered_json out{{"source", source_},
                   {"depth", depth_},
                   {"queries",
                    {{"judged", judged_},
                     {"answered", judged_ - failed_},
                     {"failed", failed_},
                     {"without_hits", without_hits_},
                     {"without_judgements", without_judgements_},
                     {"judged_without_text", without_text_}}},
                   {"measures", std::move(measures)},
                   {"failures", failures_}};
  out["completeness"] = {{"answers", with_completeness_}};
  if (with_completeness_ > 0) {
    const auto answers = static_cast<double>(with_completeness_);
    out["completeness"]["mean"] = to_six_places(completeness_sum_ / answers);
    out["completeness"]["min"] = completeness_min_;
    out["completeness"]["complete_share"] = to_six_places(static_cast<double>(complete_) / answers);
  }
  out["latency_ms"] = {{"count", latency_.count()}};
  if (latency_.count() > 0) {
    const auto at = [&](double quantile) { return to_six_places(static_cast<double>(latency_.value_at_quantile(quantile)) / 1e6); };
    out["latency_ms"].update({{"mean", to_six_places(latency_.mean() / 1e6)},
                              {"p50", at(0.5)},
                              {"p90", at(0.9)},
                              {"p99", at(0.99)},
                              {"max", to_six_places(static_cast<double>(latency_.max()) / 1e6)}});
  }
  return out;
}

std::string Evaluation::to_text() const {
  char line[256];
  std::string text = source_ + ", the first " + std::to_string(depth_) + " hits of each query\n";
  text += count_text(judged_, "judged query", "judged queries") + ": " + std::to_string(judged_ - failed_) + " answered, " +
          std::to_string(failed_) + " failed, " + std::to_string(without_hits_) + " without hits\n";
  for (const auto& [failure, count] : failures_) text += "failed, " + failure + ": " + std::to_string(count) + "\n";
  if (without_judgements_ > 0) {
    text += "passed over, without judgements: " + count_text(without_judgements_, "query", "queries") + "\n";
  }
  if (without_text_ > 0) {
    text += "left out, judged but not among the queries: " + count_text(without_text_, "query", "queries") + "\n";
  }
  text += "\n";
  const Measures mean = this->mean();
  for (const auto& [name, key, value] : named_measures) {
    std::snprintf(line, sizeof line, "%-13s %.4f\n", name, mean.*value);
    text += line;
  }
  if (with_completeness_ > 0) {
    const auto answers = static_cast<double>(with_completeness_);
    std::snprintf(line, sizeof line, "completeness  mean %.4f, least %.4f, %llu of %llu answers complete\n",
                  completeness_sum_ / answers, completeness_min_, static_cast<unsigned long long>(complete_),
                  static_cast<unsigned long long>(with_completeness_));
    text += line;
  }
  if (latency_.count() > 0) {
    const auto at = [&](double quantile) { return static_cast<double>(latency_.value_at_quantile(quantile)) / 1e6; };
    std::snprintf(line, sizeof line, "latency       p50 %.1f ms, p90 %.1f ms, p99 %.1f ms, longest %.1f ms\n", at(0.5),
                  at(0.9), at(0.99), static_cast<double>(latency_.max()) / 1e6);
    text += line;
  }
  return text;
}

}  // namespace hedgerow::lab
