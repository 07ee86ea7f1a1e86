// A document looked up by its id on leaves that answer, fail, lie or stay silent, over real links.
#include "root/document_lookup.hpp"

#include <doctest/doctest.h>

#include "base/steady_clock.hpp"

#include "fake_cluster.hpp"

namespace hedgerow::root {

namespace {

// What a lookup by two leaves that both hold everything comes to.
struct Looked {
  result<wire::LookupAnswer> answer = Error{};
  Duration took{};
};

Looked look_up(FakeCluster& cluster, const std::string& id, Duration time = 15s, std::uint32_t most_terms = 0) {
  Looked looked;
  cluster.run([&]() -> asio::awaitable<void> {
    const Instant began = clock_now();
    DocumentLookup lookup(cluster.io.get_executor(), cluster.cluster, id, most_terms, began + time);
    looked.answer = co_await lookup.run(began);
    looked.took = clock_now() - began;
  });
  return looked;
}

auto failing(wire::FailureReason reason) {
  return [reason](FakeLeaf&, wire::Link& link, const wire::Message& message) {
    if (const auto* call = std::get_if<wire::LookupCall>(&message)) link.send(wire::CallFailure{call->call, reason, "no"});
  };
}

}  // namespace

TEST_CASE("a document comes from a replica of the partition that its id names") {
  FakeCluster cluster({{0, 1, 2, 3}});
  const auto looked = look_up(cluster, "some/id");
  REQUIRE(looked.answer.has_value());
  CHECK(looked.answer->shown.id == "some/id");
  const auto calls = cluster.leaves[0]->all_received<wire::LookupCall>();
  REQUIRE(calls.size() == 1);
  CHECK(calls[0].id == "some/id");
  CHECK(calls[0].most_terms == 0);
  CHECK(calls[0].time.remaining <= 15s);
  CHECK(calls[0].partition.value < 4);
}

TEST_CASE("a document that is not there is told so by whoever holds its partition") {
  FakeCluster cluster({{0, 1, 2, 3}, {0, 1, 2, 3}});
  const auto looked = look_up(cluster, "nothing");
  REQUIRE(looked.answer.has_error());
  CHECK(looked.answer.error().code == Errc::not_found);
}

TEST_CASE("a replica that fails, is silent, or lies is made good by another one") {
  struct Row {
    const char* what;
    std::function<void(FakeLeaf&, wire::Link&, const wire::Message&)> act;
  };
  const auto lying = [](std::function<void(wire::LookupAnswer&)> lie) {
    return [lie](FakeLeaf&, wire::Link& link, const wire::Message& message) {
      const auto* call = std::get_if<wire::LookupCall>(&message);
      if (!call) return;
      wire::LookupAnswer answer;
      answer.call = call->call;
      answer.found = true;
      answer.document = DocumentNumber{1};
      answer.shown.id = call->id;
      lie(answer);
      link.send(answer);
    };
  };
  const Row rows[] = {
      {"fails", failing(wire::FailureReason::failed)},
      {"refuses", failing(wire::FailureReason::refused)},
      {"is silent", [](FakeLeaf&, wire::Link&, const wire::Message&) {}},
      {"ends its link", [](FakeLeaf&, wire::Link& link, const wire::Message&) { link.close({Errc::unavailable, "gone"}); }},
      {"tells of another document", lying([](auto& answer) { answer.shown.id = "other"; })},
      {"tells of a document beyond the collection", lying([](auto& answer) { answer.document = DocumentNumber{41}; })},
      {"answers with something else", [](FakeLeaf&, wire::Link& link, const wire::Message& message) {
         if (const auto* call = std::get_if<wire::LookupCall>(&message)) link.send(wire::FetchAnswer{call->call, {}, {}});
       }},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    FakeCluster cluster({{0, 1, 2, 3}, {0, 1, 2, 3}});
    cluster.prefer(0);
    cluster.leaves[0]->act = row.act;
    const auto looked = look_up(cluster, "id", std::string(row.what) == "is silent" ? 2s : 15s);
    CHECK(cluster.leaves[0]->all_received<wire::LookupCall>().size() == 1);
    REQUIRE(looked.answer.has_value());
    CHECK(looked.answer->shown.url == "by leaf-1");
  }
}

TEST_CASE("where no replica answers, the error says whether it was late, refused or not to be had") {
  struct Row {
    wire::FailureReason reason;
    Errc code;
  };
  for (const Row row : {Row{wire::FailureReason::failed, Errc::unavailable}, Row{wire::FailureReason::refused, Errc::refused},
                        Row{wire::FailureReason::expired, Errc::expired}}) {
    FakeCluster cluster({{0, 1, 2, 3}, {0, 1, 2, 3}});
    for (auto& leaf : cluster.leaves) leaf->act = failing(row.reason);
    const auto looked = look_up(cluster, "id");
    REQUIRE(looked.answer.has_error());
    CHECK(looked.answer.error().code == row.code);
  }
  FakeCluster silent({{0, 1, 2, 3}});
  silent.leaves[0]->act = [](FakeLeaf&, wire::Link&, const wire::Message&) {};
  const auto late = look_up(silent, "id", 50ms);
  REQUIRE(late.answer.has_error());
  CHECK(late.answer.error().code == Errc::expired);
  CHECK(late.took >= 50ms);
}

TEST_CASE("a lookup that is abandoned returns, and what it asked for is cancelled") {
  FakeCluster cluster({{0, 1, 2, 3}});
  cluster.leaves[0]->act = [](FakeLeaf&, wire::Link&, const wire::Message&) {};
  cluster.run([&]() -> asio::awaitable<void> {
    DocumentLookup lookup(cluster.io.get_executor(), cluster.cluster, "id", 0, clock_now() + 15s);
    asio::post(cluster.io, [&] { lookup.abandon(); });
    const auto answer = co_await lookup.run(clock_now());
    REQUIRE(answer.has_error());
    CHECK(answer.error().code == Errc::cancelled);
    co_await cluster.until([&] { return cluster.leaves[0]->all_received<wire::Cancel>().size() == 1; });
  });
  CHECK(cluster.in_flight(0) == 0);
}

}  // namespace hedgerow::root
