// How good a load's answers were, beside how late: completeness, estimated recall, and, where it is known what answers
// should hold, recall@k and nDCG@10. Sums and least values alone, however many answers there are. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace hedgerow::lab {

// Of one query's answer. Recall and nDCG of a query that got no answer are 0 where they are known of it, or what failed
// would flatter the mean.
struct AnswerMeasures {
  std::optional<double> completeness;          // from the header, rounded
  std::optional<double> completeness_in_body;  // exact
  std::optional<double> estimated_recall;
  std::optional<double> recall, ndcg_10;

  std::optional<double> best_completeness() const { return completeness_in_body ? completeness_in_body : completeness; }
};

class AnswerQuality {
 public:
  // answered: with status 200. Others count in the means over all queries alone.
  void record(const AnswerMeasures& measures, bool answered);

  // depth: the k of recall@k. Adds `completeness`, `estimated_recall`, `recall` and `ndcg`; the last three only where
  // something is known of them.
  void add_to(nlohmann::ordered_json& out, std::size_t depth) const;
  std::string to_text(std::size_t depth) const;

 private:
  // Of one measure, over answers.
  struct Sums {
    std::uint64_t answers = 0;
    double sum = 0, least = 1;

    void add(double value) {
      ++answers;
      sum += value;
      least = std::min(least, value);
    }
    double mean() const { return answers == 0 ? 0 : sum / static_cast<double>(answers); }
    double mean_over(std::uint64_t queries) const { return queries == 0 ? 0 : sum / static_cast<double>(queries); }
  };

  std::uint64_t queries_ = 0;  // with any end
  Sums completeness_, estimated_recall_, recall_, ndcg_;
  std::uint64_t complete_ = 0, disagreements_ = 0;
  std::uint64_t with_reference_ = 0, judged_ = 0;  // queries, answered or not
  std::uint64_t whole_ = 0;                        // answers with a recall of 1
  // Answers that say that they are complete, and lack documents of the reference: one of the two is wrong.
  std::uint64_t complete_but_less_ = 0;
};

}  // namespace hedgerow::lab
