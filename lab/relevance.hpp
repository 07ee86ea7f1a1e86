// Measures of a ranking against judgements, as trec_eval 9 defines them. Pure.
//
// A judgement is a whole number: above 0 is relevant, and for nDCG the number is the gain; documents that nobody judged,
// and those with 0 or less, are not relevant. A document that comes a second time in a ranking counts as not relevant
// there (trec_eval refuses such a run).
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace hedgerow::lab {

// Of one query: document to grade.
using Judgements = std::unordered_map<std::string, int>;

struct Measures {
  double ndcg_10 = 0;     // trec_eval's ndcg_cut_10
  double average_precision = 0;  // map, of the documents that the ranking holds
  double recall_100 = 0;  // recall_100
  double precision_10 = 0;       // P_10
  double reciprocal_rank = 0;    // recip_rank

  friend bool operator==(const Measures&, const Measures&) = default;
};

// The ranking's documents, best first. All zero for an empty ranking, and where nothing is relevant.
//
//   ndcg_10  sum over ranks i up to 10 of grade / log2(i + 1), through the same sum over the judged grades sorted
//            downwards
//   average_precision  the mean over all relevant documents of the share of relevant ones down to its rank; 0 for those
//            that the ranking does not hold
//   recall_100  relevant ones down to rank 100, through all relevant ones
//   precision_10  relevant ones down to rank 10, through 10, however short the ranking is
//   reciprocal_rank  1 / rank of the first relevant one
Measures measure(const std::vector<std::string>& ranking, const Judgements& judgements);

// The mean over so many queries, of which those that are not in the list count 0; all zero without queries.
Measures mean_of(const std::vector<Measures>& measured, std::size_t queries);

}  // namespace hedgerow::lab
