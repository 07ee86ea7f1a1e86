// What is remembered of queries: safe ones, suspected ones, quarantined ones, each within its bound.
#include <doctest/doctest.h>

#include "policy_fixture.hpp"
#include "root/policy/cluster/quarantine.hpp"

namespace hedgerow::policy {

namespace {

const std::string deadly = "deadly";

Quarantine small() {
  return Quarantine({.time = 5min, .longest_time = 15min, .memory = 1h, .most_safe = 3, .most_safe_bytes = 40, .most_records = 3});
}

std::vector<std::string> shown(Quarantine& quarantine, Instant now) {
  std::vector<std::string> out;
  for (const auto& entry : quarantine.entries(now)) out.push_back(entry.shown);
  return out;
}

}  // namespace

TEST_CASE("a convicted query is refused until its time is over, and each conviction lasts twice as long, up to a cap") {
  auto quarantine = small();
  Instant now = at(0s);
  CHECK_FALSE(quarantine.refuse(deadly, now));
  for (const Duration time : {5min, 10min, 15min, 15min}) {
    CAPTURE(format_duration(time));
    quarantine.on_guilty(deadly, "deadly query", QuarantineReason::crash, {leaf(3), leaf(7)}, now);
    const auto* entry = quarantine.refuse(deadly, now);
    REQUIRE(entry);
    CHECK(entry->until == now + time);
    CHECK(entry->since == now);
    CHECK(entry->leaves == std::vector{leaf(3), leaf(7)});
    CHECK(quarantine.refuse(deadly, now + time - 1ns));
    CHECK(quarantine.find_quarantined(deadly, now)->refused == 2);  // looking is not counted
    CHECK_FALSE(quarantine.refuse(deadly, now + time));
    CHECK(quarantine.entries(now + time).empty());
    now += time + 1s;
  }
}

TEST_CASE("whoever was convicted is on parole: the next trial begins with a suspicion, until an answer acquits") {
  auto quarantine = small();
  CHECK(quarantine.suspicions(deadly, at(0s)) == 0);
  quarantine.on_guilty(deadly, "", QuarantineReason::crash, {}, at(0s));
  CHECK(quarantine.suspicions(deadly, at(6min)) == 1);
  quarantine.on_safe(deadly);
  CHECK(quarantine.is_safe(deadly));
  CHECK(quarantine.suspicions(deadly, at(6min)) == 0);
  quarantine.on_guilty(deadly, "", QuarantineReason::crash, {}, at(7min));
  CHECK_FALSE(quarantine.is_safe(deadly));
  CHECK(quarantine.refuse(deadly, at(7min))->until == at(12min));  // of a first conviction
}

TEST_CASE("a suspicion outlives the trial that ended without a verdict, and is forgotten in time") {
  auto quarantine = small();
  quarantine.on_undecided(deadly, 1, at(0s));
  CHECK_FALSE(quarantine.refuse(deadly, at(0s)));
  CHECK(quarantine.suspicions(deadly, at(1h)) == 1);
  CHECK(quarantine.suspicions(deadly, at(1h + 1s)) == 0);
  CHECK(quarantine.records() == 0);
  quarantine.on_undecided("harmless", 0, at(0s));
  CHECK(quarantine.records() == 0);
}

TEST_CASE("a safe query that loses leaves twice is quarantined, also where canaries answered in between") {
  auto quarantine = small();
  quarantine.on_safe(deadly);
  quarantine.on_leaves_lost(deadly, "late bloomer", {leaf(1), leaf(2)}, at(0s), at(1s));
  CHECK_FALSE(quarantine.is_safe(deadly));
  CHECK_FALSE(quarantine.refuse(deadly, at(0s)));
  quarantine.on_safe(deadly);
  quarantine.on_leaves_lost(deadly, "late bloomer", {leaf(3), leaf(4)}, at(9min), at(10min));
  REQUIRE(quarantine.refuse(deadly, at(10min)));
  CHECK(quarantine.find_quarantined(deadly, at(10min))->reason == QuarantineReason::lost_leaves);
  CHECK_FALSE(quarantine.is_safe(deadly));

  // Beyond memory, losses do not add up.
  quarantine.on_leaves_lost("seldom", "", {leaf(1), leaf(2)}, at(0s), at(0s));
  quarantine.on_leaves_lost("seldom", "", {leaf(1), leaf(2)}, at(2h), at(2h));
  CHECK_FALSE(quarantine.refuse("seldom", at(2h)));
}

TEST_CASE("copies of a query that were under way together lose the same leaves once") {
  auto quarantine = small();
  for (int i = 0; i < 20; ++i) {
    quarantine.on_leaves_lost("popular", "popular", {leaf(1), leaf(2)}, at(i * 10ms), at(1s + i * 10ms));
  }
  CHECK_FALSE(quarantine.refuse("popular", at(2s)));
  // A second happening convicts, and once.
  for (int i = 0; i < 20; ++i) {
    quarantine.on_leaves_lost("popular", "popular", {leaf(3), leaf(4)}, at(3s + i * 10ms), at(4s + i * 10ms));
  }
  REQUIRE(quarantine.refuse("popular", at(5s)));
  CHECK(quarantine.find_quarantined("popular", at(5s))->until == at(4s) + quarantine.settings().time);
  CHECK(quarantine.find_quarantined("popular", at(5s))->id == 1);
}

TEST_CASE("a whole search without losses acquits of leaves lost before, and lifts no quarantine") {
  auto quarantine = small();
  quarantine.on_leaves_lost("unlucky", "", {leaf(1), leaf(2)}, at(0s), at(1s));
  quarantine.on_answered_whole("unlucky");
  CHECK(quarantine.records() == 0);
  quarantine.on_leaves_lost("unlucky", "", {leaf(1), leaf(2)}, at(2s), at(3s));
  CHECK_FALSE(quarantine.refuse("unlucky", at(3s)));
  quarantine.on_leaves_lost("unlucky", "", {leaf(1), leaf(2)}, at(4s), at(5s));
  CHECK(quarantine.refuse("unlucky", at(5s)));
  quarantine.on_answered_whole("unlucky");
  CHECK(quarantine.refuse("unlucky", at(6s)));
  quarantine.on_undecided("suspect", 1, at(0s));
  quarantine.on_answered_whole("suspect");
  CHECK(quarantine.suspicions("suspect", at(0s)) == 1);
  quarantine.on_answered_whole("unheard of");
}

TEST_CASE("a hang that was answered after all lifts its quarantine, and only as much as it held") {
  auto quarantine = small();
  quarantine.on_guilty("two hangs", "", QuarantineReason::hang, {}, at(0s));
  quarantine.lift("two hangs", 1, at(1s));
  CHECK_FALSE(quarantine.refuse("two hangs", at(1s)));
  CHECK(quarantine.suspicions("two hangs", at(1s)) == 1);
  quarantine.on_guilty("hang", "", QuarantineReason::hang, {}, at(0s));
  quarantine.lift("hang", 0, at(1s));
  CHECK(quarantine.suspicions("hang", at(1s)) == 0);
  quarantine.lift("unheard of", 1, at(1s));
  CHECK(quarantine.suspicions("unheard of", at(1s)) == 0);
}

TEST_CASE("the quarantine is cleared whole or by entry, and what is cleared is unknown") {
  auto quarantine = small();
  for (const char* name : {"a", "b", "c"}) quarantine.on_guilty(name, name, QuarantineReason::crash, {}, at(0s));
  CHECK(shown(quarantine, at(1s)) == std::vector<std::string>{"c", "b", "a"});
  const auto id = quarantine.find_quarantined("b", at(1s))->id;
  CHECK(quarantine.clear(id, at(1s)));
  CHECK_FALSE(quarantine.clear(id, at(1s)));
  CHECK(shown(quarantine, at(1s)) == std::vector<std::string>{"c", "a"});
  CHECK(quarantine.suspicions("b", at(1s)) == 0);
  CHECK(quarantine.clear(at(1s)) == 2);
  CHECK(quarantine.clear(at(1s)) == 0);
  CHECK(quarantine.records() == 0);
  quarantine.on_guilty("a", "a", QuarantineReason::crash, {}, at(2s));
  CHECK(quarantine.find_quarantined("a", at(2s))->id > id);  // ids are never used again
}

TEST_CASE("safe queries are bounded in number and in bytes, and those asked for lately stay") {
  auto quarantine = small();
  for (const char* name : {"a", "b", "c"}) quarantine.on_safe(name);
  CHECK(quarantine.is_safe("a"));
  quarantine.on_safe("d");
  CHECK(quarantine.safe() == 3);
  CHECK(quarantine.is_safe("a"));
  CHECK_FALSE(quarantine.is_safe("b"));
  quarantine.on_safe(std::string(39, 'x'));
  CHECK(quarantine.safe_bytes() == 40);
  CHECK(quarantine.safe() == 2);
  quarantine.on_safe(std::string(41, 'y'));  // heavier than all may be: not kept, and nothing goes for it
  CHECK(quarantine.safe() == 2);
}

TEST_CASE("records are bounded: suspicions go before quarantines, the oldest first") {
  auto quarantine = small();
  quarantine.on_guilty("first", "first", QuarantineReason::crash, {}, at(0s));
  quarantine.on_undecided("suspect", 1, at(1s));
  quarantine.on_guilty("second", "second", QuarantineReason::crash, {}, at(2s));
  quarantine.on_guilty("third", "third", QuarantineReason::crash, {}, at(3s));
  CHECK(quarantine.records() == 3);
  CHECK(quarantine.suspicions("suspect", at(3s)) == 0);
  CHECK(shown(quarantine, at(3s)) == std::vector<std::string>{"third", "second", "first"});
  quarantine.on_guilty("fourth", "fourth", QuarantineReason::crash, {}, at(4s));
  CHECK(shown(quarantine, at(4s)) == std::vector<std::string>{"fourth", "third", "second"});
}

TEST_CASE("a query that is long is shown cut") {
  auto quarantine = small();
  quarantine.on_guilty(deadly, std::string(1000, 'q'), QuarantineReason::crash, {}, at(0s));
  CHECK(quarantine.entries(at(0s))[0].shown.size() == Quarantine::longest_shown);
  // At a character's edge.
  std::string euros = "q";
  for (int i = 0; i < 100; ++i) euros += "\u20ac";
  quarantine.on_guilty("euros", euros, QuarantineReason::crash, {}, at(1s));
  CHECK(quarantine.entries(at(1s))[0].shown == euros.substr(0, 199));
}

}  // namespace hedgerow::policy
