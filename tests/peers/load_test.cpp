#include "tests/peers/load.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "tests/peers/schedule.hpp"

using namespace hedgerow;
using namespace hedgerow::peers;
using namespace std::chrono_literals;

namespace {

// Answers by a function of how many queries came before; counts what it was asked.
class FakeEngine final : public Engine {
 public:
  explicit FakeEngine(std::function<result<Answer>(int)> answer) : answer_(std::move(answer)) {}
  std::unique_ptr<Client> client() override {
    struct FakeClient final : Client {
      explicit FakeClient(FakeEngine& e) : engine(e) {}
      result<Answer> ask(const std::string&, Want) override { return engine.answer_(engine.asked++); }
      FakeEngine& engine;
    };
    return std::make_unique<FakeClient>(*this);
  }
  std::atomic<int> asked = 0;

 private:
  std::function<result<Answer>(int)> answer_;
};

const Answer complete_answer{.hits = 10, .complete = true, .ids = {}}, partial_answer{.hits = 7, .complete = false, .ids = {}};

LoadSettings settings_of(std::size_t clients) {
  LoadSettings settings;
  settings.queries = {"one", "two", "three"};
  settings.clients = clients;
  settings.warm_up = 0s;
  return settings;
}

}  // namespace

TEST_CASE("A schedule has three parts one behind another, and the same instants for the same seed") {
  const Schedule schedule(1000, 1s, 500ms, 2s, 5);
  std::size_t counts[3] = {};
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    if (i > 0) CHECK(schedule.at(i) >= schedule.at(i - 1));
    ++counts[static_cast<int>(schedule.part_of(i))];
    const Part expected = schedule.at(i) < 1s ? Part::warm_up : schedule.at(i) < 1500ms ? Part::settling : Part::measured;
    CHECK(schedule.part_of(i) == expected);
  }
  CHECK(schedule.end() == 3500ms);
  // Poisson: means of 1,000, 500 and 2,000, standard deviations of 32, 22 and 45.
  CHECK(std::abs(static_cast<int>(counts[0]) - 1000) < 160);
  CHECK(std::abs(static_cast<int>(counts[1]) - 500) < 110);
  CHECK(std::abs(static_cast<int>(counts[2]) - 2000) < 225);
  const Schedule again(1000, 1s, 500ms, 2s, 5), other(1000, 1s, 500ms, 2s, 6);
  CHECK(again.at(100) == schedule.at(100));
  CHECK(other.at(100) != schedule.at(100));
}

TEST_CASE("A tally tells answers from errors, and an error is no latency") {
  Tally tally;
  tally.record(complete_answer, 3ms);
  tally.record(partial_answer, 5ms);
  tally.record(Error{Errc::unavailable, "gone"}, 1us);
  tally.record(Error{Errc::expired, "later"}, 1us);
  tally.record_unsent(9ms);
  const auto json = tally.json();
  CHECK(json["queries"] == 5);
  CHECK(json["answered"] == 2);
  CHECK(json["complete"] == 1);
  CHECK(json["errors"] == 2);
  CHECK(json["unsent"] == 1);
  CHECK(json["hits"] == 17);
  CHECK(json["first_error"] == "unavailable: gone");
  CHECK(json["p50_ms"].get<double>() == doctest::Approx(5).epsilon(0.002));
  CHECK(json["max_ms"].get<double>() == doctest::Approx(9));
  Tally none;
  CHECK_FALSE(none.json().contains("p50_ms"));
  none.merge(tally);
  CHECK(none.json() == json);
}

TEST_CASE("A closed loop asks just as many queries as it is told, beside one of each client before it begins") {
  FakeEngine engine([](int) { return complete_answer; });
  LoadSettings settings = settings_of(4);
  settings.count = 100;
  const auto result = run_load(engine, settings).value();
  CHECK(result.measured.answered() == 100);
  CHECK(result.measured.complete() == 100);
  CHECK(engine.asked == 104);
  CHECK(result.json()["queries_per_second"].get<double>() == doctest::Approx(100 / to_seconds(result.elapsed)));
}

TEST_CASE("An open loop sends what its schedule says, tells the settling apart, and calls once in between") {
  FakeEngine engine([](int i) -> result<Answer> {
    if (i % 10 == 9) return Error{Errc::unavailable, "now and then"};
    return complete_answer;
  });
  LoadSettings settings = settings_of(8);
  settings.rate = 1000;
  settings.warm_up = 50ms;
  settings.settling = 50ms;
  settings.duration = 100ms;
  std::atomic<int> calls = 0;
  settings.after_warm_up = [&] { ++calls; };
  const auto result = run_load(engine, settings).value();
  const Schedule schedule(1000, 50ms, 50ms, 100ms, settings.seed);
  std::uint64_t settling = 0, measured = 0;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    if (schedule.part_of(i) == Part::settling) ++settling;
    if (schedule.part_of(i) == Part::measured) ++measured;
  }
  CHECK(result.settling.queries() == settling);
  CHECK(result.measured.queries() == measured);
  CHECK(result.measured.errors() > 0);
  CHECK(calls == 1);
}

TEST_CASE("Where one client is kept waiting, the queries behind wait with it, from when they were meant to be sent") {
  // 200 queries in 200 ms, of which the first holds the only client for 100 ms: about a hundred are meant to be sent meanwhile.
  std::atomic<bool> held = false;
  FakeEngine engine([&](int i) {
    if (i == 1) {
      std::this_thread::sleep_for(100ms);
      held = true;
    }
    return complete_answer;
  });
  LoadSettings settings = settings_of(1);
  settings.rate = 1000;
  settings.duration = 200ms;
  const auto result = run_load(engine, settings).value();
  CHECK(held);
  CHECK(result.measured.late_starts() >= 60);
  CHECK(result.measured.latencies().value_at_quantile(0.75) > 20'000);
  CHECK(result.measured.latencies().max() >= 100'000);
}

TEST_CASE("What no client was free for before the end is unsent, and has waited at least until then") {
  FakeEngine engine([](int i) {
    if (i >= 1) std::this_thread::sleep_for(30ms);
    return complete_answer;
  });
  LoadSettings settings = settings_of(1);
  settings.rate = 1000;
  settings.duration = 100ms;
  const auto result = run_load(engine, settings).value();
  const Schedule schedule(1000, 0s, 0s, 100ms, settings.seed);
  CHECK(result.measured.queries() == schedule.size());
  CHECK(result.measured.answered() <= 5);
  CHECK(result.measured.unsent() >= schedule.size() - 5);
}

TEST_CASE("A load without queries or without clients is refused") {
  FakeEngine engine([](int) { return complete_answer; });
  CHECK(run_load(engine, settings_of(0)).has_error());
  LoadSettings settings = settings_of(1);
  settings.queries.clear();
  CHECK(run_load(engine, settings).has_error());
}
