// What the answers to a load's queries should hold: the complete answer's documents, and judgements of people. So that a
// load can tell, beside how late answers are, how much of the good they lack (recall@k, nDCG@10).
//
// Built once, then shared by many runs; read from any thread. Bounded: documents are kept as 8 bytes each.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "lab/relevance.hpp"

namespace hedgerow::lab {

class WantedAnswers {
 public:
  // Queries are named by their place in the load's list. depth: how many hits of an answer count (the k of recall@k).
  WantedAnswers(std::size_t queries, std::size_t depth) : depth_(depth), complete_(queries), judgements_(queries) {}

  // The complete answer's documents, best first; those beyond the depth are left out.
  void set_complete(std::size_t query, const std::vector<std::string>& ids);
  void set_judgements(std::size_t query, Judgements judgements) { judgements_[query] = std::move(judgements); }

  std::size_t depth() const { return depth_; }
  bool any_complete() const { return with_complete_ > 0; }
  bool wants_documents(std::size_t query) const { return complete_[query].has_value() || judgements_[query].has_value(); }

  // The share of the complete top k that is among these first k, each counted once. nullopt: the query's complete answer
  // is not known, or holds nothing.
  std::optional<double> recall(std::size_t query, const std::vector<std::string>& ids) const;
  // As lab/relevance has it. nullopt: nobody judged the query.
  std::optional<double> ndcg_10(std::size_t query, const std::vector<std::string>& ids) const;

  // All that may be kept: queries times depth. Beyond, prepare_load refuses.
  static constexpr std::uint64_t most_documents = 20'000'000;

 private:
  std::size_t depth_;
  std::vector<std::optional<std::vector<std::uint64_t>>> complete_;  // hashes of ids, rising
  std::vector<std::optional<Judgements>> judgements_;
  std::size_t with_complete_ = 0;
};

}  // namespace hedgerow::lab
