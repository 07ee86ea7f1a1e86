#include "leaf/tie_book.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

#include "base/random.hpp"

#include "instants.hpp"

namespace hedgerow::leaf {

namespace {

using namespace std::chrono_literals;

using Arrival = TieBook::Arrival;
using News = TieBook::News;
using Dropped = TieBook::Dropped;

// A copy whose fate the test decides.
struct Copy {
  Dropped fate = Dropped::yes;
  int asked = 0;
  TieBook::Drop drop() {
    return [this] { return ++asked, fate; };
  }
};

}  // namespace

TEST_CASE("a twin that began first takes the waiting copy out, once") {
  TieBook book;
  Copy copy;
  CHECK(book.on_copy(7, copy.drop(), at(0ms)) == Arrival::queue);
  CHECK(book.on_twin_started(7, at(1ms)) == News::dropped);
  CHECK(copy.asked == 1);
  CHECK(book.size() == 0);
}

TEST_CASE("a copy that has begun is no longer dropped: both run, and the race is counted once") {
  TieBook book;
  Copy copy;
  book.on_copy(7, copy.drop(), at(0ms));
  CHECK(book.on_begun(7, at(1ms)));
  CHECK_FALSE(book.on_begun(7, at(1ms)));
  CHECK(book.on_twin_started(7, at(2ms)) == News::raced);
  CHECK(book.on_twin_started(7, at(2ms)) == News::known);
  CHECK(copy.asked == 0);
}

TEST_CASE("a worker may have taken the copy a moment before the book knows: that is a race too, and the twin is not told") {
  TieBook book;
  Copy copy{Dropped::running};
  book.on_copy(7, copy.drop(), at(0ms));
  CHECK(book.on_twin_started(7, at(1ms)) == News::raced);
  CHECK_FALSE(book.on_begun(7, at(1ms)));
  CHECK(book.on_twin_started(7, at(1ms)) == News::known);
}

TEST_CASE("a word that overtakes the copy is remembered for a while, and the copy is dropped when it comes") {
  TieBook book({.memory = 100ms, .most_remembered = 10});
  Copy copy;
  CHECK(book.on_twin_started(7, at(0ms)) == News::remembered);
  CHECK(book.on_twin_started(7, at(1ms)) == News::known);
  CHECK(book.on_copy(7, copy.drop(), at(99ms)) == Arrival::twin_started);
  CHECK(book.size() == 0);
  // It was for that copy; and too late it is forgotten.
  CHECK(book.on_copy(7, copy.drop(), at(99ms)) == Arrival::queue);
  CHECK(book.on_twin_started(8, at(100ms)) == News::remembered);
  CHECK(book.on_copy(8, copy.drop(), at(200ms)) == Arrival::queue);
  CHECK(copy.asked == 0);
}

TEST_CASE("a copy that ended in the queue otherwise is forgotten, and one that has begun stays known for a while") {
  TieBook book({.memory = 100ms, .most_remembered = 10});
  Copy copy;
  book.on_copy(7, copy.drop(), at(0ms));
  book.on_ended(7);
  CHECK(book.size() == 0);
  book.on_copy(8, copy.drop(), at(0ms));
  book.on_begun(8, at(0ms));
  book.on_ended(8);
  CHECK(book.on_twin_started(8, at(50ms)) == News::raced);
  book.on_ended(9);  // never heard of
  Copy gone{Dropped::gone};
  book.on_copy(10, gone.drop(), at(0ms));
  CHECK(book.on_twin_started(10, at(0ms)) == News::remembered);
}

TEST_CASE("a leaf that is asked twice for the same tie treats the second copy as untied") {
  TieBook book;
  Copy first, second;
  CHECK(book.on_copy(7, first.drop(), at(0ms)) == Arrival::queue);
  CHECK(book.on_copy(7, second.drop(), at(0ms)) == Arrival::known);
  book.on_begun(7, at(0ms));
  CHECK(book.on_copy(7, second.drop(), at(0ms)) == Arrival::known);
  CHECK(second.asked == 0);
}

TEST_CASE("words about unknown ties fill a bounded place, the oldest go first, and what waits is not concerned") {
  TieBook book({.memory = 1h, .most_remembered = 100});
  Copy copy;
  book.on_copy(1, copy.drop(), at(0ms));
  for (std::uint64_t tie = 1000; tie < 5000; ++tie) book.on_twin_started(tie, at(0ms));
  CHECK(book.size() == 101);
  CHECK(book.on_copy(4899, copy.drop(), at(0ms)) == Arrival::queue);
  CHECK(book.on_copy(4900, copy.drop(), at(0ms)) == Arrival::twin_started);
  CHECK(book.on_twin_started(1, at(0ms)) == News::dropped);
}

TEST_CASE("what a remembered tie's time takes away is that memory alone, though the tie has come again") {
  TieBook book({.memory = 100ms, .most_remembered = 10});
  Copy copy;
  book.on_twin_started(7, at(0ms));
  book.on_copy(7, copy.drop(), at(10ms));  // dropped
  book.on_copy(7, copy.drop(), at(20ms));  // a hostile root names it again
  CHECK(book.on_twin_started(8, at(150ms)) == News::remembered);  // the first memory's time is over
  CHECK(book.on_twin_started(7, at(150ms)) == News::dropped);
  CHECK(copy.asked == 1);
}

TEST_CASE("two leaves and messages that take their time: of every pair at least one runs, and both only where both began "
          "within the time that a message takes") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    struct Leaf {
      TieBook book;
      std::map<std::uint64_t, Duration> begins;  // copies in its queue, and when a worker would take them
      std::map<std::uint64_t, Duration> began;
    };
    Leaf leaves[2];
    struct Event {
      int leaf;
      std::uint64_t tie;
      enum { copy, begin, told } what;
    };
    std::multimap<Duration, Event> events;
    const auto message_time = [&] { return 1us * static_cast<int>(50 + random.below(100)); };
    for (std::uint64_t tie = 1; tie <= 50; ++tie) {
      const Duration sent = 1us * static_cast<int>(random.below(10'000));
      const int first = random.chance(0.5) ? 0 : 1;
      events.emplace(sent + message_time(), Event{first, tie, Event::copy});
      events.emplace(sent + message_time() + 1us * static_cast<int>(random.below(300)), Event{1 - first, tie, Event::copy});
    }
    while (!events.empty()) {
      const auto [now, event] = *events.begin();
      events.erase(events.begin());
      Leaf& leaf = leaves[event.leaf];
      if (event.what == Event::copy) {
        const auto drop = [&leaf, tie = event.tie] { return leaf.begins.erase(tie) > 0 ? Dropped::yes : Dropped::running; };
        if (leaf.book.on_copy(event.tie, drop, at(now)) == Arrival::twin_started) continue;
        leaf.begins[event.tie] = now + 1us * static_cast<int>(random.below(2'000));
        events.emplace(leaf.begins[event.tie], Event{event.leaf, event.tie, Event::begin});
      } else if (event.what == Event::begin) {
        if (leaf.begins.erase(event.tie) == 0) continue;
        leaf.began[event.tie] = now;
        if (leaf.book.on_begun(event.tie, at(now))) {
          events.emplace(now + message_time(), Event{1 - event.leaf, event.tie, Event::told});
        }
      } else {
        leaf.book.on_twin_started(event.tie, at(now));
      }
    }
    for (std::uint64_t tie = 1; tie <= 50; ++tie) {
      const auto one = leaves[0].began.find(tie), other = leaves[1].began.find(tie);
      const bool one_ran = one != leaves[0].began.end(), other_ran = other != leaves[1].began.end();
      REQUIRE((one_ran || other_ran));
      if (one_ran && other_ran) {
        const Duration apart = one->second > other->second ? one->second - other->second : other->second - one->second;
        REQUIRE(apart <= 150us);
      }
    }
    CHECK(leaves[0].book.size() <= 100);
  }
}

}  // namespace hedgerow::leaf
