// The documents of a partition whose value in a slot lies in a range, as a posting list that scores nothing.
//
// In place of Xapian's own: the guards, which have no value, must match (see guard.hpp), and an OR of Xapian's list with
// the guards' term is among the shapes whose matches are guessed (see MatchListSource). This one stands on matches only.
// It also ends the match once the stop flag is set: where little matches, nothing else would look at it.
#pragma once

#include <xapian.h>

#include <atomic>
#include <string>

namespace hedgerow {

class RangeSource final : public Xapian::PostingSource {
 public:
  struct Range {
    Xapian::valueno slot = 0;
    std::string begin;  // empty: no lowest value
    std::string end;    // empty: no highest value
  };

  // back: the docid of the last guard. estimate: how many documents may be in the range. stop may be null.
  RangeSource(Range range, Xapian::docid back, Xapian::doccount estimate, const std::atomic<bool>* stop)
      : range_(std::move(range)), back_(back), estimate_(estimate), stop_(stop) {}

  Xapian::doccount get_termfreq_min() const override { return 0; }
  Xapian::doccount get_termfreq_est() const override { return estimate_; }
  Xapian::doccount get_termfreq_max() const override { return most_; }
  void init(const Xapian::Database& database) override;
  void next(double) override;
  void skip_to(Xapian::docid docid, double) override;
  bool at_end() const override { return current_ > back_; }
  Xapian::docid get_docid() const override { return current_; }
  std::string get_description() const override { return "Range"; }

 private:
  // Onto the first value from here on that is in the range, or onto the last guard.
  void settle();

  const Range range_;
  const Xapian::docid back_;
  const Xapian::doccount estimate_;
  const std::atomic<bool>* const stop_;
  Xapian::doccount most_ = 0;
  Xapian::ValueIterator value_;
  Xapian::ValueIterator end_;
  Xapian::docid current_ = 0;  // 0: not begun; beyond back_: at the end
};

}  // namespace hedgerow
