// Hedges and tied pairs as frames between a root and leaves made by hand, and what is counted of them, even after their
// query.

#include <doctest/doctest.h>

#include "fake_cluster.hpp"

namespace hedgerow::root {

namespace {

using policy::FinishReason;

FakeQuery::Wishes hedged_after(Duration delay) {
  FakeQuery::Wishes wishes;
  wishes.hedge = {.mode = policy::HedgeChoice::Mode::fixed, .quantile = 0.95, .delay = delay};
  wishes.trace = true;
  return wishes;
}

FakeQuery::Wishes tied() {
  FakeQuery::Wishes wishes;
  wishes.tied = true;
  wishes.trace = true;
  return wishes;
}

// Keeps searches, and answers all else honestly.
Act keep_in(std::vector<wire::SearchCall>& kept) {
  return [&kept](FakeLeaf& self, wire::Link& link, const wire::Message& message) {
    if (const auto* call = std::get_if<wire::SearchCall>(&message)) return kept.push_back(*call);
    self.answer_honestly(link, message);
  };
}

double ended(const FakeCluster& cluster, AttemptKind kind, AttemptEnding ending) {
  return cluster.metrics.attempts_ended[static_cast<std::size_t>(kind)][static_cast<std::size_t>(ending)]->Value();
}
double sent(const FakeCluster& cluster, AttemptKind kind) {
  return cluster.metrics.attempts_sent[static_cast<std::size_t>(kind)]->Value();
}

wire::PartitionFailure failure_of(const wire::SearchCall& call, wire::FailureReason reason, bool started) {
  wire::PartitionFailure failure;
  failure.call = call.call;
  failure.partition = call.partitions[0];
  failure.reason = reason;
  failure.started = started;
  return failure;
}

std::string outcome_at(const std::vector<AttemptTrace>& trace, const std::string& leaf) {
  std::string outcomes;
  for (const auto& attempt : trace) {
    if (attempt.leaf == leaf) outcomes += (outcomes.empty() ? "" : " ") + std::string(to_string(attempt.kind)) + ":" + attempt.outcome;
  }
  return outcomes;
}

}  // namespace

TEST_CASE("silence is hedged: with its class and the time that is left then, and the loser's answer is never merged (traps 6, 13, 27)") {
  FakeCluster cluster({{0}, {0}});
  cluster.prefer(0);
  std::vector<wire::SearchCall> kept;
  cluster.leaves[0]->act = keep_in(kept);
  cluster.run([&]() -> asio::awaitable<void> {
    {
      auto wishes = hedged_after(20ms);
      wishes.service_class = ServiceClass::batch;
      FakeQuery query(cluster, wishes);
      co_await query.runner.search();
      CHECK(query.runner.fanout().finish_reason() == FinishReason::complete);
      REQUIRE(kept.size() == 1);
      const auto hedges = cluster.leaves[1]->all_received<wire::SearchCall>();
      REQUIRE(hedges.size() == 1);
      CHECK(kept[0].kind == AttemptKind::primary);
      CHECK(hedges[0].kind == AttemptKind::hedge);
      CHECK(hedges[0].service_class == ServiceClass::batch);
      CHECK(hedges[0].time.remaining <= kept[0].time.remaining - 20ms);
      CHECK(query.runner.counts().hedge == 1);
      CHECK(query.runner.counts().hedge_won == 1);
      CHECK(query.runner.counts().cancelled == 1);
      // The loser is told at once; what it says all the same changes nothing.
      co_await cluster.until([&] { return cluster.leaves[0]->all_received<wire::Cancel>().size() == 1; });
      cluster.leaves[0]->link()->send(FakeLeaf::honest_answer(kept[0], PartitionId{0}));
      co_await cluster.until([&] { return ended(cluster, AttemptKind::primary, AttemptEnding::late) == 1; });
      CHECK(query.documents() == Documents{1, 2});
      CHECK(query.runner.matches() == 2);
      const auto trace = query.runner.take_trace();
      CHECK(outcome_at(trace, "leaf-0") == "primary:lost");
      CHECK(outcome_at(trace, "leaf-1") == "hedge:won");
    }
    CHECK(sent(cluster, AttemptKind::hedge) == 1);
    CHECK(ended(cluster, AttemptKind::hedge, AttemptEnding::answered) == 1);
    CHECK(cluster.in_flight(1) == 200);
  });
}

TEST_CASE("what a leaf says of a cancelled attempt after its query is counted: given up in time, while running, or for nothing (trap 19)") {
  struct Row {
    AttemptEnding ending;
    std::function<void(FakeLeaf&, const wire::SearchCall&)> say;
  };
  const Row rows[] = {
      {AttemptEnding::cancelled_queued, [](FakeLeaf& leaf, const wire::SearchCall& call) { leaf.link()->send(failure_of(call, wire::FailureReason::cancelled, false)); }},
      {AttemptEnding::cancelled_running, [](FakeLeaf& leaf, const wire::SearchCall& call) { leaf.link()->send(failure_of(call, wire::FailureReason::cancelled, true)); }},
      {AttemptEnding::late, [](FakeLeaf& leaf, const wire::SearchCall& call) { leaf.link()->send(FakeLeaf::honest_answer(call, call.partitions[0])); }},
      {AttemptEnding::unreachable, [](FakeLeaf& leaf, const wire::SearchCall&) { leaf.link()->close({Errc::cancelled, "died"}); }},
  };
  for (const Row& row : rows) {
    CAPTURE(to_string(row.ending));
    FakeCluster cluster({{0}, {0}});
    cluster.prefer(0);
    std::vector<wire::SearchCall> kept;
    cluster.leaves[0]->act = keep_in(kept);
    cluster.run([&]() -> asio::awaitable<void> {
      {
        FakeQuery query(cluster, hedged_after(1ms));
        co_await query.runner.search();
        REQUIRE(kept.size() == 1);
      }
      CHECK(cluster.cluster.aftermath().size() == 1);
      row.say(*cluster.leaves[0], kept[0]);
      co_await cluster.until([&] { return ended(cluster, AttemptKind::primary, row.ending) == 1; });
      CHECK(cluster.cluster.aftermath().size() == 0);
    });
  }
}

TEST_CASE("the halves of a tied pair carry one name and each other's address, and no two pairs one name") {
  FakeCluster cluster({{0, 1}, {0, 1}});
  std::vector<wire::SearchCall> kept;
  for (auto& leaf : cluster.leaves) leaf->act = keep_in(kept);
  cluster.run([&]() -> asio::awaitable<void> {
    FakeQuery query(cluster, tied(), 15s);
    asio::co_spawn(cluster.io, query.runner.search(), asio::detached);
    const auto ties = [&](std::size_t leaf) {
      std::map<PartitionId, wire::Tie> all;
      for (const auto& call : cluster.leaves[leaf]->all_received<wire::SearchCall>()) {
        CHECK(call.kind == AttemptKind::tied);
        CHECK(call.ties.size() == call.partitions.size());
        for (const auto& tie : call.ties) all[tie.partition] = tie;
      }
      return all;
    };
    co_await cluster.until([&] { return ties(0).size() == 2 && ties(1).size() == 2; });
    const auto first = ties(0), second = ties(1);
    for (const auto partition : {PartitionId{0}, PartitionId{1}}) {
      CHECK(first.at(partition).tie == second.at(partition).tie);
      CHECK(first.at(partition).twin_address == cluster.leaves[1]->topology().address);
      CHECK(second.at(partition).twin_address == cluster.leaves[0]->topology().address);
    }
    CHECK(first.at(PartitionId{0}).tie != first.at(PartitionId{1}).tie);
    CHECK(cluster.metrics.tied_pairs.Value() == 2);
    CHECK(query.runner.counts().tied == 4);
    query.runner.abandon();
    co_await cluster.until([&] { return cluster.leaves[0]->all_received<wire::Cancel>().size() >= 1; });
  });
}

TEST_CASE("where a leaf cannot tell its twin that it has begun, the root takes the other half back, and the other's word changes nothing") {
  FakeCluster cluster({{0}, {0}});
  std::vector<wire::SearchCall> first, second;
  cluster.leaves[0]->act = keep_in(first);
  cluster.leaves[1]->act = keep_in(second);
  cluster.run([&]() -> asio::awaitable<void> {
    FakeQuery query(cluster, tied());
    bool over = false;
    asio::co_spawn(cluster.io, query.runner.search(), [&](std::exception_ptr) { over = true; });
    co_await cluster.until([&] { return first.size() == 1 && second.size() == 1; });
    cluster.leaves[0]->link()->send(wire::TieStarted{first[0].ties[0].tie, first[0].call, PartitionId{0}});
    co_await cluster.until([&] { return cluster.leaves[1]->all_received<wire::Cancel>().size() == 1; });
    CHECK(cluster.leaves[1]->all_received<wire::Cancel>()[0].partitions == std::vector{PartitionId{0}});
    cluster.leaves[1]->link()->send(wire::TieStarted{second[0].ties[0].tie, second[0].call, PartitionId{0}});
    cluster.leaves[1]->link()->send(failure_of(second[0], wire::FailureReason::cancelled, false));
    co_await cluster.until([&] { return ended(cluster, AttemptKind::tied, AttemptEnding::cancelled_queued) == 1; });
    CHECK_FALSE(over);
    CHECK(cluster.leaves[0]->all_received<wire::Cancel>().empty());
    cluster.leaves[0]->answer_honestly(*cluster.leaves[0]->link(), first[0]);
    co_await cluster.until([&] { return over; });
    CHECK(query.runner.fanout().finish_reason() == FinishReason::complete);
    CHECK(query.documents() == Documents{1, 2});
    const auto trace = query.runner.take_trace();
    CHECK(outcome_at(trace, "leaf-0") == "tied:answered");
    CHECK(outcome_at(trace, "leaf-1") == "tied:superseded");
    CHECK(cluster.metrics.tied_both_began.Value() == 0);
  });
}

TEST_CASE("tied pairs of which both halves began are counted, each once, whether the query still lives or not") {
  FakeCluster cluster({{0}, {0}});
  std::vector<wire::SearchCall> kept[2];
  for (std::size_t i = 0; i < 2; ++i) cluster.leaves[i]->act = keep_in(kept[i]);
  cluster.run([&]() -> asio::awaitable<void> {
    // The second half is executed to its end, or stopped while it runs; or it is let go in time, which is no race.
    for (int round = 0; round < 3; ++round) {
      {
        FakeQuery query(cluster, tied());
        bool over = false;
        asio::co_spawn(cluster.io, query.runner.search(), [&](std::exception_ptr) { over = true; });
        co_await cluster.until([&] { return kept[0].size() == 1 && kept[1].size() == 1; });
        cluster.leaves[0]->answer_honestly(*cluster.leaves[0]->link(), kept[0][0]);
        co_await cluster.until([&] { return over; });
        CHECK(query.documents() == Documents{1, 2});
      }
      if (round == 0) cluster.leaves[1]->answer_honestly(*cluster.leaves[1]->link(), kept[1][0]);
      if (round > 0) cluster.leaves[1]->link()->send(failure_of(kept[1][0], wire::FailureReason::cancelled, round == 1));
      co_await cluster.until([&] { return cluster.cluster.aftermath().size() == 0; });
      CHECK(cluster.metrics.tied_both_began.Value() == std::min(round + 1, 2));
      kept[0].clear();
      kept[1].clear();
    }
    CHECK(ended(cluster, AttemptKind::tied, AttemptEnding::answered) == 3);
    CHECK(ended(cluster, AttemptKind::tied, AttemptEnding::late) == 1);
  });
}

TEST_CASE("an answer that a canary brought is merged like any other, once, and its partition is asked of nobody") {
  FakeCluster cluster({{0, 1}, {0, 1}});
  cluster.run([&]() -> asio::awaitable<void> {
    FakeQuery query(cluster, FakeQuery::Wishes{});
    wire::SearchCall asked;
    query.runner.adopt(PartitionId{1}, LeafId{0}, FakeLeaf::honest_answer(asked, PartitionId{1}));
    query.runner.adopt(PartitionId{3}, LeafId{0}, FakeLeaf::honest_answer(asked, PartitionId{3}));  // nobody asked for it
    co_await query.runner.search();
    CHECK(query.documents() == Documents{11, 1, 12, 2});
    CHECK(query.runner.matches() == 4);
    CHECK(query.runner.counts().primary == 1);
    const auto documents = co_await query.runner.fetch(query.runner.merge().hits());
    CHECK(documents[0].has_value());
  });
}

TEST_CASE("what is asked later need not tell of hits that are behind those merged already") {
  for (const std::uint32_t most_hits : {2U, 3U}) {
    CAPTURE(most_hits);
    FakeCluster cluster({{0}, {1}, {0}});
    cluster.prefer(0);
    std::function<void()> fail;
    cluster.leaves[0]->act = on_search([&](FakeLeaf&, wire::Link& link, const wire::SearchCall& call) {
      CHECK(call.score_threshold == 0);
      fail = [&link, call] { link.send(failure_of(call, wire::FailureReason::failed, true)); };
    });
    cluster.run([&]() -> asio::awaitable<void> {
      FakeQuery query(cluster, FakeQuery::Wishes{.most_hits = most_hits});
      query.runner.begin();
      co_await cluster.until([&] { return fail && query.documents().size() == 2; });
      fail();
      co_await query.runner.search();
      CHECK(query.runner.fanout().finish_reason() == FinishReason::complete);
      const auto retries = cluster.leaves[2]->all_received<wire::SearchCall>();
      REQUIRE(retries.size() == 1);
      // Partition 1 has answered with scores of 3 and 2: the best two, but not the best three.
      CHECK(retries[0].score_threshold == (most_hits == 2 ? 2.0 : 0.0));
    });
  }
}

}  // namespace hedgerow::root
