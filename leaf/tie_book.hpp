// The tied work of this leaf, and what is known of its twins on other leaves. Pure: (event, now) in, verdicts out.
//
// Intuition: the same partition is asked of two leaves; whichever begins tells the other, which lets its copy go if it
// has not begun. Neither waits for the other: if both begin within the time that a message takes, both run (a race), and
// the root takes the first answer.
//
// A message may overtake the copy that it is about, so what a twin said of unknown work is remembered for a while. That,
// and work that has begun here, is bounded in time and number (the oldest goes first); work that waits is bounded by the
// queue. A tie is a random number of 64 bits: who cannot guess it can make no copy go.
//
// On the leaf's I/O thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <unordered_map>
#include <utility>

#include "base/clock.hpp"

namespace hedgerow::leaf {

class TieBook {
 public:
  struct Settings {
    Duration memory = std::chrono::seconds(1);
    std::size_t most_remembered = 4096;
  };
  // Takes a copy out of the queue and answers for it.
  enum class Dropped {
    yes,
    running,  // too late: it has begun
    gone,     // it had ended otherwise, and never began
  };
  using Drop = std::function<Dropped()>;

  TieBook() : TieBook(Settings{}) {}
  explicit TieBook(Settings settings) : settings_(settings) {}

  // A copy comes. twin_started: it is not to be queued. known: the same leaf was asked twice; this copy is as if untied.
  enum class Arrival { queue, twin_started, known };
  Arrival on_copy(std::uint64_t tie, Drop drop, Instant now);

  // A worker has begun the copy. True: the twin is to be told.
  bool on_begun(std::uint64_t tie, Instant now);

  // The copy ended without having begun.
  void on_ended(std::uint64_t tie);

  // The twin says that it has begun.
  enum class News {
    dropped,     // the copy here has left the queue
    raced,       // it has begun here as well
    remembered,  // no such work here, or not yet
    known,       // told before
  };
  News on_twin_started(std::uint64_t tie, Instant now);

  std::size_t size() const { return ties_.size(); }

 private:
  enum class State { waiting, begun, twin_started, raced };
  struct Known {
    State state;
    Drop drop;               // while waiting
    std::uint64_t mark = 0;  // of its latest place in remembered_
  };
  struct Remembered {
    std::uint64_t tie;
    std::uint64_t mark;
    Instant until;
  };

  void remember(std::uint64_t tie, Known& known, State state, Instant now);
  void forget_old(Instant now);
  void forget_oldest();

  Settings settings_;
  std::unordered_map<std::uint64_t, Known> ties_;
  std::deque<Remembered> remembered_;
  std::uint64_t marks_ = 0;
};

}  // namespace hedgerow::leaf
