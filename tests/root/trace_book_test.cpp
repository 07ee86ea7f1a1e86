// The book of one query's attempts: times that leaves tell of are put between those of the root.
#include "root/trace_book.hpp"

#include <doctest/doctest.h>

using namespace hedgerow;
using namespace hedgerow::root;
using namespace std::chrono_literals;

namespace {

const Instant received{1h};

TraceBook::Place begin(TraceBook& book, Duration sent, AttemptKind kind = AttemptKind::primary) {
  return book.begin("search", kind, PartitionId{0}, "leaf-0", received + sent);
}

void leaf_says(TraceBook& book, TraceBook::Place place, Duration queue_time, std::optional<Duration> service_time) {
  auto* entry = book.at(place);
  entry->queue_time = queue_time;
  entry->service_time = service_time;
  entry->executed = service_time.has_value();
}

}  // namespace

TEST_CASE("an attempt is queued half of the shortest way after it was sent, and started when its queue time was over") {
  TraceBook book(true, received);
  const auto near = begin(book, 1ms), far = begin(book, 2ms), never = begin(book, 3ms);
  leaf_says(book, near, 3ms, 4ms);
  leaf_says(book, far, 0ms, 5ms);
  book.end(near, "answered", received + 10ms);  // 2 ms on the way
  book.end(far, "answered", received + 17ms);
  book.end(never, "late", received + 20ms);
  const auto entries = book.take();
  CHECK(entries[0].queued == Duration(2ms));
  CHECK(entries[0].started == Duration(5ms));
  CHECK(entries[1].queued == Duration(3ms));
  CHECK(entries[1].started == Duration(3ms));
  CHECK_FALSE(entries[2].queued);
  CHECK_FALSE(entries[2].started);
}

TEST_CASE("what a leaf began after it was given up here still has its times in order, and says nothing of the way") {
  TraceBook book(true, received);
  const auto winner = begin(book, 0ms, AttemptKind::tied), loser = begin(book, 1ms, AttemptKind::tied), unheard = begin(book, 9ms);
  leaf_says(book, winner, 1ms, 4ms);
  book.end(winner, "answered", received + 9ms);  // 4 ms on the way
  book.end(loser, "lost", received + 9ms);
  leaf_says(book, loser, 7ms, 3ms);  // comes later
  book.end(unheard, "lost", received + 10ms);
  leaf_says(book, unheard, 1ms, std::nullopt);
  const auto entries = book.take();
  CHECK(entries[0].started == Duration(3ms));
  for (const auto& entry : entries) {
    REQUIRE(entry.queued);
    CHECK(entry.sent <= *entry.queued);
    CHECK(*entry.queued <= entry.started.value_or(*entry.queued));
    CHECK(entry.started.value_or(*entry.queued) <= *entry.ended);
  }
  CHECK(entries[1].queued == Duration(3ms));
  CHECK(entries[1].started == Duration(9ms));
  CHECK_FALSE(entries[2].started);
}

TEST_CASE("a book that is not kept costs nothing and tells nothing") {
  TraceBook book(false, received);
  const auto place = begin(book, 0ms);
  CHECK_FALSE(place);
  CHECK_FALSE(book.at(place));
  book.end(place, "answered", received + 1ms);
  CHECK(book.take().empty());
}
