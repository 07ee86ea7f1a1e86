// A cluster and its askers in virtual time, for the laws of admission: leaves with workers and a queue in order of
// deadline for each class, each query one attempt on every leaf, arrivals by chance at a rate that changes with time.
//
// The queue executes nothing that has expired; an attempt that is being worked on when its query's time is over is
// finished for nothing, as on a leaf whose work cannot be stopped at once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <vector>

#include "base/random.hpp"
#include "root/policy/cluster/admission.hpp"

namespace hedgerow::policy {

struct OverloadedCluster {
  struct Settings {
    std::size_t leaves = 4, workers = 2;
    double service_seconds = 0.010;  // mean; half of it fixed, half exponential
    Duration deadline = std::chrono::milliseconds(150);
    double batch_rate = 0;           // arrivals of batch per second, of a deadline of 10 s
    std::set<std::size_t> stuck;     // leaves that answer nothing
    AdmissionSettings admission;
    std::uint64_t seed = 1;
  };
  // What became of the interactive queries that arrived in one second.
  struct Second {
    std::size_t arrived = 0, complete = 0, late = 0, refused = 0, narrowed = 0;
    double work = 0;  // partitions answered in time by answers with all that was asked, in queries of full width
    std::size_t batch_done = 0, limit = 0;
    Duration slowest_refusal{};
  };

  explicit OverloadedCluster(const Settings& s)
      : settings(s), random(s.seed), admission(s.admission, load, Random(s.seed + 1)), leaves(s.leaves) {}

  // Of whole queries, all leaves working.
  double capacity() const { return static_cast<double>(settings.workers) / settings.service_seconds; }

  // rate: of arrivals per second at a time since the start.
  std::vector<Second> run(Duration length, const std::function<double(double seconds)>& rate) {
    const Instant begin = Instant{} + std::chrono::hours(1);
    end = begin + length;
    seconds.assign(static_cast<std::size_t>(to_seconds(length)) + 1, {});
    start = begin;
    // The next arrival is drawn at each: the rate changes slowly against the gaps.
    std::function<void(Instant)> arrive = [&](Instant now) {
      if (now >= end) return;
      arrival(ServiceClass::interactive, now);
      at(now + gap(rate(to_seconds(now - begin))), arrive);
    };
    at(begin, arrive);
    std::function<void(Instant)> arrive_batch = [&](Instant now) {
      if (now >= end) return;
      arrival(ServiceClass::batch, now);
      at(now + gap(settings.batch_rate), arrive_batch);
    };
    if (settings.batch_rate > 0) at(begin, arrive_batch);
    while (!events.empty()) {
      auto event = events.begin();
      const Instant now = event->first.first;
      auto act = std::move(event->second);
      events.erase(event);
      act(now);
      for (auto number = admission.next(now); number; number = admission.next(now)) begin_query(waiting.at(*number), now);
    }
    seconds.pop_back();
    return seconds;
  }

  Settings settings;
  Random random;
  ClusterLoad load;
  Admission admission;
  std::size_t queries_open = 0;

 private:
  struct Query {
    ServiceClass service_class;
    Instant received, deadline, admitted{};
    double fanout = 1;
    std::size_t asked = 0, answered = 0;
    bool over = false;
  };
  struct Piece {
    std::size_t query;
    Instant pushed;
  };
  struct Leaf {
    // By service class.
    std::multimap<Instant, Piece> queue[2];
    std::size_t busy[2]{};
  };

  Duration gap(double rate) { return Duration(static_cast<Duration::rep>(random.exponential(1 / rate) * 1e9)); }
  void at(Instant when, std::function<void(Instant)> act) { events.emplace(std::pair{when, ++order}, std::move(act)); }
  Second& second(const Query& query) {
    return seconds[std::min(seconds.size() - 1, static_cast<std::size_t>(to_seconds(query.received - start)))];
  }

  void arrival(ServiceClass service_class, Instant now) {
    const bool batch = service_class == ServiceClass::batch;
    const std::size_t query = queries.size();
    queries.push_back({service_class, now, now + (batch ? Duration(std::chrono::seconds(10)) : settings.deadline)});
    if (!batch) ++second(queries[query]).arrived;
    second(queries[query]).limit = admission.limit();
    const auto verdict = admission.on_arrival({service_class, now, queries[query].deadline}, now);
    if (verdict.entry == Admission::Entry::admitted) {
      begin_query(query, now);
    } else if (verdict.entry == Admission::Entry::waits) {
      waiting[verdict.number] = query;
      at(verdict.give_up, [this, number = verdict.number](Instant then) {
        const auto found = waiting.find(number);
        if (found == waiting.end()) return;
        refuse(queries[found->second], then);
        waiting.erase(found);
        admission.on_left(number, true, then);
      });
    } else {
      refuse(queries[query], now);
    }
  }

  void refuse(Query& query, Instant now) {
    if (query.service_class == ServiceClass::batch) return;
    auto& s = second(query);
    ++s.refused;
    s.slowest_refusal = std::max(s.slowest_refusal, now - query.received);
  }

  void begin_query(std::size_t index, Instant now) {
    std::erase_if(waiting, [&](const auto& entry) { return entry.second == index; });
    Query& query = queries[index];
    ++queries_open;
    query.admitted = now;
    query.fanout = admission.shedding(query.service_class, now).fanout;
    query.asked = std::max<std::size_t>(1, static_cast<std::size_t>(query.fanout * static_cast<double>(leaves.size()) + 0.999));
    if (query.asked < leaves.size() && query.service_class == ServiceClass::interactive) ++second(query).narrowed;
    const std::size_t first = random.below(leaves.size());
    for (std::size_t i = 0; i < query.asked; ++i) {
      const std::size_t leaf = (first + i) % leaves.size();
      leaves[leaf].queue[static_cast<int>(query.service_class)].emplace(query.deadline, Piece{index, now});
      work(leaf, query.service_class, now);
    }
    at(query.deadline, [this, index](Instant then) { finish(index, then); });
  }

  void work(std::size_t number, ServiceClass service_class, Instant now) {
    Leaf& leaf = leaves[number];
    if (settings.stuck.contains(number)) return;
    auto& queue = leaf.queue[static_cast<int>(service_class)];
    auto& busy = leaf.busy[static_cast<int>(service_class)];
    while (busy < settings.workers && !queue.empty()) {
      const Piece piece = queue.begin()->second;
      queue.erase(queue.begin());
      if (queries[piece.query].over) continue;
      ++busy;
      const Duration queued = now - piece.pushed;
      // What batch works on has the processor when nobody else wants it.
      const double slower = service_class == ServiceClass::batch ? 8 : 1;
      const double service = slower * settings.service_seconds * (0.5 + random.exponential(0.5));
      at(now + Duration(static_cast<Duration::rep>(service * 1e9)), [this, number, service_class, piece, queued](Instant then) {
        --leaves[number].busy[static_cast<int>(service_class)];
        Query& query = queries[piece.query];
        if (!query.over) {
          load.on_waited(LeafId{static_cast<std::uint32_t>(number)}, queued, then);
          load.on_answered(LeafId{static_cast<std::uint32_t>(number)}, {.queue_time = queued}, then);
          if (++query.answered == query.asked) finish(piece.query, then);
        }
        work(number, service_class, then);
      });
    }
  }

  void finish(std::size_t index, Instant now) {
    Query& query = queries[index];
    if (query.over) return;
    query.over = true;
    --queries_open;
    const bool all = query.answered == query.asked;
    if (query.service_class == ServiceClass::batch) {
      if (all) ++second(query).batch_done;
    } else if (all) {
      ++second(query).complete;
      second(query).work += static_cast<double>(query.asked) / static_cast<double>(leaves.size());
    } else {
      ++second(query).late;
    }
    admission.on_ended({query.service_class, query.admitted, query.deadline - query.received, true, !all, all,
                        static_cast<double>(query.answered) / static_cast<double>(query.asked)},
                       now);
  }

  std::vector<Leaf> leaves;
  std::vector<Query> queries;
  std::map<Admission::Number, std::size_t> waiting;
  std::map<std::pair<Instant, std::uint64_t>, std::function<void(Instant)>> events;
  std::uint64_t order = 0;
  Instant start{}, end{};
  std::vector<Second> seconds;
};

}  // namespace hedgerow::policy
