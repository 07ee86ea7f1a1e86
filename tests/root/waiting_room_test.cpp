// The Asio host of admission: coroutines that wait for their turn, on a real clock.

#include "root/waiting_room.hpp"

#include <doctest/doctest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>
#include <string>
#include <vector>

namespace hedgerow::root {

namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

struct Leaving final : wire::ClientWatch {
  void on_gone(std::function<void()> callback) override { gone = std::move(callback); }
  std::function<void()> gone;
};

// A room in which two interactive queries and one of batch may be in flight.
struct Room {
  Room() : room(io.get_executor(), settings(), load, 1, metrics) {}
  static policy::AdmissionSettings settings() {
    policy::AdmissionSettings settings;
    settings.limit.adaptive = false;
    settings.limit.most = 2;
    settings.most_batch = 1;
    settings.most_waiting = 3;
    return settings;
  }

  // A query that comes now; what becomes of it is told in the story under its name, and its place kept by it.
  void comes(const std::string& name, Duration deadline = 20s, ServiceClass service_class = ServiceClass::interactive,
             wire::ClientWatch* client = nullptr) {
    const Instant now = std::chrono::steady_clock::now();
    asio::co_spawn(
        io,
        [this, name, now, deadline, service_class, client]() -> asio::awaitable<void> {
          auto entered = co_await room.enter(service_class, now, now + deadline, client);
          story += name + (entered.has_error() ? " " + std::to_string(entered.error().status) : " in") + "; ";
          if (entered.has_error()) {
            refusals.push_back(entered.error());
          } else {
            places.emplace_back(name, std::move(*entered));
          }
        },
        asio::detached);
    turn();
  }
  void leaves(const std::string& name) {
    std::erase_if(places, [&](const auto& place) { return place.first == name; });
    turn();
  }
  // Everything that can happen at once happens.
  void turn() {
    io.restart();
    io.poll();
  }

  asio::io_context io{1};
  policy::ClusterLoad load;
  Metrics metrics;
  WaitingRoom room;
  std::string story;
  std::vector<SearchRefusal> refusals;

  // Movable as vectors want it, where a Place can only be made.
  struct Kept {
    Kept(std::string n, WaitingRoom::Place p) : first(std::move(n)), place(std::make_unique<WaitingRoom::Place>(std::move(p))) {}
    std::string first;
    std::unique_ptr<WaitingRoom::Place> place;
  };
  std::vector<Kept> places;
};

}  // namespace

TEST_CASE("a query waits until a place is free, and goes in in order of deadline") {
  Room room;
  room.comes("a");
  room.comes("b");
  room.comes("c", 19s);
  room.comes("d", 18s);
  CHECK(room.story == "a in; b in; ");
  room.leaves("a");
  CHECK(room.story == "a in; b in; d in; ");
  CHECK(room.metrics.queries_in_flight.Value() == 2);
  CHECK(room.metrics.queries_waiting[0]->Value() == 1);
  room.leaves("b");
  CHECK(room.story == "a in; b in; d in; c in; ");
  room.leaves("c");
  room.leaves("d");
  CHECK(room.metrics.queries_in_flight.Value() == 0);
}

TEST_CASE("beyond what may wait a query is refused at once, with 503 and a time to come back") {
  Room room;
  for (const auto* name : {"a", "b", "c", "d", "e"}) room.comes(name);
  CHECK(room.story == "a in; b in; ");
  room.comes("f");
  CHECK(room.story == "a in; b in; f 503; ");
  REQUIRE(room.refusals.size() == 1);
  CHECK(room.refusals[0].type == "overloaded");
  CHECK(room.refusals[0].retry_after_seconds.value_or(0) >= 1);
  CHECK(room.metrics.queries_refused_on_arrival[0]->Value() == 1);
}

TEST_CASE("trap 1: a query whose time to begin is over while it waits is refused, and never begun") {
  Room room;
  room.comes("a");
  room.comes("b");
  room.comes("short", 20ms);
  const Instant begin = std::chrono::steady_clock::now();
  while (room.refusals.empty()) {
    room.io.restart();
    room.io.run_one_for(1s);
  }
  CHECK(room.story == "a in; b in; short 503; ");
  CHECK(std::chrono::steady_clock::now() - begin >= 8ms);  // half of its time, as the timer keeps it
  CHECK(room.metrics.queries_refused_after_waiting[0]->Value() == 1);
  room.leaves("a");
  CHECK(room.story == "a in; b in; short 503; ");
  CHECK(room.room.admission().waiting(ServiceClass::interactive) == 0);
}

TEST_CASE("trap 23: a query whose client goes away waits no longer, and takes no place") {
  Room room;
  Leaving client;
  room.comes("a");
  room.comes("b");
  room.comes("gone", 20s, ServiceClass::interactive, &client);
  room.comes("c");
  REQUIRE(client.gone);
  client.gone();
  room.turn();
  CHECK(room.story == "a in; b in; gone 499; ");
  room.leaves("a");
  CHECK(room.story == "a in; b in; gone 499; c in; ");
}

TEST_CASE("a client that goes away in the moment in which its query is let in gives the place back") {
  Room room;
  Leaving client;
  room.comes("a");
  room.comes("b");
  room.comes("gone", 20s, ServiceClass::interactive, &client);
  room.comes("c");
  // Both before the loop turns.
  std::erase_if(room.places, [](const auto& place) { return place.first == "a"; });
  client.gone();
  room.turn();
  CHECK(room.story == "a in; b in; gone 499; c in; ");
  CHECK(room.room.admission().in_flight(ServiceClass::interactive) == 2);
}

TEST_CASE("a query that waits only behind those whose time is over is let in at once") {
  Room room;
  room.comes("a");
  room.comes("b");
  room.comes("short", 10ms);
  const Instant over = std::chrono::steady_clock::now() + 10ms;
  while (std::chrono::steady_clock::now() < over) {
  }
  // Before its timer is heard.
  std::erase_if(room.places, [](const auto& place) { return place.first == "a"; });
  room.comes("c");
  CHECK(room.story.find("c in") != std::string::npos);
  CHECK(room.story.find("short 503") != std::string::npos);
  CHECK(room.room.admission().in_flight(ServiceClass::interactive) == 2);
}

TEST_CASE("batch waits for batch, and interactive queries pass it") {
  Room room;
  room.comes("batch 1", 20s, ServiceClass::batch);
  room.comes("batch 2", 20s, ServiceClass::batch);
  room.comes("a");
  CHECK(room.story == "batch 1 in; a in; ");
  room.leaves("batch 1");
  CHECK(room.story == "batch 1 in; a in; batch 2 in; ");
}

}  // namespace hedgerow::root
