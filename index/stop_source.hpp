// Every docid of a partition, as a posting list that scores nothing and ends the match once the stop flag is set.
//
// Beside the words of a phrase or NEAR: comparing positions can take long for many documents of which none matches, and
// then nothing else would look at the flag. Of a single document the positions are compared to the end.
//
// One object per match; the query owns it (release()).
#pragma once

#include <xapian.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "index/global_weight.hpp"

namespace hedgerow {

class StopSource final : public Xapian::PostingSource {
 public:
  // back: the docid of the last guard. stop may be null.
  StopSource(Xapian::docid back, const std::atomic<bool>* stop) : back_(back), stop_(stop) {}

  Xapian::doccount get_termfreq_min() const override { return documents_; }
  Xapian::doccount get_termfreq_est() const override { return documents_; }
  Xapian::doccount get_termfreq_max() const override { return documents_; }
  void init(const Xapian::Database& database) override {
    documents_ = database.get_doccount();
    current_ = 0;
  }
  void next(double) override { move_to(current_ + 1); }
  void skip_to(Xapian::docid docid, double) override { move_to(docid); }
  bool at_end() const override { return current_ > back_; }
  Xapian::docid get_docid() const override { return current_; }
  std::string get_description() const override { return "Stop"; }

 private:
  void move_to(Xapian::docid docid) {
    if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) throw MatchStopped{};
    current_ = std::max(current_, docid);
  }

  const Xapian::docid back_;
  const std::atomic<bool>* const stop_;
  Xapian::doccount documents_ = 0;
  Xapian::docid current_ = 0;
};

}  // namespace hedgerow
