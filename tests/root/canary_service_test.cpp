// Canary requests against leaves that are honest, silent, busy or that die, over real links.
#include <doctest/doctest.h>

#include "fake_cluster.hpp"
#include "root/canary_service.hpp"

namespace hedgerow::root {

namespace {

using policy::CanaryAnswer;

const Act die = on_search([](FakeLeaf&, wire::Link& link, const wire::SearchCall&) { link.close({Errc::unavailable, "crash"}); });

Act fail_with(wire::FailureReason reason) {
  return on_search([reason](FakeLeaf&, wire::Link& link, const wire::SearchCall& call) {
    for (const auto partition : call.partitions) {
      wire::PartitionFailure failure;
      failure.call = call.call;
      failure.partition = partition;
      failure.reason = reason;
      link.send(failure);
    }
  });
}

// So many leaves, each with all partitions.
Held all_of(std::size_t leaves) { return Held(leaves, {0, 1, 2, 3}); }

struct Service {
  explicit Service(FakeCluster& cluster, policy::CanariesSettings settings = {})
      : service(cluster.io.get_executor(), cluster.cluster, cluster.metrics, settings, 1),
        assignment(assign(*cluster.cluster.replicas(), std::nullopt, 0)) {
    plan.serialised_query = "a query";
    plan.terms = {{"word", 3}};
    plan.generation = cluster.cluster.manifest().generation;
  }

  CanaryRequest::Query query(Duration time = 15s, CanaryUse use = CanaryUse::automatic, bool trace = false) const {
    const Instant now = std::chrono::steady_clock::now();
    return {plan, assignment, "as typed", 10, ServiceClass::batch, use, now, now + time, trace};
  }

  CanaryService service;
  QueryPlan plan;
  Assignment assignment;
};

std::size_t searches(const FakeCluster& cluster) {
  std::size_t count = 0;
  for (const auto& leaf : cluster.leaves) count += leaf->all_received<wire::SearchCall>().size();
  return count;
}

double ended(const FakeCluster& cluster, AttemptEnding ending) {
  return cluster.metrics.attempts_ended[static_cast<std::size_t>(AttemptKind::canary)][static_cast<std::size_t>(ending)]->Value();
}
double sent(const FakeCluster& cluster) {
  return cluster.metrics.attempts_sent[static_cast<std::size_t>(AttemptKind::canary)]->Value();
}

// Asks, and says what came of it.
asio::awaitable<CanaryAnswer> outcome(Service& service, Duration time = 15s, CanaryUse use = CanaryUse::automatic) {
  CanaryRequest request(service.service, service.query(time, use));
  co_return co_await request.wait();
}

}  // namespace

TEST_CASE("plans that differ in query, terms or generation have different fingerprints, and equal ones the same") {
  QueryPlan plan;
  plan.serialised_query = "ab";
  plan.terms = {{"c", 1}, {"d", 2}};
  plan.generation = Generation{3};
  const auto with = [&](auto change) {
    QueryPlan other = plan;
    change(other);
    return fingerprint_of(other);
  };
  CHECK(with([](QueryPlan&) {}) == fingerprint_of(plan));
  CHECK(with([](QueryPlan& p) { p.notes = {"as typed otherwise"}; }) == fingerprint_of(plan));
  CHECK(with([](QueryPlan& p) { p.serialised_query = "abc"; }) != fingerprint_of(plan));
  CHECK(with([](QueryPlan& p) { p.terms = {{"cd", 1}}; }) != fingerprint_of(plan));
  CHECK(with([](QueryPlan& p) { p.generation = Generation{4}; }) != fingerprint_of(plan));
}

TEST_CASE("a first query is tried on one leaf, which gives its answer too, and the next one is known to be safe") {
  FakeCluster cluster(all_of(4));
  cluster.run([&]() -> asio::awaitable<void> {
    Service service(cluster);
    CanaryRequest request(service.service, service.query(15s, CanaryUse::automatic, true));
    const auto first = co_await request.wait();
    CHECK(first == CanaryAnswer::go);
    REQUIRE(request.answered());
    CHECK(request.attempts() == 1);
    CHECK(request.answered()->answer.documents.size() == 2);
    CHECK(request.answered()->answer.documents[0] == request.answered()->partition.value * 10 + 1);
    const auto trace = request.take_trace();
    REQUIRE(trace.size() == 1);
    CHECK(trace[0].kind == AttemptKind::canary);
    CHECK(trace[0].outcome == "answered");
    CHECK(trace[0].leaf == "leaf-" + std::to_string(request.answered()->leaf.value));

    CHECK(searches(cluster) == 1);
    for (const auto& leaf : cluster.leaves) {
      for (const auto& call : leaf->all_received<wire::SearchCall>()) {
        CHECK(call.kind == AttemptKind::canary);
        CHECK(call.service_class == ServiceClass::batch);
        CHECK(call.k == 10);
        CHECK(call.time.remaining <= 15s);
        CHECK(call.plan.query == "a query");
      }
    }
    const auto again = co_await outcome(service);
    CHECK(again == CanaryAnswer::go);
    CHECK(searches(cluster) == 1);
    const auto always = co_await outcome(service, 15s, CanaryUse::always);
    CHECK(always == CanaryAnswer::go);
    CHECK(searches(cluster) == 2);
    CHECK(ended(cluster, AttemptEnding::answered) == 2);
    CHECK(trace[0].executed);
    service.plan.serialised_query = "another";
    const auto off = co_await outcome(service, 15s, CanaryUse::off);
    CHECK(off == CanaryAnswer::go);
    CHECK(searches(cluster) == 2);
  });
}

TEST_CASE("a query that ends the links of two leaves is refused at once from then on, also with canary=off, until it is cleared") {
  FakeCluster cluster(all_of(4));
  for (auto& leaf : cluster.leaves) leaf->act = die;
  cluster.run([&]() -> asio::awaitable<void> {
    Service service(cluster);
    const auto first = co_await outcome(service);
    CHECK(first == CanaryAnswer::quarantined);
    CHECK(searches(cluster) == 2);
    CHECK(ended(cluster, AttemptEnding::unreachable) == 2);
    const auto second = co_await outcome(service, 15s, CanaryUse::off);
    CHECK(second == CanaryAnswer::quarantined);
    CHECK(searches(cluster) == 2);

    const auto entries = service.service.entries();
    REQUIRE(entries.size() == 1);
    CHECK(entries[0].query == "as typed");
    CHECK(entries[0].leaves.size() == 2);
    CHECK(entries[0].refused == 1);
    CHECK(entries[0].remaining > 4min);
    CHECK_FALSE(service.service.clear(entries[0].id + 1));
    CHECK(service.service.clear(entries[0].id));
    CHECK(service.service.entries().empty());
    for (auto& leaf : cluster.leaves) leaf->act = [&leaf](FakeLeaf&, wire::Link& link, const wire::Message& m) { leaf->answer_honestly(link, m); };
    co_await cluster.until([&] { return cluster.serving() == 4; });
    const auto third = co_await outcome(service);
    CHECK(third == CanaryAnswer::go);
  });
}

TEST_CASE("a leaf that dies of something else costs a second canary, and nobody the answer") {
  FakeCluster cluster(all_of(4));
  cluster.run([&]() -> asio::awaitable<void> {
    Service service(cluster);
    int died = 0;
    for (auto& leaf : cluster.leaves) {
      leaf->act = on_search([&](FakeLeaf& self, wire::Link& link, const wire::SearchCall& call) {
        if (died++ == 0) return link.close({Errc::unavailable, "killed"});
        self.answer_honestly(link, call);
      });
    }
    CanaryRequest request(service.service, service.query());
    const auto answer = co_await request.wait();
    CHECK(answer == CanaryAnswer::go);
    CHECK(request.attempts() == 2);
    CHECK(request.answered());
    CHECK(service.service.entries().empty());
  });
}

TEST_CASE("whoever asks the same meanwhile follows the first one's canary") {
  FakeCluster cluster(all_of(2));
  std::optional<std::pair<wire::Link*, wire::SearchCall>> held;
  for (auto& leaf : cluster.leaves) {
    leaf->act = on_search([&](FakeLeaf&, wire::Link& link, const wire::SearchCall& call) { held.emplace(&link, call); });
  }
  cluster.run([&]() -> asio::awaitable<void> {
    Service service(cluster);
    std::vector<CanaryAnswer> told;
    for (int i = 0; i < 5; ++i) {
      asio::co_spawn(cluster.io, [&]() -> asio::awaitable<void> {
        const auto answer = co_await outcome(service);
        told.push_back(answer);
      }, asio::detached);
    }
    co_await cluster.until([&] { return held.has_value(); });
    const auto impatient = co_await outcome(service, 5ms);
    CHECK(impatient == CanaryAnswer::late);
    CHECK(told.empty());
    held->first->send(FakeLeaf::honest_answer(held->second, held->second.partitions[0]));
    co_await cluster.until([&] { return told.size() == 5; });
    CHECK(told == std::vector(5, CanaryAnswer::go));
    CHECK(searches(cluster) == 1);
    CHECK(cluster.metrics.canary_followers.Value() == 5);
  });
}

TEST_CASE("a query that never ends on two leaves is quarantined as hanging, and no longer once it is answered after all") {
  FakeCluster cluster(all_of(3));
  std::vector<std::pair<wire::Link*, wire::SearchCall>> held;
  for (auto& leaf : cluster.leaves) {
    leaf->act = on_search([&](FakeLeaf&, wire::Link& link, const wire::SearchCall& call) { held.emplace_back(&link, call); });
  }
  cluster.run([&]() -> asio::awaitable<void> {
    policy::CanariesSettings settings;
    settings.canary.hang_time = 30ms;
    settings.canary.held_up = 10s;
    Service service(cluster, settings);
    const auto first = co_await outcome(service, 20ms);
    CHECK(first == CanaryAnswer::late);  // lateness is all that can be said by then
    co_await cluster.until([&] { return !service.service.entries().empty(); });
    CHECK(service.service.entries()[0].reason == policy::QuarantineReason::hang);
    CHECK(held.size() == 2);
    const auto second = co_await outcome(service);
    CHECK(second == CanaryAnswer::quarantined);

    held[1].first->send(FakeLeaf::honest_answer(held[1].second, held[1].second.partitions[0]));
    co_await cluster.until([&] { return service.service.entries().empty(); });
    CHECK(cluster.metrics.canaries_lifted.Value() == 1);
    CHECK(ended(cluster, AttemptEnding::late) == 1);
  });
}

TEST_CASE("leaves that refuse, expire or do not serve leave the query undecided") {
  using wire::FailureReason;
  struct Row {
    FailureReason reason;
    CanaryAnswer answer;
    std::size_t asked;
    AttemptEnding ending;
  };
  for (const Row& row : {Row{FailureReason::refused, CanaryAnswer::refused, 3, AttemptEnding::refused},
                         Row{FailureReason::not_served, CanaryAnswer::refused, 3, AttemptEnding::failed},
                         Row{FailureReason::expired, CanaryAnswer::late, 1, AttemptEnding::expired},
                         Row{FailureReason::failed, CanaryAnswer::go, 1, AttemptEnding::failed},
                         Row{FailureReason::bad_query, CanaryAnswer::go, 1, AttemptEnding::failed}}) {
    CAPTURE(to_string(row.reason));
    FakeCluster cluster(all_of(4));
    for (auto& leaf : cluster.leaves) leaf->act = fail_with(row.reason);
    cluster.run([&]() -> asio::awaitable<void> {
      Service service(cluster);
      const auto answer = co_await outcome(service);
      CHECK(answer == row.answer);
      CHECK(searches(cluster) == row.asked);
      CHECK(ended(cluster, row.ending) == static_cast<double>(row.asked));
      CHECK(service.service.entries().empty());
    });
  }
}

TEST_CASE("a canary whose client leaves is cancelled, and one that nobody could answer says that no leaf is up") {
  FakeCluster cluster(all_of(2));
  for (auto& leaf : cluster.leaves) leaf->act = stay_silent;
  cluster.run([&]() -> asio::awaitable<void> {
    Service service(cluster);
    {
      CanaryRequest request(service.service, service.query());
      asio::post(cluster.io, [&] { request.abandon(); });
      co_await request.wait();
      CHECK(request.abandoned());
    }
    const auto cancels = [&] {
      std::size_t count = 0;
      for (const auto& leaf : cluster.leaves) count += leaf->all_received<wire::Cancel>().size();
      return count;
    };
    co_await cluster.until([&] { return cancels() == 1; });
    // Its last word comes after its trial, and is counted all the same.
    const auto counted = [&] {
      double count = 0;
      for (const auto* counter : cluster.metrics.attempts_ended[static_cast<std::size_t>(AttemptKind::canary)]) count += counter->Value();
      return count;
    };
    CHECK(sent(cluster) == 1);
    CHECK(counted() == 0);

    service.plan.serialised_query = "another";
    for (const auto& client : cluster.cluster.leaves()) client->stop();
    co_await cluster.until([&] { return cluster.serving() == 0; });
    co_await cluster.until([&] { return counted() == 1; });
    CHECK(ended(cluster, AttemptEnding::unreachable) == 1);
    const auto answer = co_await outcome(service);
    CHECK(answer == CanaryAnswer::no_leaf);
  });
}

TEST_CASE("a leaf that answers a canary with what cannot be is dropped, and another one decides") {
  FakeCluster cluster(all_of(2));
  int answered = 0;
  for (auto& leaf : cluster.leaves) {
    leaf->act = on_search([&](FakeLeaf& self, wire::Link& link, const wire::SearchCall& call) {
      if (answered++ > 0) return self.answer_honestly(link, call);
      auto answer = FakeLeaf::honest_answer(call, call.partitions[0]);
      answer.scores = {1.0};  // fewer than documents
      link.send(answer);
    });
  }
  cluster.run([&]() -> asio::awaitable<void> {
    Service service(cluster);
    const auto answer = co_await outcome(service);
    CHECK(answer == CanaryAnswer::go);
    co_await cluster.until([&] { return cluster.metrics.links_dropped_for_protocol.Value() == 1; });
    CHECK(service.service.entries().empty());
  });
}

TEST_CASE("a service that stops lets whoever waits go, undecided, and is told nothing any more") {
  FakeCluster cluster(all_of(2));
  for (auto& leaf : cluster.leaves) leaf->act = stay_silent;
  cluster.run([&]() -> asio::awaitable<void> {
    Service service(cluster);
    asio::post(cluster.io, [&] { service.service.stop(); });
    const auto answer = co_await outcome(service);
    CHECK(answer == CanaryAnswer::late);
    const auto after = co_await outcome(service);
    CHECK(after == CanaryAnswer::late);
  });
}

}  // namespace hedgerow::root
