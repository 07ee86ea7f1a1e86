#include "lab/wanted_answers.hpp"

#include <algorithm>

#include "base/random.hpp"

namespace hedgerow::lab {

namespace {

// Two documents of one query with one hash: less likely than k² in 2^64.
std::vector<std::uint64_t> hashes_of(const std::vector<std::string>& ids, std::size_t depth) {
  std::vector<std::uint64_t> hashes;
  hashes.reserve(std::min(ids.size(), depth));
  for (std::size_t i = 0; i < std::min(ids.size(), depth); ++i) hashes.push_back(stable_hash(ids[i]));
  std::sort(hashes.begin(), hashes.end());
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  return hashes;
}

}  // namespace

void WantedAnswers::set_complete(std::size_t query, const std::vector<std::string>& ids) {
  if (!complete_[query]) ++with_complete_;
  complete_[query] = hashes_of(ids, depth_);
}

std::optional<double> WantedAnswers::recall(std::size_t query, const std::vector<std::string>& ids) const {
  const auto& complete = complete_[query];
  if (!complete || complete->empty()) return std::nullopt;
  std::size_t found = 0;
  for (const auto hash : hashes_of(ids, depth_)) {
    if (std::binary_search(complete->begin(), complete->end(), hash)) ++found;
  }
  return static_cast<double>(found) / static_cast<double>(complete->size());
}

std::optional<double> WantedAnswers::ndcg_10(std::size_t query, const std::vector<std::string>& ids) const {
  const auto& judgements = judgements_[query];
  if (!judgements) return std::nullopt;
  return measure(ids, *judgements).ndcg_10;
}

}  // namespace hedgerow::lab
