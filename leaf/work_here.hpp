// Whether the I/O thread does a call's work itself, in place of handing it to the workers. Pure. Owned by the worker pool,
// under its lock.
//
// Intuition: a thread that is woken for a search of 60 µs, and wakes another with the answer, costs as much as the search. So
// a call that is light is done where it was read: its parts one after another, each with the score threshold that the one
// before it left, and all of their answers in one frame. Meanwhile the thread hears nothing, so the call must be light for
// sure, and the thread must be mostly idle: otherwise calls would wait for each other in front of workers that have nothing
// to do.
//
// Light is a call when both hold: (1) what it may read is little (postings, which the plan tells before anything is read; see
// PreparedQuery::postings), and (2) by what such work took of late its parts are done soon, so that an index that is read
// from a slow disk, or a machine that is busy, is left to the workers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/clock.hpp"

namespace hedgerow::leaf {

class WorkHere {
 public:
  static constexpr Duration most_time = std::chrono::microseconds(500);  // of a call's parts together
  static constexpr double most_postings = 10'000;                        // likewise
  static constexpr double most_share = 0.5;  // of the thread's time, with a half life of
  static constexpr Duration half_life = std::chrono::milliseconds(100);

  // piece: what such work took of late, on the average.
  bool may(std::size_t parts, double postings, Duration piece, Instant now) const {
    return postings <= most_postings && static_cast<double>(parts) * to_seconds(piece) <= to_seconds(most_time) &&
           share(now) < most_share;
  }

  // The thread has worked for so long, until now.
  void add(Duration worked, Instant now) {
    worked_seconds_ = remembered(now) + to_seconds(worked);
    latest_ = now;
  }

  // Of the thread's time, lately.
  double share(Instant now) const { return remembered(now) * std::log(2) / to_seconds(half_life); }

 private:
  double remembered(Instant now) const {
    return worked_seconds_ * std::exp2(-to_seconds(std::max(now - latest_, Duration::zero())) / to_seconds(half_life));
  }

  double worked_seconds_ = 0;
  Instant latest_{};
};

}  // namespace hedgerow::leaf
