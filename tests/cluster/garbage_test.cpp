// A leaf that breaks the protocol, or says nothing at all: it is dropped and named, and nobody else is harmed.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "cluster_fixture.hpp"
#include "fake_leaf.hpp"
#include "waiting.hpp"

using namespace hedgerow;
using namespace hedgerow::test;
using namespace std::chrono_literals;

namespace {

using nlohmann::json;

const std::string dropped = "hedgerow_root_links_dropped_total";

wire::Hello right_hello() {
  wire::Hello hello;
  hello.name = "fake";
  hello.collection = "synthetic:3000";
  hello.generation = Generation{1};
  for (std::uint32_t i = 0; i < 8; ++i) hello.partitions.push_back(PartitionId{i});
  return hello;
}

// The cluster with one of its four leaves' addresses exchanged for the fake one's.
std::vector<std::uint32_t> put_in_place_of(TestCluster& cluster, const std::string& leaf, const FakeLeaf& fake) {
  auto topology = cluster.topology();
  for (auto& entry : topology["leaves"]) {
    if (entry["name"] == leaf) entry["address"] = fake.address();
  }
  cluster.write_topology(topology.dump());
  cluster.reload();
  REQUIRE(eventually(5s, [&] { return cluster.leaf(leaf)["address"] == fake.address() && fake.connections() > 0; }));
  return cluster.partitions_of(leaf);
}

// What the root tells of a leaf that sent garbage: in its state, in its log, and to everybody who asks a query.
void expect_dropped_and_named(TestCluster& cluster, const std::string& leaf, const std::vector<std::uint32_t>& partitions,
                              const std::string& reason) {
  CAPTURE(reason);
  CHECK(eventually(5s, [&] {
    const auto entry = cluster.leaf(leaf);
    return entry.value("last_error", "").find(reason) != std::string::npos && entry["state"] != "serving";
  }));
  CHECK_MESSAGE(cluster.leaf(leaf).value("last_error", "").find(reason) != std::string::npos, cluster.leaf(leaf).dump());
  CHECK(eventually(5s, [&] {
    const auto log = cluster.log("root");
    const auto at = log.find(reason);
    const auto line = log.rfind('\n', at) + 1;
    return at != std::string::npos && log.substr(line, at - line).find("\"leaf\":\"" + leaf + "\"") != std::string::npos;
  }));
  for (int i = 0; i < 5; ++i) {
    const auto reply = cluster.search(synthetic_query(static_cast<std::uint64_t>(i)), {{"deadline", "20s"}});
    REQUIRE(reply.status == 200);
    const auto answer = reply.json();
    CHECK(missing_of(answer) == all_for(partitions, "failed"));
    CHECK(answer["completeness"]["fraction"].get<double>() == synthetic_index().fraction_without(partitions));
    CHECK(hits_are_whole(answer));
  }
  for (const auto& other : cluster.leaves()) {
    if (other == leaf) continue;
    CHECK(cluster.leaf(other)["state"] == "serving");
    CHECK(cluster.leaf(other)["links"] == 1);
  }
}

}  // namespace

TEST_CASE("a leaf whose first words are garbage is dropped and named, and the others are unharmed") {
  struct Row {
    std::string what;
    FakeLeaf::Behaviour behaviour;
    const char* reason;
    bool counted = true;  // as a dropped link: there was one
  };
  const std::vector<Row> rows{
      {"random bytes",
       [](FakeConnection& c) {
         if (!c.shake_hands()) return;
         c.send_frame("\x13\x37\xde\xad\xbe\xef\x00\xff garbage");
         c.stay_silent();
       },
       "a frame that is no message"},
      {"CBOR of the wrong shape",
       [](FakeConnection& c) {
         if (!c.shake_hands()) return;
         c.send_frame("\x9f\x83\x02\x01\x02\xff");  // [_ [2, 1, 2]]: an answer with too few fields
         c.stay_silent();
       },
       "a message has too few fields"},
      {"another protocol version",
       [](FakeConnection& c) {
         if (!c.shake_hands()) return;
         auto hello = right_hello();
         hello.version = 999;
         c.send(hello);
         c.stay_silent();
       },
       "protocol version 999"},
      {"another generation",
       [](FakeConnection& c) {
         if (!c.shake_hands()) return;
         auto hello = right_hello();
         hello.generation = Generation{99};
         c.send(hello);
         c.stay_silent();
       },
       "generation 99"},
      {"another collection",
       [](FakeConnection& c) {
         if (!c.shake_hands()) return;
         auto hello = right_hello();
         hello.collection = "recipes";
         c.send(hello);
         c.stay_silent();
       },
       "recipes"},
      {"an answer before the hello",
       [](FakeConnection& c) {
         if (!c.shake_hands()) return;
         c.send(wire::PartitionAnswer{});
         c.stay_silent();
       },
       "before the hello"},
      {"a frame beyond the bound",
       [](FakeConnection& c) {
         if (!c.shake_hands()) return;
         c.send(right_hello());
         c.send_frame(std::string(17 << 20, 'x'));
         c.stay_silent();
       },
       "a frame beyond the bound"},
      {"an answer to no call",
       [](FakeConnection& c) {
         if (!c.shake_hands()) return;
         c.send(right_hello());
         wire::PartitionAnswer answer;
         answer.call = CallId{4711};
         c.send(answer);
         c.stay_silent();
       },
       "an answer to no call"},
      {"no WebSocket at all",
       [](FakeConnection& c) {
         c.send_raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
         c.stay_silent();
       },
       "handshake", false},
  };
  TestCluster cluster;
  for (const auto& row : rows) {
    CAPTURE(row.what);
    const double dropped_before = cluster.metric("root", dropped);
    FakeLeaf fake(row.behaviour);
    const auto partitions = put_in_place_of(cluster, "leaf-1", fake);
    expect_dropped_and_named(cluster, "leaf-1", partitions, row.reason);
    if (row.counted) CHECK(cluster.metric("root", dropped) > dropped_before);
  }
}

TEST_CASE("a leaf whose answers cannot be true is dropped and named, and nothing of them is merged") {
  struct Row {
    std::string what;
    std::function<void(wire::PartitionAnswer&, const wire::SearchCall&)> spoil;
  };
  const std::vector<Row> rows{
      {"a score that is no number",
       [](wire::PartitionAnswer& a, const wire::SearchCall&) {
         a.documents = {1};
         a.scores = {std::numeric_limits<double>::quiet_NaN()};
       }},
      {"an infinite score",
       [](wire::PartitionAnswer& a, const wire::SearchCall&) {
         a.documents = {1};
         a.scores = {std::numeric_limits<double>::infinity()};
       }},
      {"a partition that was not asked",
       [](wire::PartitionAnswer& a, const wire::SearchCall& call) {
         std::uint32_t other = 0;
         for (const auto partition : call.partitions) other = std::max(other, partition.value + 1);
         a.partition = PartitionId{other};
       }},
      {"the same partition twice",
       [](wire::PartitionAnswer& a, const wire::SearchCall& call) { a.partition = call.partitions.front(); }},
      {"more hits than asked for",
       [](wire::PartitionAnswer& a, const wire::SearchCall& call) {
         for (std::uint32_t i = 0; i <= call.k; ++i) {
           a.documents.push_back(i + 1);
           a.scores.push_back(1000.0 - i);
         }
       }},
      {"hits that are not in order",
       [](wire::PartitionAnswer& a, const wire::SearchCall&) {
         a.documents = {1, 2};
         a.scores = {1.0, 1000.0};
       }},
  };
  TestCluster cluster;
  for (const auto& row : rows) {
    CAPTURE(row.what);
    const double dropped_before = cluster.metric("root", dropped);
    FakeLeaf fake([&](FakeConnection& c) {
      if (!c.shake_hands()) return;
      c.send(right_hello());
      while (const auto messages = c.receive()) {
        for (const auto& message : *messages) {
          const auto* call = std::get_if<wire::SearchCall>(&message);
          if (call == nullptr) continue;
          for (const auto partition : call->partitions) {
            wire::PartitionAnswer answer;
            answer.call = call->call;
            answer.partition = partition;
            row.spoil(answer, *call);
            c.send(answer);
          }
        }
      }
    });
    const auto partitions = put_in_place_of(cluster, "leaf-1", fake);
    REQUIRE(cluster.becomes_serving("leaf-1", 5s));
    const auto reply = cluster.search(synthetic_query(7), {{"deadline", "5s"}});
    REQUIRE(reply.status == 200);
    const auto answer = reply.json();
    for (const auto& [partition, reason] : missing_of(answer)) {
      CHECK(std::count(partitions.begin(), partitions.end(), partition) == 1);
      CHECK(reason == "failed");  // at once: it does not wait for its deadline
    }
    CHECK(!missing_of(answer).empty());
    for (const auto& hit : answer["hits"]) CHECK(hit["score"].get<double>() < 500);
    CHECK(hits_are_whole(answer));
    CHECK(eventually(5s, [&] { return cluster.metric("root", dropped) > dropped_before; }));
    CHECK(cluster.log("root").find("\"event\":\"leaf_dropped\"") != std::string::npos);
  }
}

TEST_CASE("a leaf that says hello and nothing more costs its own partitions until the deadline, and bounded memory") {
  TestCluster cluster({.root_arguments = {"--unanswered-bytes=8000", "--link-idle-time=1h"}});
  for (std::size_t i = 0; i < 20; ++i) cluster.search(synthetic_query(i), {{"deadline", "20s"}});
  FakeLeaf fake([](FakeConnection& c) {
    if (!c.shake_hands()) return;
    c.send(right_hello());
    c.stay_silent();
  });
  const auto partitions = put_in_place_of(cluster, "leaf-3", fake);
  REQUIRE(cluster.becomes_serving("leaf-3", 5s));
  const auto links_before = fake.connections();

  std::size_t late = 0, failed = 0, largest = 0;
  for (int round = 0; round < 40; ++round) {
    ask_all(
        cluster.root_address(), 8, 16,
        [](std::size_t i) { return search_target(synthetic_query(i), {{"deadline", format_duration(scaled(1s))}}); },
        [&](std::size_t, const Reply& reply) {
          REQUIRE(reply.status == 200);
          for (const auto& [partition, reason] : missing_of(reply.json())) {
            REQUIRE(std::count(partitions.begin(), partitions.end(), partition) == 1);
            ++(reason == "late" ? late : failed);
          }
        });
    largest = std::max(largest, cluster.leaf("leaf-3")["unanswered_bytes"].get<std::size_t>());
    if (failed > 0 && fake.connections() > links_before) break;
  }
  MESSAGE(late, " partitions late, ", failed, " failed; at most ", largest, " bytes unanswered");
  CHECK(late > 0);
  CHECK(fake.connections() > links_before);  // the link was closed, and made anew
  CHECK(largest > 0);
  CHECK(largest <= 8000);
  CHECK(cluster.log("root").find("8000 bytes of calls are unanswered") != std::string::npos);
}
