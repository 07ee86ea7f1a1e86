// The expected share of the complete top k that a partial answer holds. Pure.
//
// Intuition: which partition holds the best documents nobody knows before it is asked, but much is known of where they
// can be: the collection's statistics tell in how many documents of each partition every word of the query stands, and
// in how many titles (title words count several times). And the scores of the hits that are there tell what a document
// must have to be among the best: all words, or the rare one, or any.
//
// Up to four words: each document is of one kind, which says of every word whether it is absent, in the text, or in the
// title. Words stand independently of each other within a partition, so from document frequencies follows how many
// documents of each kind a partition holds, and which share of a kind the partitions that answered hold. A kind's scores
// lie around what BM25 gives a document of average length with one occurrence (in the text), or one and the title's
// weight. So every hit says how likely it is of which kind, and with that how many documents like it the whole
// collection has for each one that was seen; walking down the hits until these add up to k tells how many of the true top
// k were seen (Horvitz and Thompson, 1952).
//
// More words: kinds are too many. Then partitions are weighed by how many documents they hold that score like the last
// of the true top k, in the large-deviation approximation: with g the score of a word and the tilt θ at which the mean
// score of the collection's documents equals that score, weight(p) = N(p) · (Π over words (1 + Σ over kinds r(p) (e^(θ g)
// - 1)) - 1), r(p) the share of p's documents of that kind.
//
// Limits: filters and excluded words are not looked at; how words attract each other neither. What it is worth is
// measured in docs/policies.md.
#pragma once

#include <cstdint>
#include <vector>

#include "index/query.hpp"
#include "index/statistics.hpp"
#include "root/answer.hpp"
#include "root/merge.hpp"

namespace hedgerow::root {

// Of one word of the query, by partition.
struct WordSpread {
  double idf = 0;
  std::vector<std::uint32_t> documents;  // that hold it
  std::vector<std::uint32_t> titles;     // that hold it in their title
};

struct RecallQuestion {
  std::vector<WordSpread> words;
  std::vector<std::uint64_t> partition_documents;
  std::vector<bool> answered;  // by partition
  std::vector<double> scores;  // of the hits that are there, best first, at most k
  std::size_t k = 10;
  // Scores are idf times these: a word in the text, a word in the title.
  double text_score = 1;
  double title_score = 1.7;
};

// From 0 to 1; 1 where every partition answered.
double estimated_recall(const RecallQuestion& question);

// The question for an answer to this plan: looks the words' spread up, unless nothing is missing. hits: best first, at
// most k.
RecallQuestion recall_question(const QueryPlan& plan, const CollectionStatistics& statistics, const Manifest& manifest,
                               const Completeness& completeness, const std::vector<MergedHit>& hits, std::size_t k);

}  // namespace hedgerow::root
