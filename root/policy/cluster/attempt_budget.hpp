// How many extra attempts (retries, hedges) the cluster can afford. Pure.
//
// Intuition: when few things fail, repeating them is cheap; when everything fails, repeating everything doubles the load
// on what is left. So every primary attempt puts a small share of a token into a bucket, an extra attempt takes a whole
// one out, and an empty bucket means no. The depth allows a burst, such as all that was under way at one leaf when it
// died.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hedgerow::policy {

class AttemptBudget {
 public:
  // fill: tokens for each primary attempt (0.05: 5 % extra in the long run); depth: the most tokens that can be saved.
  AttemptBudget(double fill, double depth) : fill_(fill), depth_(depth), tokens_(depth) {}

  // share: of the fill that is granted at the moment.
  void on_primary(double share = 1) { tokens_ = std::min(depth_, tokens_ + share * fill_); }
  // True: one extra attempt is granted and paid for.
  bool take() {
    if (tokens_ < 1) {
      ++refused_;
      return false;
    }
    tokens_ -= 1;
    return true;
  }

  // Another fill and depth from now on; what is saved stays, up to the new depth.
  void set(double fill, double depth) {
    fill_ = fill;
    depth_ = depth;
    tokens_ = std::min(tokens_, depth_);
  }

  double fill() const { return fill_; }
  double depth() const { return depth_; }
  double tokens() const { return tokens_; }
  std::uint64_t refused() const { return refused_; }

 private:
  double fill_;
  double depth_;
  double tokens_;
  std::uint64_t refused_ = 0;
};

}  // namespace hedgerow::policy
