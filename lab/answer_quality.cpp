#include "lab/answer_quality.hpp"

#include <cmath>
#include <cstdio>

namespace hedgerow::lab {

using nlohmann::ordered_json;

void AnswerQuality::record(const AnswerMeasures& measures, bool answered) {
  ++queries_;
  if (measures.recall) ++with_reference_;
  if (measures.ndcg_10) ++judged_;
  // An error says in its header that it is of no completeness at all, and is counted by its status.
  if (!answered) return;
  if (measures.estimated_recall) estimated_recall_.add(*measures.estimated_recall);
  if (measures.ndcg_10) ndcg_.add(*measures.ndcg_10);
  if (measures.recall) {
    recall_.add(*measures.recall);
    if (*measures.recall >= 1) ++whole_;
  }
  const auto completeness = measures.best_completeness();
  if (!completeness) return;
  completeness_.add(*completeness);
  if (*completeness >= 1) {
    ++complete_;
    if (measures.recall && *measures.recall < 1) ++complete_but_less_;
  }
  const bool both = measures.completeness_in_body && measures.completeness;
  if (both && std::abs(*measures.completeness_in_body - *measures.completeness) > 1e-3) ++disagreements_;
}

void AnswerQuality::add_to(ordered_json& out, std::size_t depth) const {
  out["completeness"] = {{"answers", completeness_.answers}};
  if (completeness_.answers > 0) {
    const double complete = static_cast<double>(complete_);
    out["completeness"]["mean"] = completeness_.mean();
    out["completeness"]["min"] = completeness_.least;
    out["completeness"]["complete_share"] = complete / static_cast<double>(completeness_.answers);
    out["completeness"]["complete_share_of_all_queries"] = complete / static_cast<double>(queries_);
    out["completeness"]["header_and_body_differ"] = disagreements_;
  }
  if (estimated_recall_.answers > 0) {
    out["estimated_recall"] = {{"answers", estimated_recall_.answers}, {"mean", estimated_recall_.mean()}, {"min", estimated_recall_.least}};
  }
  if (with_reference_ > 0) {
    out["recall"] = {{"k", depth},
                     {"answers", recall_.answers},
                     {"mean", recall_.mean()},
                     {"min", recall_.answers > 0 ? recall_.least : 0},
                     {"whole_share", recall_.answers > 0 ? static_cast<double>(whole_) / static_cast<double>(recall_.answers) : 0},
                     {"mean_of_all_queries", recall_.mean_over(with_reference_)},
                     {"complete_but_less", complete_but_less_}};
  }
  if (judged_ > 0) {
    out["ndcg"] = {{"k", 10},
                   {"queries", judged_},
                   {"answers", ndcg_.answers},
                   {"mean", ndcg_.mean()},
                   {"mean_of_all_queries", ndcg_.mean_over(judged_)}};
  }
}

std::string AnswerQuality::to_text(std::size_t depth) const {
  char line[256];
  std::string text;
  if (completeness_.answers > 0) {
    const double complete = 100 * static_cast<double>(complete_);
    std::snprintf(line, sizeof line, "completeness: mean %.6f, least %.6f, %.4f %% of the answers complete (%.4f %% of all queries)\n",
                  completeness_.mean(), completeness_.least, complete / static_cast<double>(completeness_.answers),
                  complete / static_cast<double>(queries_));
    text += line;
  }
  if (with_reference_ > 0) {
    std::snprintf(line, sizeof line, "recall@%zu: mean %.4f, least %.4f (%.4f over all queries)", depth, recall_.mean(),
                  recall_.answers > 0 ? recall_.least : 0, recall_.mean_over(with_reference_));
    text += line;
    if (estimated_recall_.answers > 0) {
      std::snprintf(line, sizeof line, "; the answers' own estimate %.4f", estimated_recall_.mean());
      text += line;
    }
    text += "\n";
  }
  if (judged_ > 0) {
    std::snprintf(line, sizeof line, "nDCG@10: mean %.4f (%.4f over all judged queries)\n", ndcg_.mean(), ndcg_.mean_over(judged_));
    text += line;
  }
  if (disagreements_ > 0) text += "header and body disagree on completeness: " + std::to_string(disagreements_) + " answers\n";
  if (complete_but_less_ > 0) {
    text += std::to_string(complete_but_less_) +
            " answers say that they are complete and lack documents of the reference: is it of the same generation?\n";
  }
  return text;
}

}  // namespace hedgerow::lab
