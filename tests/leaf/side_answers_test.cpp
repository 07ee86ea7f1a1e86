// What a leaf answers beside the hits: snippets, facets, spelling and single documents; and what it refuses.

#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "every_kind.hpp"
#include "leaf/facet_task.hpp"

namespace hedgerow::leaf {

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

TEST_CASE("a document is looked up by its id: itself, or what it is about, and another id is not found") {
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

TEST_CASE("a leaf of no partition spells, and serves nothing else, and one of nothing does not start") {
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

}  // namespace hedgerow::leaf
