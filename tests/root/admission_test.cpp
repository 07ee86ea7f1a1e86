// Who is let in, who waits, who is refused, and what is shed meanwhile: timelines on a manual clock.

#include "root/policy/cluster/admission.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "policy_fixture.hpp"

namespace hedgerow::policy {

namespace {

using Entry = Admission::Entry;

struct Door {
  // A limit of four that does not move.
  static AdmissionSettings settings() {
    AdmissionSettings settings;
    settings.limit.adaptive = false;
    settings.limit.most = 4;
    settings.most_batch = 2;
    settings.most_waiting = 8;
    return settings;
  }
  explicit Door(const AdmissionSettings& s = settings()) : admission(s, load, Random(1)) {}

  Admission::Verdict arrive(Duration now, Duration deadline = 200ms, ServiceClass service_class = ServiceClass::interactive) {
    return admission.on_arrival({service_class, at(now), at(now) + deadline}, at(now));
  }
  void end(Duration now, Duration admitted, ServiceClass service_class = ServiceClass::interactive) {
    admission.on_ended({.service_class = service_class, .admitted = at(admitted), .given = 200ms, .ran = true, .answered_all = true}, at(now));
  }
  // Who is called in.
  std::vector<Admission::Number> called(Duration now) {
    std::vector<Admission::Number> numbers;
    while (const auto number = admission.next(at(now))) numbers.push_back(*number);
    return numbers;
  }
  // So many interactive ones in flight, at time 0.
  void fill(int queries = 4) {
    for (int i = 0; i < queries; ++i) REQUIRE(arrive(0ms).entry == Entry::admitted);
  }
  // As if queries had taken so long of late.
  void usual(Duration time) {
    for (int i = 0; i < 100; ++i) {
      REQUIRE(arrive(-1s).entry == Entry::admitted);
      admission.on_ended({.admitted = at(-1s), .given = 200ms, .ran = true, .answered_all = true}, at(-1s) + time);
    }
  }

  ClusterLoad load;
  Admission admission;
};

}  // namespace

TEST_CASE("queries are let in up to the limit, then wait, and go in as others end, the earliest deadline first") {
  Door door;
  door.fill();
  CHECK(door.admission.in_flight(ServiceClass::interactive) == 4);
  const auto late = door.arrive(1ms, 200ms), early = door.arrive(2ms, 100ms), middle = door.arrive(3ms, 150ms);
  for (const auto& verdict : {late, early, middle}) CHECK(verdict.entry == Entry::waits);
  CHECK(door.called(4ms).empty());
  door.end(5ms, 0ms);
  CHECK(door.called(5ms) == std::vector{early.number});
  door.end(6ms, 0ms);
  door.end(6ms, 0ms);
  CHECK(door.called(6ms) == std::vector{middle.number, late.number});
  CHECK(door.admission.in_flight(ServiceClass::interactive) == 4);
  CHECK(door.admission.waiting(ServiceClass::interactive) == 0);
}

TEST_CASE("nobody overtakes those who wait, even when there is room at the moment") {
  Door door;
  door.fill();
  const auto first = door.arrive(1ms);
  door.end(2ms, 0ms);  // and before the host called
  CHECK(door.arrive(2ms).entry == Entry::waits);
  CHECK(door.called(2ms) == std::vector{first.number});
}

TEST_CASE("trap 1, trap 5: waiting counts against the deadline, and ends while there still is time to answer") {
  Door door;
  door.usual(20ms);
  door.fill();
  // Half of its time at most.
  CHECK(door.arrive(1ms, 200ms).give_up == at(101ms));
  // And never so long that what queries need is not left.
  CHECK(to_milliseconds(door.arrive(1ms, 30ms).give_up - at(0ms)) == doctest::Approx(11).epsilon(0.05));
}

TEST_CASE("a query that could not be begun in time is refused at once") {
  Door door;
  door.usual(20ms);
  door.fill();
  SUBCASE("queries need more time than it has") { CHECK(door.arrive(1ms, 15ms).entry == Entry::refused); }
  SUBCASE("too many are before it: each four take 20 ms") {
    for (int i = 0; i < 6; ++i) CHECK(door.arrive(1ms, 60ms).entry == Entry::waits);
    CHECK(door.arrive(1ms, 61ms).entry == Entry::refused);
    CHECK(door.arrive(1ms, 100ms).entry == Entry::waits);
    CHECK(door.arrive(1ms, 50ms).entry == Entry::waits);  // goes before all of them
  }
}

TEST_CASE("as many wait as may, and no more") {
  Door door;
  door.fill();
  for (int i = 0; i < 8; ++i) CHECK(door.arrive(1ms).entry == Entry::waits);
  CHECK(door.arrive(1ms).entry == Entry::refused);
  CHECK(door.admission.waiting(ServiceClass::interactive) == 8);
}

TEST_CASE("who left is not called, and whose time to begin is over is passed by") {
  Door door;
  door.fill();
  const auto gone = door.arrive(1ms), over = door.arrive(2ms, 100ms), there = door.arrive(3ms);
  door.admission.on_left(gone.number, false, at(10ms));
  door.end(60ms, 0ms);
  CHECK(door.called(60ms) == std::vector{there.number});
  door.admission.on_left(over.number, true, at(60ms));
  door.admission.on_left(there.number, true, at(60ms));  // was let in: no effect
  CHECK(door.admission.waiting(ServiceClass::interactive) == 0);
  CHECK(door.admission.in_flight(ServiceClass::interactive) == 4);
}

TEST_CASE("batch has places of its own, waits for as long as its deadline allows, and takes none from interactive queries") {
  Door door;
  CHECK(door.arrive(0ms, 10s, ServiceClass::batch).entry == Entry::admitted);
  CHECK(door.arrive(0ms, 10s, ServiceClass::batch).entry == Entry::admitted);
  const auto waits = door.arrive(0ms, 10s, ServiceClass::batch);
  CHECK(waits.entry == Entry::waits);
  CHECK(waits.give_up == at(10s));
  door.fill();
  door.end(1ms, 0ms, ServiceClass::batch);
  door.end(1ms, 0ms, ServiceClass::batch);
  // Interactive queries are at their limit: one of batch is enough, and always let in.
  CHECK(door.called(1ms) == std::vector{waits.number});
  CHECK(door.arrive(1ms, 10s, ServiceClass::batch).entry == Entry::waits);
  door.end(2ms, 0ms, ServiceClass::batch);
  CHECK(door.called(2ms).size() == 1);
}

TEST_CASE("load is shed in order: optional subsystems, batch, fan-out, and at last queries") {
  auto settings = Door::settings();
  settings.limit.most = 10;
  settings.most_waiting = 100;
  Door door(settings);
  door.usual(20ms);
  // The longest wait is 100 ms, and each ten take 20 ms: 50 wait at most.
  int in = 0;
  std::vector<std::pair<int, AdmissionLevel>> changes;
  double fanout = 1;
  for (int i = 0; i < 60; ++i) {
    const auto verdict = door.arrive(0ms);
    if (verdict.entry == Entry::refused) break;
    ++in;
    const auto level = door.admission.level(at(0ms));
    if (changes.empty() || changes.back().second != level) changes.emplace_back(in, level);
    const auto shedding = door.admission.shedding(ServiceClass::interactive, at(0ms));
    CHECK(shedding.subsystems == (in >= 8));
    CHECK(shedding.fanout <= fanout);
    fanout = shedding.fanout;
    CHECK(door.admission.shedding(ServiceClass::batch, at(0ms)).fanout == 1.0);
  }
  CHECK(fanout == 0.5);
  CHECK(door.admission.level(at(0ms)) == AdmissionLevel::refusing);
  std::string story;
  for (const auto& [number, level] : changes) story += std::to_string(number) + " " + to_string(level) + ", ";
  CAPTURE(story);
  REQUIRE(changes.size() >= 4);
  CHECK(changes[0] == std::pair{1, AdmissionLevel::normal});
  CHECK(changes[1] == std::pair{8, AdmissionLevel::subsystems});
  CHECK(changes[2] == std::pair{9, AdmissionLevel::batch});
  CHECK(changes[3].second == AdmissionLevel::fanout);
  CHECK(changes[3].first == doctest::Approx(10 + 0.25 * 50).epsilon(0.1));
}

TEST_CASE("what is shed comes back slowly: the pressure halves in a quarter of a second") {
  Door door;
  door.fill();
  CHECK(door.admission.pressure(at(0ms)) == 1.0);
  for (int i = 0; i < 4; ++i) door.end(1ms, 0ms);
  CHECK(door.admission.shedding(ServiceClass::interactive, at(2ms)).subsystems);
  CHECK(door.admission.pressure(at(251ms)) == doctest::Approx(0.5).epsilon(0.01));
  CHECK_FALSE(door.admission.shedding(ServiceClass::interactive, at(251ms)).subsystems);
  CHECK(door.admission.level(at(251ms)) == AdmissionLevel::normal);
}

TEST_CASE("those who are refused are sent back by chance within a time that grows with their number") {
  Door door;
  std::set<int> few, many;
  for (int i = 0; i < 100; ++i) few.insert(door.admission.retry_after_seconds(at(0ms)));
  CHECK(few == std::set{1});
  door.fill();
  for (int i = 0; i < 8; ++i) door.arrive(1ms);
  for (int i = 0; i < 30; ++i) CHECK(door.arrive(2ms).entry == Entry::refused);
  for (int i = 0; i < 500; ++i) many.insert(door.admission.retry_after_seconds(at(2ms)));
  CHECK(*many.begin() == 1);
  CHECK(*many.rbegin() == 10);
  CHECK(many.size() == 10);
  std::set<int> later;
  for (int i = 0; i < 100; ++i) later.insert(door.admission.retry_after_seconds(at(20s)));
  CHECK(later.size() <= 2);
}

TEST_CASE("what was answered without its leaves teaches nothing about how long queries take") {
  Door door;
  door.usual(20ms);
  for (int i = 0; i < 500; ++i) {
    door.arrive(-500ms);
    door.admission.on_ended({.admitted = at(-500ms), .given = 200ms}, at(-500ms));
  }
  door.fill();
  CHECK(door.arrive(1ms, 15ms).entry == Entry::refused);
}

}  // namespace hedgerow::policy
