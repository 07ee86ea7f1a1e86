// The runner and the leaf clients against leaves that are honest, silent, broken or hostile, over real links.

#include <doctest/doctest.h>

#include <limits>

#include "fake_cluster.hpp"

namespace hedgerow::root {

namespace {

using policy::FinishReason;
using policy::PartitionState;

// Of partitions 0 and 1 together: scores 3, 2 and 2, 1; the tie goes to the smaller document.
const Documents both{11, 1, 12, 2};

// Answers the first partition of a search in its own way.
Act with_answer(std::function<void(wire::PartitionAnswer&)> spoil) {
  return on_search([spoil](FakeLeaf&, wire::Link& link, const wire::SearchCall& call) {
    auto answer = FakeLeaf::honest_answer(call, call.partitions[0]);
    spoil(answer);
    link.send(answer);
  });
}

}  // namespace

TEST_CASE("a query is asked of all partitions, merged, and its hits are fetched from who found them") {
  FakeCluster cluster({{0, 1}, {2, 3}});
  cluster.run([&]() -> asio::awaitable<void> {
    FakeQuery query(cluster);
    co_await query.runner.search();
    CHECK(query.runner.fanout().finish_reason() == FinishReason::complete);
    CHECK(query.documents() == Documents{31, 21, 32, 11, 22, 1, 12, 2});
    CHECK(query.runner.matches() == 8);
    CHECK(query.runner.matches_exact());
    CHECK(query.runner.counts().primary == 4);
    // One frame a leaf carries its partitions.
    CHECK(cluster.leaves[0]->all_received<wire::SearchCall>().size() == 1);
    const auto hits = query.runner.merge().hits();
    const auto documents = co_await query.runner.fetch(hits);
    REQUIRE(documents.size() == 8);
    for (std::size_t i = 0; i < 8; ++i) {
      REQUIRE(documents[i].has_value());
      CHECK(documents[i]->id == "id-" + std::to_string(hits[i].hit.document.value));
      CHECK(documents[i]->url == (hits[i].partition.value < 2 ? "by leaf-0" : "by leaf-1"));
    }
  });
}

TEST_CASE("a call carries what remains of the time when it is sent") {
  FakeCluster cluster({{0}, {0}});
  cluster.prefer(0);
  std::optional<Duration> first, second;
  cluster.leaves[0]->act = on_search([&](FakeLeaf&, wire::Link& link, const wire::SearchCall& call) {
    first = call.time.remaining;
    const auto until = std::chrono::steady_clock::now() + 20ms;  // keeps the loop busy: time passes for all
    while (std::chrono::steady_clock::now() < until) {
    }
    wire::PartitionFailure failure;
    failure.call = call.call;
    failure.reason = wire::FailureReason::refused;
    link.send(failure);
  });
  cluster.leaves[1]->act = on_search([&](FakeLeaf& self, wire::Link& link, const wire::SearchCall& call) {
    second = call.time.remaining;
    CHECK(call.kind == AttemptKind::retry);
    self.answer_honestly(link, call);
  });
  cluster.run([&]() -> asio::awaitable<void> {
    FakeQuery query(cluster);
    co_await query.runner.search();
    CHECK(query.runner.fanout().finish_reason() == FinishReason::complete);
    REQUIRE(first.has_value());
    REQUIRE(second.has_value());
    CHECK(*first <= 15s);
    CHECK(*second <= *first - 20ms);
    CHECK(query.runner.counts().retry == 1);
  });
}

TEST_CASE("a leaf whose answer cannot be true is dropped and named, and its numbers are never merged") {
  struct Row {
    const char* what;
    const char* named;
    Act act;
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const Row rows[] = {
      {"no number", "score", with_answer([](auto& a) { a.scores[0] = nan; })},
      {"infinite", "score", with_answer([](auto& a) { a.scores[0] = std::numeric_limits<double>::infinity(); })},
      {"below zero", "score", with_answer([](auto& a) { a.scores[1] = -1; })},
      {"out of order", "order", with_answer([](auto& a) { std::swap(a.scores[0], a.scores[1]); })},
      {"twice the same", "order", with_answer([](auto& a) { a.documents[1] = a.documents[0]; a.scores[1] = a.scores[0]; })},
      {"foreign document", "collection", with_answer([](auto& a) { a.documents[0] = 41; })},
      {"matches", "matches", with_answer([](auto& a) { a.matches = 11; })},
      {"too many hits", "more hits", with_answer([](auto& a) {
         a.documents.clear();
         a.scores.clear();
         for (std::uint32_t i = 0; i < 11; ++i) {
           a.documents.push_back(1 + i);
           a.scores.push_back(1000 - i);
         }
       })},
      {"a partition not asked", "partition 3", with_answer([](auto& a) { a.partition = PartitionId{3}; })},
      {"a failure for a partition not asked", "partition 9",
       on_search([](FakeLeaf&, wire::Link& link, const wire::SearchCall& call) {
         wire::PartitionFailure failure;
         failure.call = call.call;
         failure.partition = PartitionId{9};
         link.send(failure);
       })},
      {"the same partition twice", "has an answer for",
       on_search([](FakeLeaf&, wire::Link& link, const wire::SearchCall& call) {
         link.send(FakeLeaf::honest_answer(call, PartitionId{0}));
         link.send(FakeLeaf::honest_answer(call, PartitionId{0}));
       })},
      {"more often than asked", "no call",
       on_search([](FakeLeaf& self, wire::Link& link, const wire::SearchCall& call) {
         self.answer_honestly(link, call);
         self.answer_honestly(link, call);
       })},
      {"an answer of another kind", "something else",
       on_search([](FakeLeaf&, wire::Link& link, const wire::SearchCall& call) {
         wire::FetchAnswer answer;
         answer.call = call.call;
         link.send(answer);
       })},
      {"an answer to no call", "no call",
       on_search([](FakeLeaf&, wire::Link& link, const wire::SearchCall& call) {
         auto answer = FakeLeaf::honest_answer(call, PartitionId{0});
         answer.call = CallId{call.call.value + 1000};
         link.send(answer);
       })},
      {"a call of its own", "no call",
       on_search([](FakeLeaf&, wire::Link& link, const wire::SearchCall& call) {
         auto mirrored = call;
         mirrored.call = CallId{77};
         link.send(mirrored);
       })},
      {"a second hello", "second hello",
       on_search([](FakeLeaf& self, wire::Link& link, const wire::SearchCall&) { link.send(self.hello); })},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    // The pause after a broken protocol is long, so that the state can be looked at.
    auto settings = FakeCluster::quick();
    settings.longest_pause = 1h;
    FakeCluster cluster({{0, 1}, {0, 1}}, settings);
    cluster.prefer(0);
    cluster.leaves[0]->act = row.act;
    cluster.run([&]() -> asio::awaitable<void> {
      FakeQuery query(cluster);
      co_await query.runner.search();
      co_await cluster.until([&] { return cluster.client(0)->state() == LeafClient::State::mismatched; });
      CHECK(query.runner.fanout().finish_reason() == FinishReason::complete);
      CHECK(query.documents() == both);
      CHECK(query.runner.matches() == 4);
      const auto status = cluster.client(0)->status();
      CHECK(status.last_error.find("protocol") != std::string::npos);
      CHECK(status.last_error.find(row.named) != std::string::npos);
      CHECK(status.open_calls == 0);
      CHECK(cluster.metrics.links_dropped_for_protocol.Value() == 1);
      CHECK(cluster.client(1)->serving());
      CHECK(cluster.in_flight(0) == 0);
      CHECK(cluster.in_flight(1) == 200);  // made busy for searches and for the rest
    });
  }
}

TEST_CASE("a fetch answered with other documents than asked drops the leaf, and the titles come from a replica") {
  const std::function<void(wire::FetchAnswer&)> spoils[] = {
      [](wire::FetchAnswer& answer) { answer.documents.pop_back(); },
      [](wire::FetchAnswer& answer) { answer.documents.push_back({"x", "y", "z"}); },
      [](wire::FetchAnswer& answer) { answer.documents.clear(); },
  };
  for (const auto& spoil : spoils) {
    auto settings = FakeCluster::quick();
    settings.longest_pause = 1h;
    FakeCluster cluster({{0, 1}, {0, 1}}, settings);
    cluster.prefer(0);
    cluster.leaves[0]->act = [&](FakeLeaf& self, wire::Link& link, const wire::Message& message) {
      const auto* fetch = std::get_if<wire::FetchCall>(&message);
      if (!fetch) return self.answer_honestly(link, message);
      wire::FetchAnswer answer;
      answer.call = fetch->call;
      answer.documents.resize(fetch->documents.size());
      spoil(answer);
      link.send(answer);
    };
    cluster.run([&]() -> asio::awaitable<void> {
      FakeQuery query(cluster);
      co_await query.runner.search();
      const auto hits = query.runner.merge().hits();
      const auto documents = co_await query.runner.fetch(hits);
      REQUIRE(documents.size() == 4);
      for (const auto& document : documents) {
        REQUIRE(document.has_value());
        CHECK(document->url == "by leaf-1");
      }
      co_await cluster.until([&] { return cluster.client(0)->state() == LeafClient::State::mismatched; });
      CHECK(cluster.metrics.links_dropped_for_protocol.Value() == 1);
    });
  }
}

TEST_CASE("titles that come with hits are those of their partition, whatever other partitions' documents a leaf names") {
  FakeCluster cluster({{0}, {1}});
  const auto with_titles = [](const std::string& whose, PartitionId numbers_of) {
    return on_search([=](FakeLeaf&, wire::Link& link, const wire::SearchCall& call) {
      auto answer = FakeLeaf::honest_answer(call, call.partitions[0]);
      answer.documents = FakeLeaf::honest_answer(call, numbers_of).documents;
      for (const auto number : answer.documents) answer.shown.push_back({std::to_string(number), whose, ""});
      link.send(answer);
    });
  };
  cluster.leaves[0]->act = with_titles("leaf-0's", PartitionId{0});
  cluster.leaves[1]->act = with_titles("leaf-1's", PartitionId{0});  // which it does not hold
  cluster.run([&]() -> asio::awaitable<void> {
    FakeQuery query(cluster, FakeQuery::Wishes{.titles = 2});
    co_await query.runner.search();
    const auto hits = query.runner.merge().hits();
    const auto documents = co_await query.runner.fetch(hits);
    REQUIRE(documents.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
      REQUIRE(documents[i].has_value());
      CHECK(documents[i]->title == (hits[i].partition.value == 0 ? "leaf-0's" : "leaf-1's"));
    }
  });
}

TEST_CASE("a silent leaf costs the search its end and no more, and what it says later is counted, never merged") {
  FakeCluster cluster({{0}, {1}});
  std::vector<wire::SearchCall> kept;
  cluster.leaves[0]->act = on_search([&](FakeLeaf&, wire::Link&, const wire::SearchCall& call) { kept.push_back(call); });
  cluster.run([&]() -> asio::awaitable<void> {
    {
      FakeQuery query(cluster, 50ms);
      co_await query.runner.search();
      CHECK(query.runner.fanout().finish_reason() == FinishReason::deadline);
      CHECK(query.state(0) == PartitionState::late);
      CHECK(query.state(1) == PartitionState::answered);
      CHECK(query.runner.counts().cancelled == 1);
      REQUIRE(kept.size() == 1);
      // While the query is still at its second phase, the late answer comes.
      co_await cluster.until([&] { return !cluster.leaves[0]->all_received<wire::Cancel>().empty(); });
      cluster.leaves[0]->link()->send(FakeLeaf::honest_answer(kept[0], PartitionId{0}));
      co_await cluster.until([&] { return cluster.metrics.answers_late.Value() == 1; });
      CHECK(query.documents() == Documents{11, 12});
      CHECK(query.runner.matches() == 2);
    }
    {
      FakeQuery query(cluster, 50ms);
      co_await query.runner.search();
      REQUIRE(kept.size() == 2);
      CHECK(cluster.client(0)->status().open_calls == 1);
    }
    // And now when the query is gone.
    cluster.leaves[0]->link()->send(FakeLeaf::honest_answer(kept[1], PartitionId{0}));
    co_await cluster.until([&] { return cluster.client(0)->status().late_answers == 1; });
    CHECK(cluster.client(0)->status().open_calls == 0);
    CHECK(cluster.client(0)->status().unanswered_bytes == 0);
    CHECK(cluster.client(0)->serving());
  });
}

TEST_CASE("while a straggler is waited for, the titles of the hits that stand are fetched, and not again afterwards") {
  FakeCluster cluster({{0, 1}, {2, 3}});
  std::size_t fetched_before_the_end = 0;
  bool over = false;
  cluster.leaves[0]->act = [&](FakeLeaf& self, wire::Link& link, const wire::Message& message) {
    if (std::holds_alternative<wire::FetchCall>(message) && !over) ++fetched_before_the_end;
    self.answer_honestly(link, message);
  };
  cluster.leaves[1]->act = stay_silent;
  cluster.run([&]() -> asio::awaitable<void> {
    FakeQuery query(cluster, 300ms, 400ms);
    co_await query.runner.search();
    over = true;
    CHECK(query.runner.fanout().finish_reason() == FinishReason::deadline);
    CHECK(fetched_before_the_end == 1);
    const auto hits = query.runner.merge().hits();
    REQUIRE(hits.size() == 4);
    const auto documents = co_await query.runner.fetch(hits);
    for (std::size_t i = 0; i < 4; ++i) {
      REQUIRE(documents[i].has_value());
      CHECK(documents[i]->id == "id-" + std::to_string(hits[i].hit.document.value));
    }
    CHECK(cluster.leaves[0]->all_received<wire::FetchCall>().size() == 1);
  });
}

TEST_CASE("when a link is lost, its partitions are asked of replicas at once, and the leaf is back soon") {
  FakeCluster cluster({{0, 1}, {0, 1}});
  cluster.prefer(0);
  cluster.leaves[0]->act = on_search([](FakeLeaf& self, wire::Link& link, const wire::SearchCall&) {
    self.act = [](FakeLeaf& again, wire::Link& l, const wire::Message& m) { again.answer_honestly(l, m); };
    link.close({Errc::cancelled, "died"});
  });
  cluster.run([&]() -> asio::awaitable<void> {
    FakeQuery query(cluster);
    co_await query.runner.search();
    CHECK(query.runner.fanout().finish_reason() == FinishReason::complete);
    CHECK(query.documents() == both);
    CHECK(query.runner.counts().retry == 2);
    CHECK(cluster.metrics.links_lost.Value() == 1);
    co_await cluster.until([&] { return cluster.serving() == 2; });
    CHECK(cluster.leaves[0]->links == 2);
    FakeQuery next(cluster);
    co_await next.runner.search();
    CHECK(next.runner.counts().retry == 0);
    CHECK(next.runner.fanout().answered_by(0) == LeafId{0});
  });
}

TEST_CASE("a retry that the budget refuses is counted, and the query ends without it") {
  FakeCluster cluster({{0}, {0}});
  cluster.prefer(0);
  cluster.leaves[0]->act = on_search([](FakeLeaf&, wire::Link& link, const wire::SearchCall& call) {
    wire::PartitionFailure failure;
    failure.call = call.call;
    link.send(failure);
  });
  cluster.run([&]() -> asio::awaitable<void> {
    while (cluster.cluster.policies().search.retry_budget.take()) {
    }
    FakeQuery query(cluster);
    co_await query.runner.search();
    CHECK(query.runner.fanout().finish_reason() == FinishReason::exhausted);
    CHECK(query.state(0) == PartitionState::failed);
    CHECK(cluster.metrics.retries_refused_by_budget.Value() == 1);
  });
}

TEST_CASE("when the client goes away, searches and fetches that are under way are cancelled on the leaves") {
  FakeCluster cluster(Held{{0, 1}});
  cluster.run([&]() -> asio::awaitable<void> {
    FakeLeaf& leaf = *cluster.leaves[0];
    leaf.act = stay_silent;
    {
      FakeQuery query(cluster);
      asio::post(cluster.io, [&] { query.runner.abandon(); });
      co_await query.runner.search();
      CHECK(query.runner.abandoned());
      co_await cluster.until([&] { return leaf.all_received<wire::Cancel>().size() == 1; });
      CHECK(leaf.all_received<wire::Cancel>()[0].partitions == std::vector{PartitionId{0}, PartitionId{1}});
    }
    leaf.received.clear();
    leaf.act = on_search([](FakeLeaf& self, wire::Link& link, const wire::SearchCall& call) { self.answer_honestly(link, call); });
    {
      FakeQuery query(cluster);
      co_await query.runner.search();
      leaf.act = stay_silent;
      asio::post(cluster.io, [&] { query.runner.abandon(); });
      const auto hits = query.runner.merge().hits();
      const auto documents = co_await query.runner.fetch(hits);
      CHECK_FALSE(documents[0].has_value());
      co_await cluster.until([&] { return leaf.all_received<wire::Cancel>().size() == 1; });
      CHECK(leaf.all_received<wire::Cancel>()[0].call == leaf.all_received<wire::FetchCall>()[0].call);
    }
    CHECK(cluster.in_flight(0) == 0);
  });
}

TEST_CASE("a runner that is destroyed while calls are open hears nothing of them any more") {
  FakeCluster cluster(Held{{0, 1}});
  std::vector<wire::SearchCall> kept;
  cluster.leaves[0]->act = on_search([&](FakeLeaf&, wire::Link&, const wire::SearchCall& call) { kept.push_back(call); });
  cluster.run([&]() -> asio::awaitable<void> {
    {
      auto query = std::make_unique<FakeQuery>(cluster, 20ms);
      co_await query->runner.search();
      co_await cluster.until([&] { return kept.size() == 1; });
    }
    CHECK(cluster.in_flight(0) == 0);
    cluster.leaves[0]->answer_honestly(*cluster.leaves[0]->link(), kept[0]);
    co_await cluster.until([&] { return cluster.client(0)->status().late_answers == 2; });
  });
}

TEST_CASE("an attempt at a leaf that is gone is in the trace, and spoils no other attempt's entry") {
  FakeCluster cluster(Held{{0}});
  cluster.run([&]() -> asio::awaitable<void> {
    cluster.cluster.policies().search.on_leaf_up(LeafId{9});  // and no such client
    FakeQuery query(cluster, 20s, 25s, true);
    query.assignment = {{{PartitionId{0}, {LeafId{0}}}, {PartitionId{1}, {LeafId{9}}}}, {}, {}};
    FanoutRunner runner(cluster.io.get_executor(), cluster.cluster, cluster.metrics,
                        {query.plan, 10, 0, ServiceClass::interactive, std::chrono::steady_clock::now(),
                         std::chrono::steady_clock::now() + 20s, std::chrono::steady_clock::now() + 25s, true},
                        query.assignment);
    co_await runner.search();
    CHECK(runner.fanout().finish_reason() == FinishReason::exhausted);
    const auto trace = runner.take_trace();
    REQUIRE(trace.size() == 2);
    CHECK(trace[0].leaf == "leaf-0");
    CHECK(trace[0].outcome == "answered");
    CHECK(trace[1].partition == PartitionId{1});
    CHECK(trace[1].outcome == "unreachable");
  });
}

TEST_CASE("what a leaf tells of injected faults is in the trace, of searches and of fetches, answered and failed") {
  for (const bool fails : {false, true}) {
    CAPTURE(fails);
    FakeCluster cluster(Held{{0}});
    cluster.leaves[0]->act = [&](FakeLeaf&, wire::Link& link, const wire::Message& message) {
      if (const auto* call = std::get_if<wire::SearchCall>(&message)) {
        auto answer = FakeLeaf::honest_answer(*call, PartitionId{0});
        answer.fault = "late 1ms";
        return static_cast<void>(link.send(answer));
      }
      const auto* call = std::get_if<wire::FetchCall>(&message);
      if (!call) return;
      if (fails) return static_cast<void>(link.send(wire::CallFailure{call->call, wire::FailureReason::failed, "no", "error, pause"}));
      wire::FetchAnswer answer;
      answer.call = call->call;
      answer.documents.resize(call->documents.size(), {"id", "title", "url"});
      answer.fault = "hold 2ms";
      link.send(answer);
    };
    cluster.run([&]() -> asio::awaitable<void> {
      FakeQuery query(cluster, 15s, 20s, true);
      co_await query.runner.search();
      co_await query.runner.fetch(query.runner.merge().hits());
      const auto trace = query.runner.take_trace();
      REQUIRE(trace.size() == 2);
      CHECK(trace[0].work == "search");
      CHECK(trace[0].fault == "late 1ms");
      CHECK(trace[1].work == "fetch");
      CHECK(trace[1].outcome == (fails ? "failed" : "answered"));
      CHECK(trace[1].fault == (fails ? "error, pause" : "hold 2ms"));
    });
  }
}

TEST_CASE("a leaf of another version, collection or generation is not asked, and its client says why") {
  const std::function<void(wire::Hello&)> changes[] = {
      [](wire::Hello& hello) { hello.version = wire::protocol_version + 1; },
      [](wire::Hello& hello) { hello.collection = "other"; },
      [](wire::Hello& hello) { hello.generation = Generation{4}; },
  };
  const std::string named[] = {"version " + std::to_string(wire::protocol_version + 1), "'other'", "generation 4"};
  for (std::size_t i = 0; i < 3; ++i) {
    CAPTURE(named[i]);
    auto settings = FakeCluster::quick();
    settings.longest_pause = 1h;
    FakeCluster cluster({{0}, {0}}, settings);
    changes[i](cluster.leaves[0]->hello);
    cluster.run([&]() -> asio::awaitable<void> {
      co_await cluster.until([&] { return cluster.client(0)->state() == LeafClient::State::mismatched && cluster.serving() == 1; });
      CHECK(cluster.client(0)->last_error().find(named[i]) != std::string::npos);
      CHECK_FALSE(cluster.cluster.policies().search.replica_choice.is_up(LeafId{0}));
      FakeQuery query(cluster);
      co_await query.runner.search();
      CHECK(query.runner.fanout().answered_by(0) == LeafId{1});
      CHECK(cluster.leaves[0]->received.empty());
    }, false);
  }
}

TEST_CASE("a leaf that answers nothing has its link closed when its unanswered calls weigh too much") {
  auto settings = FakeCluster::quick();
  settings.unanswered_bytes = 2000;
  FakeCluster cluster(Held{{0}}, settings);
  cluster.leaves[0]->act = stay_silent;
  cluster.run([&]() -> asio::awaitable<void> {
    int queries = 0;
    while (cluster.metrics.links_lost.Value() == 0) {
      FakeQuery query(cluster, 1ms);
      co_await query.runner.search();
      REQUIRE(++queries < 200);
      REQUIRE(cluster.client(0)->status().unanswered_bytes < 3000);
    }
    CHECK(queries > 5);
    co_await cluster.until([&] { return cluster.serving() == 1; });
    CHECK(cluster.client(0)->status().open_calls == 0);
    CHECK(cluster.client(0)->status().unanswered_bytes == 0);
  });
}

TEST_CASE("a leaf that leaves the topology answers its open calls, is asked nothing more, and is let go") {
  FakeCluster cluster({{0}, {0}});
  cluster.prefer(0);
  std::vector<wire::SearchCall> kept;
  cluster.leaves[0]->act = on_search([&](FakeLeaf&, wire::Link&, const wire::SearchCall& call) { kept.push_back(call); });
  cluster.run([&]() -> asio::awaitable<void> {
    FakeQuery open(cluster);
    bool answered = false;
    asio::co_spawn(cluster.io, open.runner.search(), [&](std::exception_ptr) { answered = true; });
    co_await cluster.until([&] { return kept.size() == 1; });
    const std::weak_ptr<LeafClient> leaving = cluster.client(0);
    cluster.apply({1});
    CHECK(cluster.client(0) == nullptr);
    CHECK_FALSE(cluster.cluster.policies().search.replica_choice.is_up(LeafId{0}));

    FakeQuery next(cluster);
    co_await next.runner.search();
    CHECK(next.runner.fanout().answered_by(0) == LeafId{1});
    CHECK(kept.size() == 1);

    REQUIRE(cluster.leaves[0]->link() != nullptr);
    cluster.leaves[0]->link()->send(FakeLeaf::honest_answer(kept[0], PartitionId{0}));
    co_await cluster.until([&] { return answered; });
    CHECK(open.runner.fanout().answered_by(0) == LeafId{0});
    CHECK(open.runner.counts().retry == 0);
    co_await cluster.until([&] { return cluster.leaves[0]->link() == nullptr; });
    CHECK(cluster.metrics.links_lost.Value() == 0);
    CHECK(cluster.cluster.client(LeafId{0}) == nullptr);
    // Put back, it is a new leaf to the root.
    cluster.apply({0, 1});
    co_await cluster.until([&] { return cluster.serving() == 2; });
    CHECK(cluster.leaves[0]->links == 2);
  });
}

TEST_CASE("a leaf that leaves the topology and never answers is let go all the same") {
  auto settings = FakeCluster::quick();
  settings.farewell = 20ms;
  FakeCluster cluster({{0}, {0}}, settings);
  cluster.prefer(0);
  cluster.leaves[0]->act = stay_silent;
  cluster.run([&]() -> asio::awaitable<void> {
    FakeQuery query(cluster);
    bool answered = false;
    asio::co_spawn(cluster.io, query.runner.search(), [&](std::exception_ptr) { answered = true; });
    co_await cluster.until([&] { return cluster.leaves[0]->received.size() == 1; });
    cluster.apply({1});
    co_await cluster.until([&] { return answered; });
    CHECK(query.runner.counts().retry == 1);
    CHECK(query.runner.fanout().answered_by(0) == LeafId{1});
  });
}

TEST_CASE("a cluster is ready when every partition has a leaf that serves it") {
  FakeCluster cluster({{0, 1}, {2}});
  cluster.run([&]() -> asio::awaitable<void> {
    CHECK_FALSE(cluster.cluster.ready());  // nobody has partition 3
    FakeQuery query(cluster);
    CHECK(query.assignment.unassigned == std::vector{PartitionId{3}});
    cluster.leaves.push_back(std::make_unique<FakeLeaf>(cluster.io, "leaf-2", std::vector<std::uint32_t>{3}));
    cluster.apply({0, 1, 2});
    CHECK_FALSE(cluster.cluster.ready());
    co_await cluster.until([&] { return cluster.cluster.ready(); });
    CHECK(cluster.metrics.leaves_serving.Value() == 3);
    cluster.leaves[1]->link()->close({Errc::cancelled, "down"});
    co_await cluster.until([&] { return !cluster.cluster.ready(); });
  });
}

}  // namespace hedgerow::root
