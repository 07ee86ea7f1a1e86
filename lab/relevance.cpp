#include "lab/relevance.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <unordered_set>

namespace hedgerow::lab {

namespace {

constexpr std::size_t ndcg_depth = 10, precision_depth = 10, recall_depth = 100;

double discounted(int grade, std::size_t rank) { return grade / std::log2(static_cast<double>(rank + 1)); }

double ideal_gain(const Judgements& judgements) {
  std::vector<int> grades;
  for (const auto& [document, grade] : judgements) {
    if (grade > 0) grades.push_back(grade);
  }
  std::sort(grades.begin(), grades.end(), std::greater());
  double sum = 0;
  for (std::size_t i = 0; i < std::min(ndcg_depth, grades.size()); ++i) sum += discounted(grades[i], i + 1);
  return sum;
}

}  // namespace

Measures measure(const std::vector<std::string>& ranking, const Judgements& judgements) {
  const auto relevant = static_cast<double>(
      std::count_if(judgements.begin(), judgements.end(), [](const auto& judgement) { return judgement.second > 0; }));
  Measures measures;
  if (relevant == 0) return measures;

  std::unordered_set<std::string_view> seen;
  double gain = 0, precisions = 0, found = 0;
  for (std::size_t rank = 1; rank <= ranking.size(); ++rank) {
    const auto judgement = judgements.find(ranking[rank - 1]);
    if (judgement == judgements.end() || judgement->second <= 0) continue;
    if (!seen.insert(judgement->first).second) continue;
    if (found == 0) measures.reciprocal_rank = 1 / static_cast<double>(rank);
    ++found;
    precisions += found / static_cast<double>(rank);
    if (rank <= ndcg_depth) gain += discounted(judgement->second, rank);
    if (rank <= precision_depth) measures.precision_10 = found / precision_depth;
    if (rank <= recall_depth) measures.recall_100 = found / relevant;
  }
  measures.ndcg_10 = gain / ideal_gain(judgements);
  measures.average_precision = precisions / relevant;
  return measures;
}

Measures mean_of(const std::vector<Measures>& measured, std::size_t queries) {
  Measures mean;
  if (queries == 0) return mean;
  for (double Measures::*value : {&Measures::ndcg_10, &Measures::average_precision, &Measures::recall_100,
                                  &Measures::precision_10, &Measures::reciprocal_rank}) {
    double sum = 0;
    for (const Measures& one : measured) sum += one.*value;
    mean.*value = sum / static_cast<double>(queries);
  }
  return mean;
}

}  // namespace hedgerow::lab
