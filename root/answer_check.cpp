#include "root/answer_check.hpp"

#include <cmath>

#include "index/ranking.hpp"

namespace hedgerow::root {

result<void> check_answer(const wire::PartitionAnswer& answer, const AnswerBounds& bounds) {
  const auto wrong = [&](const std::string& what) {
    return Error{Errc::protocol, "an answer for partition " + std::to_string(answer.partition.value) + " with " + what};
  };
  const std::size_t hits = answer.documents.size();
  if (hits != answer.scores.size()) return wrong("documents and scores that differ in number");
  if (hits > bounds.most_hits) return wrong("more hits than were asked for");
  if (hits > bounds.partition_documents) return wrong("more hits than the partition has documents");
  // Where it is an estimate, it may well be below the hits that are told.
  if (answer.matches > bounds.partition_documents || (answer.matches_exact && answer.matches < hits)) {
    return wrong("an impossible number of matches");
  }
  for (std::size_t i = 0; i < hits; ++i) {
    if (answer.documents[i] == 0 || answer.documents[i] > bounds.collection_documents) {
      return wrong("a document that the collection does not have");
    }
    if (!std::isfinite(answer.scores[i]) || answer.scores[i] < 0) return wrong("a score that is none");
    if (i == 0) continue;
    const ScoredDocument before{DocumentNumber{answer.documents[i - 1]}, answer.scores[i - 1]};
    const ScoredDocument here{DocumentNumber{answer.documents[i]}, answer.scores[i]};
    if (!ranks_before(before, here)) return wrong("hits that are out of order");
  }
  return {};
}

}  // namespace hedgerow::root
