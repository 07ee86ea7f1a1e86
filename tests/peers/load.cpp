#include "tests/peers/load.hpp"

#include <sys/prctl.h>
#include <time.h>

#include <atomic>
#include <thread>

#include "base/steady_clock.hpp"
#include "tests/peers/schedule.hpp"

namespace hedgerow::peers {

namespace {

using Clients = std::vector<std::unique_ptr<Client>>;

// Runs work(client) for each of them, on a thread each, and waits for all.
template <class Work>
void on_threads(Clients& clients, Work&& work) {
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    threads.emplace_back([&work, i] {
      // A thread that sleeps until a query's instant shall not sleep 50 µs longer, as threads otherwise may.
      ::prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
      work(i);
    });
  }
}

// Of all threads of this process.
Duration processor_time() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

Clients connected_clients(Engine& engine, const LoadSettings& settings) {
  Clients clients;
  for (std::size_t i = 0; i < settings.clients; ++i) clients.push_back(engine.client());
  on_threads(clients, [&](std::size_t i) { (void)clients[i]->ask(settings.queries[i % settings.queries.size()], Want::counts); });
  return clients;
}

// All clients ask until so many queries are asked (0: any number) or the time is over.
LoadResult ask_in_turn(Clients& clients, const std::vector<std::string>& queries, std::uint64_t count, Duration time) {
  std::vector<Tally> tallies(clients.size());
  std::atomic<std::uint64_t> next = 0;
  const Duration processor_before = processor_time();
  const Instant start = clock_now();
  on_threads(clients, [&](std::size_t i) {
    for (Instant now = start; now < start + time;) {
      const std::uint64_t query = next++;
      if (count > 0 && query >= count) break;
      const Instant sent = clock_now();
      const auto answer = clients[i]->ask(queries[query % queries.size()], Want::counts);
      now = clock_now();
      tallies[i].record(answer, now - sent);
    }
  });
  LoadResult result;
  result.elapsed = clock_now() - start;
  result.processor_time = processor_time() - processor_before;
  for (const auto& tally : tallies) result.measured.merge(tally);
  return result;
}

LoadResult run_closed_loop(Clients& clients, const LoadSettings& settings) {
  (void)ask_in_turn(clients, settings.queries, 0, settings.warm_up);
  return ask_in_turn(clients, settings.queries, settings.count, settings.duration);
}

// What one thread has seen of an open loop.
struct OpenTallies {
  Tally warm_up, settling, measured;
  Tally& of(Part part) { return part == Part::warm_up ? warm_up : part == Part::settling ? settling : measured; }
};

LoadResult run_open_loop(Clients& clients, const LoadSettings& settings) {
  const Schedule schedule(settings.rate, settings.warm_up, settings.settling, settings.duration, settings.seed);
  std::vector<OpenTallies> tallies(clients.size());
  std::atomic<std::size_t> next = 0;
  // A moment ahead, so that all threads are there.
  const Instant start = clock_now() + std::chrono::milliseconds(20);
  std::jthread at_warm([&] {
    if (!settings.after_warm_up) return;
    std::this_thread::sleep_until(start + settings.warm_up);
    settings.after_warm_up();
  });
  on_threads(clients, [&](std::size_t i) {
    for (std::size_t query = next++; query < schedule.size(); query = next++) {
      const Instant intended = start + schedule.at(query);
      Tally& tally = tallies[i].of(schedule.part_of(query));
      const Instant now = clock_now();
      if (now >= start + schedule.end()) {
        tally.record_unsent(now - intended);
        continue;
      }
      if (now > intended) {
        tally.count_late_start();
      } else {
        std::this_thread::sleep_until(intended);
      }
      const auto answer = clients[i]->ask(settings.queries[query % settings.queries.size()], Want::counts);
      tally.record(answer, clock_now() - intended);
    }
  });
  LoadResult result;
  result.elapsed = settings.duration;
  for (const auto& tally : tallies) {
    result.settling.merge(tally.settling);
    result.measured.merge(tally.measured);
  }
  return result;
}

}  // namespace

nlohmann::ordered_json LoadResult::json() const {
  auto json = measured.json();
  json["elapsed_seconds"] = to_seconds(elapsed);
  json["queries_per_second"] = elapsed > Duration::zero() ? static_cast<double>(measured.answered()) / to_seconds(elapsed) : 0;
  if (processor_time > Duration::zero() && measured.queries() > 0) {
    json["asker_us"] = to_milliseconds(processor_time) * 1000 / static_cast<double>(measured.queries());
  }
  if (settling.queries() > 0) json["settling"] = settling.json();
  return json;
}

result<LoadResult> run_load(Engine& engine, const LoadSettings& settings) {
  if (settings.queries.empty() || settings.clients == 0) return Error{Errc::invalid_argument, "a load needs queries and clients"};
  Clients clients = connected_clients(engine, settings);
  return settings.rate > 0 ? run_open_loop(clients, settings) : run_closed_loop(clients, settings);
}

}  // namespace hedgerow::peers
