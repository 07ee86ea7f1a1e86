// Spelling, snippets and facets of one query against leaves that are honest, silent, broken or hostile, over real links.
// The fake cluster's facets: of facet f every partition has 10 documents with all-f and one with p and its number.
#include "root/subsystem_runner.hpp"

#include <doctest/doctest.h>

#include <map>

#include "base/steady_clock.hpp"
#include "fake_cluster.hpp"

namespace hedgerow::root {

namespace {

using policy::SubsystemKind;
using policy::SubsystemStatus;

// A query with a mistyped word, run by a runner of its own.
struct Beside {
  explicit Beside(FakeCluster& cluster, std::optional<Duration> grace = 15s, Duration time = 20s)
      : assignment(assign(*cluster.cluster.replicas(), std::nullopt, 0)) {
    plan.serialised_query = "any";
    plan.collection_documents = 40;
    plan.average_length = 10;
    plan.generation = Generation{3};
    plan.words = {{"wrod", 0, 4, 0}};
    const Instant began = clock_now();
    runner.emplace(cluster.io.get_executor(), cluster.cluster,
                   SubsystemRunner::Query{plan, "wrod", ServiceClass::interactive, began, began + time, grace, true});
  }
  void make_snippets(const std::vector<std::pair<std::uint32_t, std::vector<LeafId>>>& documents) {
    std::vector<policy::SecondPhase::Hit> places;
    const std::size_t before = hits.size();
    for (const auto& [document, replicas] : documents) {
      hits.push_back({{DocumentNumber{document}, 1.0}, PartitionId{(document - 1) / 10}});
      places.push_back({replicas.front(), replicas});
    }
    runner->make_snippets(std::span(hits).subspan(before), places);
  }
  SubsystemStatus status(SubsystemKind kind) const { return runner->statuses()[static_cast<std::size_t>(kind)].status; }

  QueryPlan plan;
  Assignment assignment;
  std::vector<MergedHit> hits;
  std::optional<SubsystemRunner> runner;
};

void offer_spelling(FakeCluster& cluster) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < cluster.leaves.size(); ++i) {
    cluster.leaves[i]->hello.spelling = true;
    all.push_back(i);
  }
  cluster.apply(all);
}

}  // namespace

TEST_CASE("spelling, snippets and facets are asked at once and come together in one answer") {
  FakeCluster cluster({{0, 1}, {2, 3}});
  offer_spelling(cluster);
  cluster.run([&]() -> asio::awaitable<void> {
    co_await cluster.until([&] { return cluster.serving() == 2; });
    Beside query(cluster);
    query.runner->ask_spelling();
    query.runner->count_facets(query.assignment, {"role", "year"});
    const auto leaf_of = [&](std::size_t i) { return cluster.client(i)->id(); };
    query.make_snippets({{31, {leaf_of(1)}}, {1, {leaf_of(0)}}, {32, {leaf_of(1)}}});
    query.runner->close_snippets(query.hits);
    co_await query.runner->settle();
    for (const auto kind : {SubsystemKind::spelling, SubsystemKind::snippets, SubsystemKind::facets}) {
      CHECK(query.status(kind) == SubsystemStatus::ok);
    }
    CHECK(query.runner->suggestion() == "word");
    for (const auto& hit : query.hits) {
      CHECK(query.runner->snippet_of(hit) == FakeLeaf::honest_snippet(hit.hit.document.value));
    }
    const auto facets = query.runner->facets();
    REQUIRE(facets.size() == 2);
    CHECK(facets[0].name == "role");
    CHECK_FALSE(facets[0].partial);
    CHECK_FALSE(facets[0].cut);
    CHECK(facets[0].values == 5);
    using Counts = std::vector<std::pair<std::string, std::uint64_t>>;
    CHECK(facets[0].counts == Counts{{"all-role", 40}, {"p0", 1}, {"p1", 1}, {"p2", 1}, {"p3", 1}});
    // One frame a leaf carries its partitions, and its hits.
    for (const auto& leaf : cluster.leaves) {
      CHECK(leaf->all_received<wire::FacetCall>().size() == 1);
      CHECK(leaf->all_received<wire::SnippetCall>().size() == 1);
    }
    CHECK(query.runner->take_trace().size() == 5);
  });
}

TEST_CASE("what leaves tell of injected faults is in the subsystems' traces, answered and failed, the first of a call of several parts") {
  FakeCluster cluster({{0, 1}});
  offer_spelling(cluster);
  cluster.leaves[0]->act = [&](FakeLeaf&, wire::Link& link, const wire::Message& message) {
    if (const auto* spelling = std::get_if<wire::SpellCall>(&message)) {
      link.send(wire::SpellAnswer{spelling->call, {"word"}, {7}, {}, {}, "late 2ms"});
    }
    if (const auto* snippets = std::get_if<wire::SnippetCall>(&message)) {
      link.send(wire::CallFailure{snippets->call, wire::FailureReason::failed, "no", "error"});
    }
    if (const auto* facets = std::get_if<wire::FacetCall>(&message)) {
      auto counts = FakeLeaf::honest_facets(*facets, PartitionId{0});
      counts.fault = "hold 1ms";
      link.send(counts);
      wire::PartitionFailure failure;
      failure.call = facets->call;
      failure.partition = PartitionId{1};
      failure.fault = "error";
      link.send(failure);
    }
  };
  cluster.run([&]() -> asio::awaitable<void> {
    co_await cluster.until([&] { return cluster.serving() == 1; });
    Beside query(cluster);
    query.runner->ask_spelling();
    query.runner->count_facets(query.assignment, {"role"});
    query.make_snippets({{1, {cluster.client(0)->id()}}});
    query.runner->close_snippets(query.hits);
    co_await query.runner->settle();
    std::map<std::string, std::string> told;
    for (const auto& entry : query.runner->take_trace()) told[std::string(entry.work)] = entry.fault;
    CHECK(told == std::map<std::string, std::string>{{"spelling", "late 2ms"}, {"snippets", "error"}, {"facets", "hold 1ms"}});
  });
}

TEST_CASE("where nobody offers spelling it is off, and where all words are known it is ok, and nobody is asked") {
  FakeCluster cluster({{0, 1, 2, 3}});
  cluster.run([&]() -> asio::awaitable<void> {
    Beside query(cluster);
    query.runner->ask_spelling();
    co_await query.runner->settle();
    CHECK(query.status(SubsystemKind::spelling) == SubsystemStatus::off);
  });
  offer_spelling(cluster);
  cluster.run([&]() -> asio::awaitable<void> {
    Beside query(cluster);
    query.plan.words.clear();
    query.runner->ask_spelling();
    co_await query.runner->settle();
    CHECK(query.status(SubsystemKind::spelling) == SubsystemStatus::ok);
    CHECK(query.runner->suggestion() == std::nullopt);
    CHECK(cluster.leaves[0]->all_received<wire::SpellCall>().empty());
  });
}

TEST_CASE("a leaf whose side answer cannot be true is dropped and named, another replica is asked, and each part counts once") {
  struct Row {
    const char* what;
    const char* named;
    SubsystemKind kind;
    std::function<void(wire::SpellAnswer&, wire::SnippetAnswer&, wire::FacetAnswer&)> lie;
  };
  const auto spelling = SubsystemKind::spelling, snippets = SubsystemKind::snippets, facets = SubsystemKind::facets;
  const Row rows[] = {
      {"too few suggestions", "suggestions", spelling, [](auto& s, auto&, auto&) { s.suggestions.clear(); }},
      {"a suggestion of two words", "suggestion", spelling, [](auto& s, auto&, auto&) { s.suggestions[0] = "two words"; }},
      {"a suggestion too frequent", "suggestion", spelling, [](auto& s, auto&, auto&) { s.document_frequencies[0] = 41; }},
      {"too many snippets", "snippets", snippets, [](auto&, auto& s, auto&) { s.snippets.push_back("x"); }},
      {"a script", "HTML", snippets, [](auto&, auto& s, auto&) { s.snippets[0] = "<script>x</script>"; }},
      {"an attribute", "HTML", snippets, [](auto&, auto& s, auto&) { s.snippets[0] = "<b onclick=x>x</b>"; }},
      {"a mark left open", "HTML", snippets, [](auto&, auto& s, auto&) { s.snippets[0] = "<b>x"; }},
      {"other facets", "facets", facets, [](auto&, auto&, auto& f) { f.facets.pop_back(); }},
      {"values out of order", "order", facets, [](auto&, auto&, auto& f) { std::swap(f.facets[0].values[0], f.facets[0].values[1]); }},
      {"another kind of answer", "else", spelling, nullptr},
      {"an impossible count", "count", facets, [](auto&, auto&, auto& f) { f.facets[0].counts[0] = 11; }},
      {"a partition not asked", "not ask", facets, [](auto&, auto&, auto& f) { f.partition = PartitionId{3}; }},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    FakeCluster cluster({{0}, {0}});
    offer_spelling(cluster);
    cluster.leaves[0]->act = [&](FakeLeaf&, wire::Link& link, const wire::Message& message) {
      wire::SpellAnswer spelled;
      wire::SnippetAnswer snippet;
      wire::FacetAnswer facet;
      if (const auto* call = std::get_if<wire::SpellCall>(&message)) spelled = {call->call, {"word"}, {7}, {}, {}};
      if (const auto* call = std::get_if<wire::SnippetCall>(&message)) snippet = {call->call, {"x"}, {}, {}};
      if (const auto* call = std::get_if<wire::FacetCall>(&message)) facet = FakeLeaf::honest_facets(*call, PartitionId{0});
      if (row.lie) row.lie(spelled, snippet, facet);
      if (std::holds_alternative<wire::SpellCall>(message) && row.lie) link.send(spelled);
      if (std::holds_alternative<wire::SpellCall>(message) && !row.lie) link.send(wire::FetchAnswer{spelled.call, {}, {}});
      if (std::holds_alternative<wire::SnippetCall>(message)) link.send(snippet);
      if (std::holds_alternative<wire::FacetCall>(message)) link.send(facet);
    };
    cluster.run([&]() -> asio::awaitable<void> {
      co_await cluster.until([&] { return cluster.serving() == 2; });
      const LeafId first = cluster.client(0)->id(), second = cluster.client(1)->id();
      for (int i = 0; i < 100; ++i) cluster.cluster.policies().side_choice.on_sent(second);
      Beside query(cluster);
      if (row.kind == spelling) query.runner->ask_spelling();
      if (row.kind == facets) query.runner->count_facets(query.assignment, {"role"});
      if (row.kind == snippets) {
        query.make_snippets({{1, {first, second}}});
        query.runner->close_snippets(query.hits);
      }
      co_await query.runner->settle();
      CHECK(query.status(row.kind) == SubsystemStatus::ok);
      co_await cluster.until([&] { return cluster.client(0)->state() == LeafClient::State::mismatched; });
      CHECK(cluster.client(0)->last_error().find(row.named) != std::string::npos);
      if (row.kind == spelling) CHECK(query.runner->suggestion() == "word");
      if (row.kind == snippets) CHECK(query.runner->snippet_of(query.hits[0]) == FakeLeaf::honest_snippet(1));
      if (row.kind == facets) CHECK(query.runner->facets()[0].counts.at(0) == std::pair<std::string, std::uint64_t>{"all-role", 10});
    });
  }
}

TEST_CASE("counts of partitions that do not come are missing and marked, those that came are told") {
  FakeCluster cluster({{0, 1}, {2, 3}});
  cluster.leaves[1]->act = stay_silent;
  cluster.run([&]() -> asio::awaitable<void> {
    Beside query(cluster, 50ms);
    query.runner->count_facets(query.assignment, {"role"});
    co_await cluster.until([&] { return cluster.leaves[1]->received.size() == 1 && query.runner->facets()[0].values == 3; });
    co_await query.runner->settle();
    CHECK(query.status(SubsystemKind::facets) == SubsystemStatus::late);
    const auto facet = query.runner->facets()[0];
    CHECK(facet.partial);
    CHECK(facet.counts.at(0) == std::pair<std::string, std::uint64_t>{"all-role", 20});
    // Whoever is still at it is told to stop.
    co_await cluster.until([&] { return cluster.leaves[1]->all_received<wire::Cancel>().size() == 1; });
  });
}

TEST_CASE("a partition that no leaf holds makes facets partial") {
  FakeCluster cluster({{0, 1}});
  cluster.run([&]() -> asio::awaitable<void> {
    Beside query(cluster);
    query.runner->count_facets(query.assignment, {"role"});
    co_await query.runner->settle();
    CHECK(query.status(SubsystemKind::facets) == SubsystemStatus::ok);
    CHECK(query.runner->facets()[0].partial);
  });
}

TEST_CASE("with the default grace a silent speller holds nothing up for more than that") {
  FakeCluster cluster({{0, 1, 2, 3}});
  offer_spelling(cluster);
  cluster.leaves[0]->act = stay_silent;
  cluster.run([&]() -> asio::awaitable<void> {
    co_await cluster.until([&] { return cluster.serving() == 1; });
    std::size_t waits = 0;
    for (int i = 0; i < 50; ++i) {
      Beside query(cluster, std::nullopt);
      query.runner->ask_spelling();
      const Instant began = clock_now();
      co_await query.runner->settle();
      waits += clock_now() - began >= 5ms ? 1 : 0;
      const auto status = query.status(SubsystemKind::spelling);
      CHECK((status == SubsystemStatus::late || status == SubsystemStatus::skipped));
      CHECK(query.runner->suggestion() == std::nullopt);
    }
    CHECK(waits <= 4);  // and the one that is let through
  });
}

TEST_CASE("what comes after the end is dropped, and a runner that goes leaves nobody behind") {
  FakeCluster cluster({{0, 1, 2, 3}});
  std::vector<wire::FacetCall> held;
  cluster.leaves[0]->act = [&](FakeLeaf&, wire::Link&, const wire::Message& message) {
    if (const auto* call = std::get_if<wire::FacetCall>(&message)) held.push_back(*call);
  };
  cluster.run([&]() -> asio::awaitable<void> {
    {
      Beside query(cluster, 0ms);
      query.runner->count_facets(query.assignment, {"role"});
      co_await cluster.until([&] { return held.size() == 1; });
      co_await query.runner->settle();
      CHECK(query.status(SubsystemKind::facets) == SubsystemStatus::late);
      const auto link = cluster.leaves[0]->link();
      for (const auto partition : held[0].partitions) link->send(FakeLeaf::honest_facets(held[0], partition));
      co_await cluster.until([&] { return cluster.client(0)->status().open_calls == 0; });
      CHECK(query.runner->facets()[0].values == 0);
      Beside gone(cluster, 0ms);
      gone.runner->count_facets(gone.assignment, {"role"});
      co_await cluster.until([&] { return held.size() == 2; });
    }
    CHECK(cluster.in_flight(0) == 0);
    for (const auto partition : held[1].partitions) cluster.leaves[0]->link()->send(FakeLeaf::honest_facets(held[1], partition));
    co_await cluster.until([&] { return cluster.client(0)->status().open_calls == 0; });
    CHECK(cluster.client(0)->status().late_answers == 4);
  });
}

}  // namespace hedgerow::root
