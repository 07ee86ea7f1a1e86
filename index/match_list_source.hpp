// The finished matches of a part of a query, as a posting list for the rest of it.
//
// Xapian 1.4.22 goes wrong where a phrase or an AND stands below an OR (OrPostList::check guesses the next position of a
// part that did not match, and skip_to believes the guess). So such parts are matched by themselves first, completely,
// and take part as a list of documents with weights, which knows no guesses and has the tightest possible bound.
#pragma once

#include <xapian.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace hedgerow {

class MatchListSource final : public Xapian::PostingSource {
 public:
  // In rising order of docids; weights of at least 0.
  explicit MatchListSource(std::vector<std::pair<Xapian::docid, double>> matches);

  Xapian::doccount get_termfreq_min() const override { return size(); }
  Xapian::doccount get_termfreq_est() const override { return size(); }
  Xapian::doccount get_termfreq_max() const override { return size(); }
  double get_weight() const override { return matches_[position_].second; }
  void init(const Xapian::Database&) override;
  void next(double) override;
  void skip_to(Xapian::docid docid, double) override;
  bool at_end() const override { return started_ && position_ == matches_.size(); }
  Xapian::docid get_docid() const override { return matches_[position_].first; }
  std::string get_description() const override { return "MatchList"; }

 private:
  Xapian::doccount size() const { return static_cast<Xapian::doccount>(matches_.size()); }

  const std::vector<std::pair<Xapian::docid, double>> matches_;
  double highest_weight_ = 0;
  std::size_t position_ = 0;
  bool started_ = false;
};

}  // namespace hedgerow
