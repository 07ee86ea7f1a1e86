// A leaf as a root meets it: calls over a real link on loopback, against a tiny index.

#include <doctest/doctest.h>

#include <algorithm>

#include "index/local_search.hpp"
#include "every_kind.hpp"
#include "running_leaf.hpp"

namespace hedgerow::leaf {

namespace {

std::string attempts(const std::string& outcome) { return "hedgerow_leaf_work_total{outcome=\"" + outcome + "\",work=\"search\"}"; }

Settings with_faults(std::size_t workers = 2, std::size_t capacity = 1024) {
  Settings settings;
  settings.workers = workers;
  settings.queue_capacity = capacity;
  settings.allow_faults = true;
  return settings;
}

std::vector<ScoredDocument> hits_of(const wire::Message& message) {
  const auto& answer = std::get<wire::PartitionAnswer>(message);
  std::vector<ScoredDocument> hits;
  for (std::size_t i = 0; i < answer.documents.size(); ++i) hits.push_back({DocumentNumber{answer.documents[i]}, answer.scores[i]});
  return hits;
}

bool same(const std::vector<ScoredDocument>& a, const std::vector<ScoredDocument>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.document == y.document && x.score == doctest::Approx(y.score).epsilon(1e-9);
  });
}

}  // namespace

TEST_CASE("a leaf greets with what it serves") {
  Settings settings;
  settings.name = "leaf-7";
  settings.partitions = {0, 2};
  RunningLeaf leaf(settings);
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    CHECK(root->hello().version == wire::protocol_version);
    CHECK(root->hello().name == "leaf-7");
    CHECK(root->hello().collection == "tiny");
    CHECK(root->hello().generation == TinyIndex::get().manifest().generation);
    CHECK(root->hello().partitions == std::vector{PartitionId{0}, PartitionId{2}});
  });
}

TEST_CASE("a search is answered for every partition, and together the answers are the local search's") {
  RunningLeaf leaf;
  auto local = LocalSearch::open(TinyIndex::get().directory());
  REQUIRE(local.has_value());
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    for (const char* query : {"garden", "editor rose", "+rose -editor", "\"rose editor\"", "nowhere"}) {
      for (const std::uint32_t k : {1U, 5U, 200U}) {
        CAPTURE(query);
        CAPTURE(k);
        const auto call = root->call(query, {0, 1, 2, 3}, k);
        root->send(call);
        std::vector<ScoredDocument> hits;
        std::uint64_t matches = 0;
        for (const auto& message : co_await root->answers(4)) {
          REQUIRE(outcome(message) == "answer");
          CHECK(std::get<wire::PartitionAnswer>(message).call == call.call);
          const auto part = hits_of(message);
          CHECK(part.size() <= k);
          hits.insert(hits.end(), part.begin(), part.end());
          matches += std::get<wire::PartitionAnswer>(message).matches;
        }
        std::sort(hits.begin(), hits.end(), ranks_before);
        if (hits.size() > k) hits.resize(k);
        const auto expected = local->search(query, k);
        REQUIRE(expected.has_value());
        std::vector<ScoredDocument> expected_hits;
        for (const auto& hit : expected->hits) expected_hits.push_back(hit.scored);
        CHECK(same(hits, expected_hits));
        CHECK(matches == expected->matches);
      }
    }
  });
}

TEST_CASE("light searches are done where they are read, and answered as workers answer them") {
  for (const bool here : {true, false}) {
    CAPTURE(here);
    Settings settings;
    settings.light_work_here = here;
    RunningLeaf leaf(settings);
    auto local = LocalSearch::open(TinyIndex::get().directory());
    REQUIRE(local.has_value());
    const auto expected = local->search("garden", 5);
    REQUIRE(expected.has_value());
    leaf.run([&]() -> asio::awaitable<void> {
      const auto root = co_await RootSide::connect(leaf);
      double light = 0;
      // Before the first answers it is not known how short such work is, and a busy machine may make it long.
      for (int i = 0; i < 200 && light < 10; ++i) {
        root->send(root->call("garden", {0, 1, 2, 3}, 5));
        std::vector<ScoredDocument> hits;
        for (const auto& message : co_await root->answers(4)) {
          const auto part = hits_of(message);
          hits.insert(hits.end(), part.begin(), part.end());
        }
        std::sort(hits.begin(), hits.end(), ranks_before);
        hits.resize(std::min<std::size_t>(hits.size(), 5));
        std::vector<ScoredDocument> best;
        for (const auto& hit : expected->hits) best.push_back(hit.scored);
        CHECK(same(hits, best));
        light = co_await leaf.metric("hedgerow_leaf_light_calls_total");
      }
      CHECK(light == (here ? 10 : 0));
    });
  }
}

TEST_CASE("a fetch brings id, title and url of the documents, in the order asked") {
  RunningLeaf leaf;
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    root->send(root->call("garden", {1}, 3));
    const auto hits = hits_of(co_await root->next());
    REQUIRE(hits.size() == 3);
    root->send(root->fetch({{PartitionId{1}, hits[2].document}, {PartitionId{1}, hits[0].document}}));
    const auto message = co_await root->next();
    const auto& answer = std::get<wire::FetchAnswer>(message);
    REQUIRE(answer.documents.size() == 2);
    for (std::size_t i : {0U, 1U}) {
      // Numbers are given in the order of the corpus, from 1.
      const auto& document = TinyIndex::get().documents()[hits[i == 0 ? 2 : 0].document.value - 1];
      CHECK(answer.documents[i].id == document.id);
      CHECK(answer.documents[i].title == document.title);
      CHECK(answer.documents[i].url == document.url);
    }
  });
}

TEST_CASE("the first hits bring id, title and url along, as many as were asked for") {
  RunningLeaf leaf;
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    for (const std::uint32_t titles : {0U, 2U, 3U, 9U}) {
      auto call = root->call("garden", {1}, 3);
      call.titles = titles;
      root->send(call);
      const auto message = co_await root->next();
      const auto& answer = std::get<wire::PartitionAnswer>(message);
      REQUIRE(answer.documents.size() == 3);
      REQUIRE(answer.shown.size() == std::min(titles, 3U));
      for (std::size_t i = 0; i < answer.shown.size(); ++i) {
        const auto& document = TinyIndex::get().documents()[answer.documents[i] - 1];
        CHECK(answer.shown[i].id == document.id);
        CHECK(answer.shown[i].title == document.title);
        CHECK(answer.shown[i].url == document.url);
      }
    }
  });
}

TEST_CASE("a hit that cannot be among the best of all brings nothing along") {
  RunningLeaf leaf;
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    auto call = root->call("garden", {1}, 3);
    call.titles = 3;
    root->send(call);
    const auto first = co_await root->next();
    const auto& all = std::get<wire::PartitionAnswer>(first);
    REQUIRE(all.scores.size() == 3);
    call = root->call("garden", {1}, 3);
    call.titles = 3;
    call.score_threshold = all.scores[0] * 2;
    root->send(call);
    const auto second = co_await root->next();
    CHECK(std::get<wire::PartitionAnswer>(second).shown.empty());
  });
}

TEST_CASE("a partition that is not held, and another generation, are not served, the rest of the call is") {
  Settings settings;
  settings.partitions = {0, 1};
  RunningLeaf leaf(settings);
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    root->send(root->call("garden", {1, 2, 99}));
    const auto messages = co_await root->answers(3);
    CHECK(outcome(messages[0]) == "answer");
    CHECK(outcome(messages[1]) == "not_served");
    CHECK(outcome(messages[2]) == "not_served");

    auto other = root->call("garden", {0, 1});
    other.generation = Generation{other.generation.value + 1};
    root->send(other);
    for (const auto& message : co_await root->answers(2)) CHECK(outcome(message) == "not_served");

    root->send(root->fetch({{PartitionId{2}, DocumentNumber{1}}}));
    CHECK(outcome(co_await root->next()) == "not_served");
    auto fetch = root->fetch({{PartitionId{0}, DocumentNumber{1}}});
    fetch.generation = Generation{77};
    root->send(fetch);
    CHECK(outcome(co_await root->next()) == "not_served");
    CHECK(co_await leaf.metric(executed(WorkKind::search)) == 1);
    CHECK(co_await leaf.metric(attempts("failed")) == 4);
  });
}

TEST_CASE("a document that is not there fails the fetch, and not the link") {
  RunningLeaf leaf;
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    for (const std::uint32_t number : {0U, 81U, ~0U}) {
      root->send(root->fetch({{PartitionId{0}, DocumentNumber{number}}}));
      CHECK(outcome(co_await root->next()) == "failed");
    }
  });
}

TEST_CASE("work without time left is answered as expired, and not executed") {
  RunningLeaf leaf;
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    for (const Duration remaining : {Duration{0}, Duration{-5}, Duration::min()}) {
      auto call = root->call("garden", {0, 1});
      call.time.remaining = remaining;
      root->send(call);
      for (const auto& message : co_await root->answers(2)) CHECK(outcome(message) == "expired");
      auto fetch = root->fetch({{PartitionId{0}, DocumentNumber{1}}});
      fetch.time.remaining = remaining;
      root->send(fetch);
      CHECK(outcome(co_await root->next()) == "expired");
    }
    CHECK(co_await leaf.metric(executed(WorkKind::search)) == 0);
    CHECK(co_await leaf.metric(attempts("expired")) == 6);
  });
}

TEST_CASE("time on the way counts (trap 1): what was sent long ago is expired when it is read, as after a stop") {
  RunningLeaf leaf;
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    auto call = root->call("garden", {0});
    call.time.sent_at_ns -= std::chrono::nanoseconds(61s).count();  // by the root's clock; it has 60 s
    root->send(call);
    CHECK(outcome(co_await root->next()) == "expired");
    // A root whose clock is far away, but steady, is served.
    CHECK(co_await leaf.metric(executed(WorkKind::search)) == 0);
    root->send(root->call("garden", {0}));
    CHECK(outcome(co_await root->next()) == "answer");
  });
}

TEST_CASE("a time limit beyond all measure is a long time, and harms nothing") {
  RunningLeaf leaf;
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    auto call = root->call("garden", {0});
    call.time.remaining = Duration::max();
    root->send(call);
    CHECK(outcome(co_await root->next()) == "answer");
  });
}

TEST_CASE("work whose time runs out in the queue is answered at that moment, and not executed (trap 1)") {
  RunningLeaf leaf(with_faults());
  leaf.run([&]() -> asio::awaitable<void> {
    co_await leaf.set_faults(R"([{"kind": "pause"}])");
    const auto root = co_await RootSide::connect(leaf);
    auto call = root->call("garden", {0, 1, 2});
    call.time.remaining = 20ms;
    root->send(call);
    for (const auto& message : co_await root->answers(3)) CHECK(outcome(message) == "expired");
    co_await leaf.set_faults("[]");
    CHECK(co_await leaf.metric(queued_attempts) == 0);
    CHECK(co_await leaf.metric(executed(WorkKind::search)) == 0);
    CHECK(co_await leaf.metric(attempts("expired")) == 3);
  });
}

TEST_CASE("what is cancelled in the queue is answered at once and never executed, the rest of its call is (trap 23)") {
  RunningLeaf leaf(with_faults());
  leaf.run([&]() -> asio::awaitable<void> {
    co_await leaf.set_faults(R"([{"kind": "pause"}])");
    const auto root = co_await RootSide::connect(leaf);
    const auto call = root->call("garden", {0, 1, 2});
    root->send(call);
    root->send(wire::Cancel{call.call, {PartitionId{1}}});
    const auto cancelled = co_await root->next();
    CHECK(outcome(cancelled) == "cancelled");
    CHECK(std::get<wire::PartitionFailure>(cancelled).partition == PartitionId{1});
    co_await leaf.set_faults("[]");
    const auto rest = co_await root->answers(2);
    CHECK(outcome(rest[0]) == "answer");
    CHECK(outcome(rest[1]) == "answer");
    CHECK(co_await leaf.metric(executed(WorkKind::search)) == 2);
    CHECK(co_await leaf.metric(attempts("cancelled_queued")) == 1);
    // For what is over, or never was, a cancel is nothing.
    root->send(wire::Cancel{call.call, {}});
    root->send(wire::Cancel{CallId{12345}, {}});
    root->send(root->call("garden", {3}));
    CHECK(outcome(co_await root->next()) == "answer");
  });
}

TEST_CASE("a cancel frees the worker that is held up by the call, and a cancelled fetch is over too") {
  RunningLeaf leaf(with_faults(1));
  leaf.run([&]() -> asio::awaitable<void> {
    co_await leaf.set_faults(R"([{"kind": "hold", "delay": "1h"}])");
    const auto root = co_await RootSide::connect(leaf);
    const auto call = root->call("garden", {0, 1});
    root->send(call);
    co_await leaf.until(running_attempts, 1);
    root->send(wire::Cancel{call.call, {}});
    for (const auto& message : co_await root->answers(2)) CHECK(outcome(message) == "cancelled");

    const auto held = root->fetch({{PartitionId{0}, DocumentNumber{1}}}), waiting = root->fetch({{PartitionId{0}, DocumentNumber{1}}});
    root->send(held);
    co_await leaf.until(running_attempts, 1);
    root->send(waiting);
    root->send(wire::Cancel{waiting.call, {}});
    CHECK(outcome(co_await root->next()) == "cancelled");
    root->send(wire::Cancel{held.call, {}});
    CHECK(outcome(co_await root->next()) == "cancelled");
    co_await leaf.until(running_attempts, 0);
    CHECK(co_await leaf.metric(executed(WorkKind::search)) == 0);
  });
}

TEST_CASE("work that a worker is held up with stops at its deadline") {
  RunningLeaf leaf(with_faults(1));
  leaf.run([&]() -> asio::awaitable<void> {
    co_await leaf.set_faults(R"([{"kind": "hold", "delay": "1h"}])");
    const auto root = co_await RootSide::connect(leaf);
    auto call = root->call("garden", {0});
    call.time.remaining = 30ms;
    root->send(call);
    CHECK(outcome(co_await root->next()) == "expired");
    CHECK(co_await leaf.metric(executed(WorkKind::search)) == 0);
  });
}

TEST_CASE("a full queue refuses at once, and only what does not fit (trap 11)") {
  RunningLeaf leaf(with_faults(2, 3));
  leaf.run([&]() -> asio::awaitable<void> {
    co_await leaf.set_faults(R"([{"kind": "pause"}])");
    const auto root = co_await RootSide::connect(leaf);
    root->send(root->call("garden", {0, 1, 2, 3}));
    const auto refused = co_await root->next();
    CHECK(outcome(refused) == "refused");
    CHECK(std::get<wire::PartitionFailure>(refused).partition == PartitionId{3});
    CHECK(std::get<wire::PartitionFailure>(refused).load.queued == 3);
    root->send(root->fetch({{PartitionId{0}, DocumentNumber{1}}}));
    CHECK(outcome(co_await root->next()) == "refused");
    co_await leaf.set_faults("[]");
    for (const auto& message : co_await root->answers(3)) CHECK(outcome(message) == "answer");
    CHECK(co_await leaf.metric(attempts("refused")) == 1);
  });
}

TEST_CASE("a query that cannot be run is a bad query for every partition, and the link lives on") {
  RunningLeaf leaf;
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    for (const std::string& bytes : {std::string("\xff\xfe garbage"), std::string(200'000, 'q')}) {
      auto call = root->call("garden", {0, 3});
      call.plan.query = bytes;
      root->send(call);
      for (const auto& message : co_await root->answers(2)) CHECK(outcome(message) == "bad_query");
    }
    for (const std::uint32_t k : {0U, 10'001U, ~0U}) {
      root->send(root->call("garden", {0}, k));
      CHECK(outcome(co_await root->next()) == "bad_query");
    }
    root->send(root->call("garden", {0}, 10'000));
    CHECK(outcome(co_await root->next()) == "answer");
  });
}

TEST_CASE("a root that breaks the protocol loses its link, and the leaf counts it and goes on") {
  RunningLeaf leaf(with_faults());
  leaf.run([&]() -> asio::awaitable<void> {
    co_await leaf.set_faults(R"([{"kind": "pause"}])");
    wire::Hello hello;
    hello.sent_at_ns = std::chrono::steady_clock::now().time_since_epoch().count();
    wire::Hello other_version = hello;
    other_version.version = wire::protocol_version + 1;
    struct Row {
      const char* what;
      bool greet;
      std::function<void(RootSide&)> act;
    };
    const Row rows[] = {
        {"a message before the hello", false, [](RootSide& root) { root.send(root.call("garden", {0})); }},
        {"another version", false, [&](RootSide& root) { root.send(other_version); }},
        {"a second hello", true, [&](RootSide& root) { root.send(hello); }},
        {"a call id in use", true,
         [](RootSide& root) {
           const auto call = root.call("garden", {0});
           root.send(call);
           root.send(call);
         }},
        {"a fetch with the id of a search", true,
         [](RootSide& root) {
           const auto call = root.call("garden", {0});
           root.send(call);
           auto fetch = root.fetch({{PartitionId{0}, DocumentNumber{1}}});
           fetch.call = call.call;
           root.send(fetch);
         }},
        {"a search of no partition", true, [](RootSide& root) { root.send(root.call("garden", {})); }},
        {"an answer", true, [](RootSide& root) { root.send(wire::PartitionAnswer{}); }},
        {"a call failure", true, [](RootSide& root) { root.send(wire::CallFailure{}); }},
    };
    double errors = 0;
    for (const Row& row : rows) {
      CAPTURE(row.what);
      const auto root = co_await RootSide::connect(leaf, row.greet);
      row.act(*root);
      co_await root->wait_for_end();
      co_await leaf.until("hedgerow_leaf_protocol_errors_total", ++errors);
    }
    co_await leaf.until("hedgerow_leaf_links", 0);
    CHECK(co_await leaf.metric(queued_attempts) == 0);  // with a link goes what it asked for
    co_await leaf.set_faults("[]");
    const auto root = co_await RootSide::connect(leaf);
    root->send(root->call("garden", {0}));
    CHECK(outcome(co_await root->next()) == "answer");
  });
}

TEST_CASE("when a link ends, all that it asked for stops, in the queue and on the workers (trap 23)") {
  RunningLeaf leaf(with_faults(1));
  leaf.run([&]() -> asio::awaitable<void> {
    co_await leaf.set_faults(R"([{"kind": "hold", "delay": "1h"}])");
    const auto root = co_await RootSide::connect(leaf);
    root->send(root->call("garden", {0, 1, 2, 3}));
    root->send(root->fetch({{PartitionId{0}, DocumentNumber{1}}}));
    co_await leaf.until(running_attempts, 1);
    co_await leaf.until(queued_attempts, 4);
    root->close();
    co_await leaf.until(running_attempts, 0);
    co_await leaf.until(queued_attempts, 0);
    CHECK(co_await leaf.metric(executed(WorkKind::search)) == 0);
    CHECK(co_await leaf.metric("hedgerow_leaf_links") == 0);
  });
}

TEST_CASE("two roots' calls do not disturb each other, though their call ids are the same") {
  RunningLeaf leaf(with_faults());
  leaf.run([&]() -> asio::awaitable<void> {
    co_await leaf.set_faults(R"([{"kind": "pause"}])");
    const auto one = co_await RootSide::connect(leaf), other = co_await RootSide::connect(leaf);
    const auto call = one->call("garden", {0});
    one->send(call);
    other->send(other->call("editor", {0}));
    co_await leaf.until(queued_attempts, 2);
    one->send(wire::Cancel{call.call, {}});
    CHECK(outcome(co_await one->next()) == "cancelled");
    co_await leaf.set_faults("[]");
    CHECK(outcome(co_await other->next()) == "answer");
  });
}

TEST_CASE("a late answer occupies no worker: others overtake it") {
  RunningLeaf leaf(with_faults(1));
  leaf.run([&]() -> asio::awaitable<void> {
    co_await leaf.set_faults(R"([{"kind": "late", "delay": "400ms", "word": "editors"}])");
    const auto root = co_await RootSide::connect(leaf);
    const auto slow = root->call("editor", {0}), quick = root->call("rose", {0});
    const auto sent = std::chrono::steady_clock::now();
    root->send(slow);
    root->send(quick);
    const auto first = co_await root->next(), second = co_await root->next();
    CHECK(std::get<wire::PartitionAnswer>(first).call == quick.call);
    CHECK(std::get<wire::PartitionAnswer>(first).fault.empty());
    CHECK(std::get<wire::PartitionAnswer>(second).call == slow.call);
    CHECK(std::get<wire::PartitionAnswer>(second).fault == "late 400ms");
    CHECK(std::chrono::steady_clock::now() - sent >= 400ms);
  });
}

TEST_CASE("an injected error fails only queries with its word, whatever its form") {
  RunningLeaf leaf(with_faults());
  leaf.run([&]() -> asio::awaitable<void> {
    co_await leaf.set_faults(R"([{"kind": "error", "word": "Editors"}])");
    const auto root = co_await RootSide::connect(leaf);
    for (const char* query : {"editor", "garden editors", "\"rose editor\"", "garden -editor"}) {
      CAPTURE(query);
      root->send(root->call(query, {0}));
      // A word as written in a phrase is another form than the fault's; all others share the stem.
      CHECK(outcome(co_await root->next()) == (std::string(query) == "\"rose editor\"" ? "answer" : "failed"));
    }
    root->send(root->call("garden rose", {0}));
    const auto hits = hits_of(co_await root->next());
    REQUIRE_FALSE(hits.empty());
    root->send(root->fetch({{PartitionId{0}, hits[0].document}}));
    CHECK(outcome(co_await root->next()) == "answer");
  });
}

TEST_CASE("an answer that is held back does not cut its neighbours' hits") {
  // One worker, so that the partitions are searched in order; the first one's answer is late and the others' are not.
  RunningLeaf leaf(with_faults(1));
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    // Alone, no partition is cut by another.
    std::vector<std::vector<ScoredDocument>> alone;
    for (std::uint32_t partition = 0; partition < 4; ++partition) {
      root->send(root->call("editor", {partition}, 1));
      alone.push_back(hits_of(co_await root->next()));
      REQUIRE(alone.back().size() == 1);
    }
    std::uint32_t best = 0;
    for (std::uint32_t partition = 1; partition < 4; ++partition) {
      if (ranks_before(alone[partition][0], alone[best][0])) best = partition;
    }
    std::vector<std::uint32_t> order{best};
    for (std::uint32_t partition = 0; partition < 4; ++partition) {
      if (partition != best) order.push_back(partition);
    }
    // Undisturbed, the best partition's score cuts the others: the test would show nothing if it did not.
    root->send(root->call("editor", order, 1));
    std::size_t hits = 0;
    for (const auto& message : co_await root->answers(4)) hits += hits_of(message).size();
    CHECK(hits < 4);

    co_await leaf.set_faults(R"([{"kind": "late", "delay": "1h", "partitions": [)" + std::to_string(best) + "]}]");
    root->send(root->call("editor", order, 1));
    // The three that are not late may cut one another, but hold their best hit.
    std::vector<ScoredDocument> together, expected;
    for (const auto& message : co_await root->answers(3)) {
      const auto partition = std::get<wire::PartitionAnswer>(message).partition;
      CHECK(partition != PartitionId{best});
      for (const auto& hit : hits_of(message)) together.push_back(hit);
      expected.push_back(alone[partition.value][0]);
    }
    std::sort(together.begin(), together.end(), ranks_before);
    std::sort(expected.begin(), expected.end(), ranks_before);
    together.resize(std::min<std::size_t>(together.size(), 1));
    expected.resize(1);
    CHECK(same(together, expected));
    root->close();
  });
}

TEST_CASE("a leaf that drains refuses new searches, answers what it has and fetches too, and then ends its links") {
  auto settings = with_faults();
  settings.drain_time = 20s;
  RunningLeaf leaf(settings);
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    root->send(root->call("garden", {0}));
    const auto found = co_await root->next();
    const DocumentNumber document{std::get<wire::PartitionAnswer>(found).documents.at(0)};
    co_await leaf.set_faults(R"([{"kind": "pause"}])");
    const auto open = root->call("garden", {0});
    root->send(open);
    co_await leaf.until(queued_attempts, 1);
    asio::co_spawn(leaf.io, leaf.server->drain(), [&](std::exception_ptr) { leaf.drained = true; });
    CHECK((co_await leaf.http("GET", "/readyz")).status == 503);
    root->send(root->call("garden", {1}));
    CHECK(outcome(co_await root->next()) == "refused");
    // It ends a query of which this leaf has answered a part.
    root->send(root->fetch({{PartitionId{0}, document}}));
    co_await leaf.until(queued_attempts, 2);
    co_await leaf.set_faults("[]");
    int answers = 0, fetched = 0;
    for (int i = 0; i < 2; ++i) {
      const auto message = co_await root->next();
      if (const auto* answer = std::get_if<wire::PartitionAnswer>(&message)) {
        ++answers;
        CHECK(answer->call == open.call);
      }
      fetched += std::holds_alternative<wire::FetchAnswer>(message) ? 1 : 0;
    }
    CHECK(answers == 1);
    CHECK(fetched == 1);
    co_await root->wait_for_end();
  });
}

TEST_CASE("an index without the partition that is asked for is an error at start") {
  asio::io_context io;
  Settings settings;
  settings.index = TinyIndex::get().directory();
  settings.partitions = {0, 4};
  const auto server = Server::create(io, settings);
  REQUIRE(server.has_error());
  CHECK(server.error().code == Errc::invalid_argument);
  CHECK(server.error().context.find("partition 4") != std::string::npos);
}

}  // namespace hedgerow::leaf
