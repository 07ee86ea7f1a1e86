#include "index/range_source.hpp"

#include "index/global_weight.hpp"
#include "index/guard.hpp"

namespace hedgerow {

void RangeSource::init(const Xapian::Database& database) {
  most_ = database.get_value_freq(range_.slot) + guard::count;
  value_ = database.valuestream_begin(range_.slot);
  end_ = database.valuestream_end(range_.slot);
  current_ = 0;
  set_maxweight(0);
}

void RangeSource::next(double) {
  if (current_ == 0) {
    current_ = guard::front;
  } else if (current_ >= back_) {
    current_ = back_ + 1;
  } else {
    if (current_ != guard::front) ++value_;
    settle();
  }
}

void RangeSource::skip_to(Xapian::docid docid, double) {
  if (docid <= guard::front && current_ == 0) {
    current_ = guard::front;
    return;
  }
  if (docid <= current_) return;
  if (docid >= back_) {
    current_ = docid == back_ ? back_ : back_ + 1;
    return;
  }
  if (value_ != end_) value_.skip_to(docid);
  settle();
}

void RangeSource::settle() {
  for (; value_ != end_; ++value_) {
    if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) throw MatchStopped{};
    const std::string value = *value_;
    if (value < range_.begin || (!range_.end.empty() && value > range_.end)) continue;
    current_ = value_.get_docid();
    return;
  }
  current_ = back_;
}

}  // namespace hedgerow
