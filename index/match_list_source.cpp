#include "index/match_list_source.hpp"

#include <algorithm>

#include "index/global_weight.hpp"

namespace hedgerow {

MatchListSource::MatchListSource(std::vector<std::pair<Xapian::docid, double>> matches) : matches_(std::move(matches)) {
  for (const auto& [docid, weight] : matches_) highest_weight_ = std::max(highest_weight_, weight);
  highest_weight_ *= bound_slack;
}

void MatchListSource::init(const Xapian::Database&) {
  position_ = 0;
  started_ = false;
  set_maxweight(highest_weight_);
}

void MatchListSource::next(double) {
  if (started_) ++position_;
  started_ = true;
}

void MatchListSource::skip_to(Xapian::docid docid, double) {
  started_ = true;
  const auto from = matches_.begin() + static_cast<std::ptrdiff_t>(position_);
  const auto found = std::lower_bound(from, matches_.end(), docid,
                                      [](const auto& match, Xapian::docid wanted) { return match.first < wanted; });
  position_ = static_cast<std::size_t>(found - matches_.begin());
}

}  // namespace hedgerow
