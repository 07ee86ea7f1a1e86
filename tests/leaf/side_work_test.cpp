// The laws that hold for every kind of work alike, and those that keep side work from delaying the hits.

#include <doctest/doctest.h>

#include <algorithm>

#include "every_kind.hpp"

namespace hedgerow::leaf {

TEST_CASE("every kind of work is answered, under its call's id, and counted as its own kind") {
  RunningLeaf leaf(speller());
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    CHECK(root->hello().spelling);
    for (const auto kind : work_kinds) {
      CAPTURE(to_string(kind));
      const auto one = ask(*root, kind);
      root->send(one.message);
      for (std::size_t i = 0; i < one.answers; ++i) {
        const auto message = co_await root->next();
        CHECK(outcome(message) == "answer");
        CHECK(call_of(message) == one.call);
      }
      CHECK(co_await leaf.metric(total(kind, "answered")) == one.answers);
      CHECK(co_await leaf.metric(executed(kind)) == one.answers);
    }
    // None was counted with another.
    for (const auto kind : work_kinds) CHECK(co_await leaf.metric(executed(kind)) == ask(*root, kind).answers);
  });
}

TEST_CASE("without time left, or long on the way, no kind of work is executed") {
  RunningLeaf leaf(speller());
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    for (const auto kind : work_kinds) {
      CAPTURE(to_string(kind));
      auto none_left = ask(*root, kind);
      none_left.time().remaining = Duration{0};
      root->send(none_left.message);
      CHECK(co_await outcomes(*root, none_left.answers) == all(none_left.answers, "expired"));
      auto old = ask(*root, kind);
      old.time().sent_at_ns -= std::chrono::nanoseconds(61s).count();  // it has 60 s
      root->send(old.message);
      CHECK(co_await outcomes(*root, old.answers) == all(old.answers, "expired"));
      CHECK(co_await leaf.metric(total(kind, "expired")) == 2 * old.answers);
      CHECK(co_await leaf.metric(executed(kind)) == 0);
    }
  });
}

TEST_CASE("work of every kind expires in the queue at its deadline, and is cancelled there at once") {
  RunningLeaf leaf(speller());
  leaf.run([&]() -> asio::awaitable<void> {
    co_await leaf.set_faults(R"([{"kind": "pause"}])");
    const auto root = co_await RootSide::connect(leaf);
    for (const auto kind : work_kinds) {
      CAPTURE(to_string(kind));
      auto short_of_time = ask(*root, kind);
      short_of_time.time().remaining = 10ms;
      root->send(short_of_time.message);
      CHECK(co_await outcomes(*root, short_of_time.answers) == all(short_of_time.answers, "expired"));
      const auto unwanted = ask(*root, kind);
      root->send(unwanted.message);
      root->send(wire::Cancel{unwanted.call, {}});
      CHECK(co_await outcomes(*root, unwanted.answers) == all(unwanted.answers, "cancelled"));
      CHECK(co_await leaf.metric(total(kind, "expired")) == unwanted.answers);
      CHECK(co_await leaf.metric(total(kind, "cancelled_queued")) == unwanted.answers);
      CHECK(co_await leaf.metric(executed(kind)) == 0);
    }
    co_await leaf.set_faults("[]");
    CHECK(co_await leaf.metric(queued_side) == 0);
  });
}

TEST_CASE("a cancel of one partition leaves the rest of a facet call alone") {
  RunningLeaf leaf(speller());
  leaf.run([&]() -> asio::awaitable<void> {
    co_await leaf.set_faults(R"([{"kind": "pause"}])");
    const auto root = co_await RootSide::connect(leaf);
    const auto call = root->facets("editor", {0, 1, 2}, {"section"});
    root->send(call);
    root->send(wire::Cancel{call.call, {PartitionId{1}}});
    const auto cancelled = co_await root->next();
    CHECK(outcome(cancelled) == "cancelled");
    CHECK(std::get<wire::PartitionFailure>(cancelled).partition == PartitionId{1});
    co_await leaf.set_faults("[]");
    CHECK(co_await outcomes(*root, 2) == all(2, "answer"));
  });
}

TEST_CASE("held work of every kind ends with its cancel, and frees its thread") {
  RunningLeaf leaf(speller());
  leaf.run([&]() -> asio::awaitable<void> {
    co_await leaf.set_faults(R"([{"kind": "hold", "delay": "1h"}])");
    const auto root = co_await RootSide::connect(leaf);
    for (const auto kind : work_kinds) {
      CAPTURE(to_string(kind));
      const auto held = ask(*root, kind);
      root->send(held.message);
      const bool side = lane_of(kind) == Lane::side;
      // Of two threads side work takes one, and work for the hits both.
      const std::string gauge = side ? running_side : "hedgerow_leaf_running_attempts";
      const double running = side ? 1 : static_cast<double>(held.answers);
      co_await leaf.until(gauge, running);
      root->send(wire::Cancel{held.call, {}});
      CHECK(co_await outcomes(*root, held.answers) == all(held.answers, "cancelled"));
      CHECK(co_await leaf.metric(executed(kind)) == 0);
    }
    co_await leaf.until(running_side, 0);
  });
}

TEST_CASE("what a leaf does not hold it does not serve, and says so for every kind") {
  Settings settings;
  settings.partitions = {TinyIndex::get().address("doc-3").partition.value == 0 ? 1u : 0u};
  RunningLeaf leaf(settings);
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    CHECK_FALSE(root->hello().spelling);
    const auto held = settings.partitions.front();
    for (const auto kind : work_kinds) {
      CAPTURE(to_string(kind));
      auto one = ask(*root, kind);
      root->send(one.message);
      auto words = co_await outcomes(*root, one.answers);
      std::sort(words.begin(), words.end());
      // Of the two partitions that searches and facets ask, one is held.
      CHECK(words == (one.answers == 2 ? std::vector<std::string>{"answer", "not_served"} : all(1, "not_served")));
    }
    root->send(root->facets("editor", {held, 99}, {"section"}));
    auto words = co_await outcomes(*root, 2);
    std::sort(words.begin(), words.end());
    CHECK(words == std::vector<std::string>{"answer", "not_served"});
  });
}

TEST_CASE("another generation is not served, whatever is asked") {
  RunningLeaf leaf(speller());
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    for (const auto kind : work_kinds) {
      CAPTURE(to_string(kind));
      auto other = ask(*root, kind);
      other.set_generation(Generation{77});
      root->send(other.message);
      CHECK(co_await outcomes(*root, other.answers) == all(other.answers, "not_served"));
      CHECK(co_await leaf.metric(executed(kind)) == 0);
    }
  });
}

TEST_CASE("facets that hold their threads do not delay searches and fetches, on two workers and on one") {
  for (const std::size_t workers : {1U, 2U}) {
    CAPTURE(workers);
    RunningLeaf leaf(speller(workers));
    leaf.run([&]() -> asio::awaitable<void> {
      co_await leaf.set_faults(R"([{"kind": "hold", "delay": "1h", "work": ["facets"]}])");
      const auto root = co_await RootSide::connect(leaf);
      const auto facets = root->facets("editor", {0, 1, 2, 3}, {"section"});
      root->send(facets);
      co_await leaf.until(running_side, 1);
      CHECK(co_await leaf.metric(queued_side) == 3);
      for (int i = 0; i < 5; ++i) {
        for (const auto kind : {WorkKind::search, WorkKind::fetch}) {
          const auto one = ask(*root, kind);
          root->send(one.message);
          CHECK(co_await outcomes(*root, one.answers) == all(one.answers, "answer"));
        }
      }
      CHECK(co_await leaf.metric(executed(WorkKind::facets)) == 0);
      root->send(wire::Cancel{facets.call, {}});
      CHECK(co_await outcomes(*root, 4) == all(4, "cancelled"));
    });
  }
}

TEST_CASE("side work that waits is overtaken by searches that come later, facets by the rest of the side work") {
  RunningLeaf leaf(speller(1));
  leaf.run([&]() -> asio::awaitable<void> {
    co_await leaf.set_faults(R"([{"kind": "hold", "delay": "1h", "work": ["facets"]}])");
    const auto root = co_await RootSide::connect(leaf);
    const auto first = root->facets("editor", {0}, {"section"}), second = root->facets("editor", {1}, {"section"});
    root->send(first);
    co_await leaf.until(running_side, 1);  // the only thread that side work may take
    root->send(second);
    const auto spell = root->spell({"editr"});
    root->send(spell);
    const auto lookup = root->lookup("doc-3");
    root->send(lookup);
    const auto snippets = root->snippets("editor", {TinyIndex::get().address("doc-3")});
    root->send(snippets);
    const auto search = root->call("editor", {0});
    root->send(search);
    CHECK(call_of(co_await root->next()) == search.call);
    co_await leaf.until(queued_side, 4);
    root->send(wire::Cancel{first.call, {}});
    std::vector<CallId> order;
    for (int i = 0; i < 4; ++i) order.push_back(call_of(co_await root->next()));
    CHECK(order == std::vector<CallId>{first.call, snippets.call, lookup.call, spell.call});
    root->send(wire::Cancel{second.call, {}});
    CHECK(outcome(co_await root->next()) == "cancelled");
  });
}

TEST_CASE("a fault of one kind of work meets that kind alone: errors") {
  RunningLeaf leaf(speller());
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    for (const auto faulty : work_kinds) {
      co_await leaf.set_faults(R"([{"kind": "error", "work": [")" + std::string(to_string(faulty)) + R"("]}])");
      for (const auto kind : work_kinds) {
        CAPTURE(to_string(faulty));
        CAPTURE(to_string(kind));
        const auto one = ask(*root, kind);
        root->send(one.message);
        CHECK(co_await outcomes(*root, one.answers) == all(one.answers, kind == faulty ? "failed" : "answer"));
      }
      CHECK(co_await leaf.metric(total(faulty, "failed")) == ask(*root, faulty).answers);
    }
  });
}

TEST_CASE("a late kind of work is overtaken by every other: a late speller leaves the hits alone") {
  RunningLeaf leaf(speller());
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    for (const auto late : {WorkKind::spelling, WorkKind::snippets, WorkKind::facets, WorkKind::lookup}) {
      CAPTURE(to_string(late));
      co_await leaf.set_faults(R"([{"kind": "late", "delay": "300ms", "work": [")" + std::string(to_string(late)) + R"("]}])");
      const auto slow = ask(*root, late);
      const auto sent = std::chrono::steady_clock::now();
      root->send(slow.message);
      for (const auto kind : work_kinds) {
        if (kind == late) continue;
        const auto quick = ask(*root, kind);
        root->send(quick.message);
        for (std::size_t i = 0; i < quick.answers; ++i) {
          const auto message = co_await root->next();
          CHECK(outcome(message) == "answer");
          CHECK(call_of(message) == quick.call);
        }
      }
      for (std::size_t i = 0; i < slow.answers; ++i) CHECK(call_of(co_await root->next()) == slow.call);
      CHECK(std::chrono::steady_clock::now() - sent >= 300ms);
    }
  });
}

TEST_CASE("a fault's word is looked for in what is asked about a query, spelling's words among it") {
  RunningLeaf leaf(speller());
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    co_await leaf.set_faults(R"([{"kind": "error", "word": "editors"}, {"kind": "error", "word": "editr"}])");
    for (const auto kind : work_kinds) {
      CAPTURE(to_string(kind));
      const auto one = ask(*root, kind);
      root->send(one.message);
      const bool spared = kind == WorkKind::fetch || kind == WorkKind::lookup;
      CHECK(co_await outcomes(*root, one.answers) == all(one.answers, spared ? "answer" : "failed"));
    }
  });
}

TEST_CASE("side work fills its own part of the queue only") {
  RunningLeaf leaf(speller(2, 4));
  leaf.run([&]() -> asio::awaitable<void> {
    co_await leaf.set_faults(R"([{"kind": "pause"}])");
    const auto root = co_await RootSide::connect(leaf);
    const auto facets = root->facets("editor", {0, 1, 2, 3}, {"section"});
    root->send(facets);
    CHECK(co_await outcomes(*root, 2) == all(2, "refused"));
    root->send(root->spell({"editr"}));
    CHECK(outcome(co_await root->next()) == "refused");
    root->send(root->call("editor", {0, 1, 2, 3}));
    root->send(root->fetch({TinyIndex::get().address("doc-3")}));
    CHECK(outcome(co_await root->next()) == "refused");  // the fetch: four attempts wait
    CHECK(co_await leaf.metric("hedgerow_leaf_queued_attempts") == 4);
    CHECK(co_await leaf.metric(queued_side) == 2);
    co_await leaf.set_faults("[]");
    CHECK(co_await outcomes(*root, 6) == all(6, "answer"));
    CHECK(co_await leaf.metric(total(WorkKind::facets, "refused")) == 2);
    CHECK(co_await leaf.metric(total(WorkKind::spelling, "refused")) == 1);
  });
}

TEST_CASE("a leaf that drains refuses new side work, but answers snippets, which end a query") {
  auto settings = speller();
  settings.drain_time = 20s;
  RunningLeaf leaf(settings);
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    co_await leaf.set_faults(R"([{"kind": "pause"}])");
    root->send(root->spell({"editr"}));
    co_await leaf.until(queued_side, 1);
    asio::co_spawn(leaf.io, leaf.server->drain(), [&](std::exception_ptr) { leaf.drained = true; });
    CHECK((co_await leaf.http("GET", "/readyz")).status == 503);
    for (const auto kind : {WorkKind::facets, WorkKind::spelling, WorkKind::lookup}) {
      const auto one = ask(*root, kind);
      root->send(one.message);
      CHECK(co_await outcomes(*root, one.answers) == all(one.answers, "refused"));
    }
    root->send(ask(*root, WorkKind::snippets).message);
    co_await leaf.until(queued_side, 2);
    co_await leaf.set_faults("[]");
    CHECK(co_await outcomes(*root, 2) == all(2, "answer"));
    co_await root->wait_for_end();
  });
}

}  // namespace hedgerow::leaf
