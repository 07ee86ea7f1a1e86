// Brings the score to beat into force at the one moment at which the engine can bear it.
//
// Placeholders with one given score stand at docids 1 to count, before the front guard. OR-ed to a query whose hits are
// asked count at a time, they fill the engine's heap, so that their score is the score to beat from the front guard on,
// where all posting lists of the query stand together (see guard.hpp). Enquire::set_cutoff would have it in force before
// the lists are started, and the first full heap wherever the lists happen to stand: both lose documents.
//
// Owned by the caller, for one match at a time; it must outlive the Enquire.
#pragma once

#include <xapian.h>

#include <algorithm>
#include <string>

namespace hedgerow {

class PlaceholderSource final : public Xapian::PostingSource {
 public:
  PlaceholderSource(Xapian::doccount count, double score) : count_(count), score_(score) {}

  Xapian::doccount get_termfreq_min() const override { return count_; }
  Xapian::doccount get_termfreq_est() const override { return count_; }
  Xapian::doccount get_termfreq_max() const override { return count_; }
  double get_weight() const override { return score_; }
  void init(const Xapian::Database&) override {
    current_ = 0;
    set_maxweight(score_);
  }
  void next(double) override { ++current_; }
  void skip_to(Xapian::docid docid, double) override { current_ = std::max(current_, docid); }
  bool at_end() const override { return current_ > count_; }
  Xapian::docid get_docid() const override { return current_; }
  std::string get_description() const override { return "Placeholders"; }

 private:
  const Xapian::doccount count_;
  const double score_;
  Xapian::docid current_ = 0;
};

}  // namespace hedgerow
