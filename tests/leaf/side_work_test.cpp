// What a leaf does beside the hits: snippets, facets, spelling and single documents; and the laws that hold for every
// kind of work alike.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "leaf/facet_task.hpp"
#include "running_leaf.hpp"

namespace hedgerow::leaf {

namespace {

const std::string running_side = "hedgerow_leaf_running_side_work";
const std::string queued_side = "hedgerow_leaf_queued_side_work";

std::string total(WorkKind kind, const std::string& outcome) {
  return "hedgerow_leaf_work_total{outcome=\"" + outcome + "\",work=\"" + std::string(to_string(kind)) + "\"}";
}
std::string executed(WorkKind kind) {
  return "hedgerow_leaf_work_executed_total{work=\"" + std::string(to_string(kind)) + "\"}";
}

Settings speller(std::size_t workers = 2, std::size_t capacity = 1024) {
  Settings settings;
  settings.workers = workers;
  settings.queue_capacity = capacity;
  settings.allow_faults = true;
  settings.spelling = true;
  return settings;
}

// A call of a kind that a leaf with all partitions can answer, and how many answers end it.
struct Asked {
  wire::Message message;
  CallId call;
  std::size_t answers = 1;

  wire::TimeLimit& time() {
    return *std::visit(
        [](auto& m) -> wire::TimeLimit* {
          if constexpr (requires { m.time; }) return &m.time;
          return nullptr;
        },
        message);
  }
  void set_generation(Generation generation) {
    std::visit(
        [&](auto& m) {
          if constexpr (requires { m.generation; }) m.generation = generation;
        },
        message);
  }
};

template <class Call>
Asked asked(Call call, std::size_t answers = 1) {
  return {call, call.call, answers};
}

Asked ask(RootSide& root, WorkKind kind) {
  const auto document = TinyIndex::get().address("doc-3");
  switch (kind) {
    case WorkKind::fetch: return asked(root.fetch({document}));
    case WorkKind::search: return asked(root.call("editor", {0, 1}), 2);
    case WorkKind::snippets: return asked(root.snippets("editor", {document}));
    case WorkKind::facets: return asked(root.facets("editor", {0, 1}, {"section"}), 2);
    case WorkKind::spelling: return asked(root.spell({"editr"}));
    case WorkKind::lookup: return asked(root.lookup("doc-3"));
  }
  return {};
}

// Of so many messages; they come in any order.
asio::awaitable<std::vector<std::string>> outcomes(RootSide& root, std::size_t count) {
  std::vector<std::string> words;
  while (words.size() < count) words.push_back(outcome(co_await root.next()));
  co_return words;
}

std::vector<std::string> all(std::size_t count, const char* word) { return std::vector<std::string>(count, word); }

CallId call_of(const wire::Message& message) {
  return std::visit(
      [](const auto& m) {
        if constexpr (requires { m.call; }) return m.call;
        return CallId{};
      },
      message);
}

}  // namespace

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

TEST_CASE("snippets come in the order asked, with the query's words marked") {
  RunningLeaf leaf;
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    const auto& index = TinyIndex::get();
    // Texts: "hedge rose rose rose editor …" by the number of the document.
    const auto call = root->snippets("editor", {index.address("doc-3"), index.address("doc-1"), index.address("doc-15"),
                                                index.address("doc-0")});
    root->send(call);
    const auto message = co_await root->next();
    const auto& answer = std::get<wire::SnippetAnswer>(message);
    CHECK(answer.snippets == std::vector<std::string>{
                                 "hedge rose rose rose <b>editor</b> <b>editor</b> <b>editor</b> <b>editor</b>",
                                 "hedge rose", "hedge rose <b>editor</b>", "hedge <b>editor</b>"});
    root->send(root->snippets("editor", {}));
    const auto none = co_await root->next();
    CHECK(std::get<wire::SnippetAnswer>(none).snippets.empty());
    root->send(root->snippets("editor", {{PartitionId{0}, DocumentNumber{4711}}}));
    CHECK(outcome(co_await root->next()) == "failed");
  });
}

TEST_CASE("facet counts of all partitions add up to those of the matching documents") {
  RunningLeaf leaf;
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    std::map<std::string, std::uint64_t> sections, colours, counted_sections, counted_colours;
    for (const auto& document : TinyIndex::get().documents()) {
      if (document.text.find("editor") == std::string::npos) continue;
      for (const auto& value : document.facets.at("section")) ++sections[value];
      if (!document.facets.contains("colour")) continue;
      for (const auto& value : document.facets.at("colour")) ++colours[value];
    }
    REQUIRE(colours.size() > 2);
    root->send(root->facets("editor", {0, 1, 2, 3}, {"section", "nothing", "colour"}));
    std::set<std::uint32_t> partitions;
    for (const auto& message : co_await root->answers(4)) {
      const auto& answer = std::get<wire::FacetAnswer>(message);
      partitions.insert(answer.partition.value);
      REQUIRE(answer.facets.size() == 3);
      const auto add = [](const wire::FacetValueCounts& facet, std::map<std::string, std::uint64_t>& to) {
        for (std::size_t i = 0; i < facet.values.size(); ++i) to[facet.values[i]] += facet.counts[i];
        CHECK_FALSE(facet.cut);
      };
      add(answer.facets[0], counted_sections);
      add(answer.facets[2], counted_colours);
      CHECK(answer.facets[1].values.empty());
    }
    CHECK(partitions.size() == 4);
    CHECK(counted_sections == sections);
    CHECK(counted_colours == colours);

    auto few = root->facets("garden", {0}, {"colour"});
    few.most_values = 1;
    root->send(few);
    const auto cut = co_await root->next();
    CHECK(std::get<wire::FacetAnswer>(cut).facets[0].values == std::vector<std::string>{"red"});
    CHECK(std::get<wire::FacetAnswer>(cut).facets[0].cut);
  });
}

TEST_CASE("facet values beyond the bytes of an answer are cut, the most frequent ones stay, in rising order") {
  FacetCounts counts;
  counts.counts = {{"aaaa", 1}, {"bbbb", 5}, {"cccc", 3}, {"dddd", 3}};
  // Each takes 4 bytes and 12 beside them.
  const auto values = [&](std::size_t bytes) { return within_bytes(counts, bytes).values; };
  CHECK(values(64) == std::vector<std::string>{"aaaa", "bbbb", "cccc", "dddd"});
  CHECK_FALSE(within_bytes(counts, 64).cut);
  CHECK(values(63) == std::vector<std::string>{"bbbb", "cccc", "dddd"});
  CHECK(within_bytes(counts, 63).cut);
  CHECK(values(32) == std::vector<std::string>{"bbbb", "cccc"});
  CHECK(within_bytes(counts, 32).counts == std::vector<std::uint64_t>{5, 3});
  CHECK(values(15).empty());
  counts.cut = true;
  CHECK(within_bytes(counts, 64).cut);
}

TEST_CASE("suggestions come in the order asked, empty where there is none") {
  RunningLeaf leaf(speller());
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    root->send(root->spell({"gardn", "xylophone", "editr"}));
    const auto message = co_await root->next();
    const auto& answer = std::get<wire::SpellAnswer>(message);
    CHECK(answer.suggestions == std::vector<std::string>{"garden", "", "editor"});
    CHECK(answer.document_frequencies == std::vector<std::uint32_t>{80, 0, 27});  // of 80 documents, a third
  });
}

TEST_CASE("a document is looked up by its id: itself, or what it is about; another id is not found") {
  RunningLeaf leaf;
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    const auto& expected = TinyIndex::get().documents()[4];
    root->send(root->lookup("doc-4"));
    const auto itself = co_await root->next();
    const auto& answer = std::get<wire::LookupAnswer>(itself);
    CHECK(answer.found);
    CHECK(answer.document == DocumentNumber{5});
    CHECK(answer.shown.id == expected.id);
    CHECK(answer.shown.title == expected.title);
    CHECK(answer.shown.url == expected.url);
    CHECK(answer.text == expected.text);
    CHECK(nlohmann::json::parse(answer.facets_json) ==
          nlohmann::json({{"section", {"beds"}}, {"colour", {"red", "colour-4"}}}));
    CHECK(answer.terms.empty());

    root->send(root->lookup("doc-4", 3));
    const auto about = co_await root->next();
    const auto& terms = std::get<wire::LookupAnswer>(about);
    CHECK(terms.found);
    CHECK(terms.document == DocumentNumber{5});
    REQUIRE(terms.terms.size() == 3);
    CHECK(terms.counts.size() == 3);
    CHECK(terms.text.empty());

    for (const char* id : {"doc-400", "", "DOC-4"}) {
      root->send(root->lookup(id));
      const auto none = co_await root->next();
      REQUIRE(outcome(none) == "answer");
      CHECK_FALSE(std::get<wire::LookupAnswer>(none).found);
    }
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

TEST_CASE("a leaf of no partition spells, and serves nothing else; one of nothing does not start") {
  auto settings = speller();
  settings.no_partitions = true;
  {
    RunningLeaf leaf(settings);
    leaf.run([&]() -> asio::awaitable<void> {
      const auto root = co_await RootSide::connect(leaf);
      CHECK(root->hello().partitions.empty());
      CHECK(root->hello().spelling);
      for (const auto kind : work_kinds) {
        CAPTURE(to_string(kind));
        const auto one = ask(*root, kind);
        root->send(one.message);
        CHECK(co_await outcomes(*root, one.answers) ==
              all(one.answers, kind == WorkKind::spelling ? "answer" : "not_served"));
      }
    });
  }
  settings.spelling = false;
  settings.index = TinyIndex::get().directory();
  asio::io_context io;
  CHECK(Server::create(io, settings).error().code == Errc::invalid_argument);
}

TEST_CASE("a query that cannot be run, and lists beyond their bounds, are bad queries, and the link lives on") {
  RunningLeaf leaf(speller());
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    const std::string garbage = "\xff\xfe garbage";
    auto snippets = root->snippets("editor", {TinyIndex::get().address("doc-3")});
    snippets.plan.query = garbage;
    root->send(snippets);
    CHECK(outcome(co_await root->next()) == "bad_query");
    auto facets = root->facets("editor", {0, 1}, {"section"});
    facets.plan.query = garbage;
    root->send(facets);
    CHECK(co_await outcomes(*root, 2) == all(2, "bad_query"));

    const std::vector<wire::DocumentAddress> documents(1001, TinyIndex::get().address("doc-3"));
    root->send(root->snippets("editor", documents));
    CHECK(outcome(co_await root->next()) == "bad_query");
    root->send(root->fetch(documents));
    CHECK(outcome(co_await root->next()) == "bad_query");
    root->send(root->spell(std::vector<std::string>(129, "editr")));
    CHECK(outcome(co_await root->next()) == "bad_query");
    root->send(root->spell(std::vector<std::string>(128, "editr")));
    CHECK(outcome(co_await root->next()) == "answer");
    root->send(root->spell({}));
    CHECK(outcome(co_await root->next()) == "answer");
  });
}

TEST_CASE("a root that breaks the rules of the new calls loses its link") {
  RunningLeaf leaf(speller());
  leaf.run([&]() -> asio::awaitable<void> {
    co_await leaf.set_faults(R"([{"kind": "pause"}])");
    struct Row {
      const char* what;
      std::function<void(RootSide&)> act;
    };
    const Row rows[] = {
        {"facets of no partition", [](RootSide& root) { root.send(root.facets("garden", {}, {"section"})); }},
        {"a spelling call with the id of a search",
         [](RootSide& root) {
           const auto search = root.call("garden", {0});
           root.send(search);
           auto spell = root.spell({"editr"});
           spell.call = search.call;
           root.send(spell);
         }},
        {"snippets that only leaves send", [](RootSide& root) { root.send(wire::SnippetAnswer{}); }},
        {"facet counts", [](RootSide& root) { root.send(wire::FacetAnswer{}); }},
        {"suggestions", [](RootSide& root) { root.send(wire::SpellAnswer{}); }},
        {"a document", [](RootSide& root) { root.send(wire::LookupAnswer{}); }},
        {"more words than a frame may hold",
         [](RootSide& root) { root.send(root.spell(std::vector<std::string>(1025, "a"))); }},
        {"facet counts out of order",
         [](RootSide& root) { root.send(wire::FacetAnswer{CallId{1}, {}, {{{"b", "a"}, {1, 1}, false}}, {}, {}}); }},
    };
    double errors = 0;
    for (const Row& row : rows) {
      CAPTURE(row.what);
      const auto root = co_await RootSide::connect(leaf);
      row.act(*root);
      co_await root->wait_for_end();
      co_await leaf.until("hedgerow_leaf_protocol_errors_total", ++errors);
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
