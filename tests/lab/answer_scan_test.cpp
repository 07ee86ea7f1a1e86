#include "lab/answer_scan.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <array>
#include <string>

using namespace hedgerow::lab;

TEST_CASE("the facts of an answer are found whatever stands around them") {
  const auto facts = scan_answer(R"({"hits":[{"rank":1,"title":"a"}],"took_ms":12.5,"deadline_ms":250,
    "finished" : "deadline", "completeness":{"partitions":{"total":16},"fraction":0.9375,"missing":[]}})");
  CHECK(facts.took_ms == 12.5);
  CHECK(facts.finished == "deadline");
  CHECK(facts.completeness == 0.9375);
}

TEST_CASE("fields of nested objects and text that looks like a field are not taken for the answer's own") {
  nlohmann::ordered_json answer;
  answer["hits"] = {{{"title", R"(","took_ms":1,"finished":"complete")"}, {"took_ms", 2}, {"text", "}]{\\"}}};
  answer["subsystems"] = {{"spelling", {{"took_ms", 3}, {"finished", "no"}, {"completeness", {{"fraction", 0.25}}}}}};
  CHECK(!scan_answer(answer.dump()).took_ms);
  CHECK(scan_answer(answer.dump()).finished.empty());
  CHECK(!scan_answer(answer.dump()).completeness);
  answer["completeness"] = {{"partitions", {{"fraction", 0.5}}}, {"fraction", 1}};
  answer["took_ms"] = 4;
  answer["finished"] = "complete";
  for (const auto& text : {answer.dump(), answer.dump(2)}) {
    CHECK(scan_answer(text).took_ms == 4);
    CHECK(scan_answer(text).finished == "complete");
    CHECK(scan_answer(text).completeness == 1);
  }
}

TEST_CASE("a fact of another type is none") {
  const auto facts = scan_answer(R"({"took_ms":"12","finished":null,"completeness":[1]})");
  CHECK(!facts.took_ms);
  CHECK(facts.finished.empty());
  CHECK(!facts.completeness);
}

TEST_CASE("no cut of an answer is read beyond its end, and no fact is made up from half of one") {
  const std::string whole = R"({"hits":[{"t":"\"x\\"}],"took_ms":12.5,"completeness":{"fraction":0.5},"finished":"complete"})";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    // A copy of that size, so that a sanitizer sees a read behind it.
    const std::vector<char> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const auto facts = scan_answer({cut.data(), cut.size()});
    CAPTURE(size);
    CHECK((!facts.took_ms || *facts.took_ms == 12.5));
    CHECK((!facts.completeness || *facts.completeness == 0.5));
    CHECK(facts.finished.empty());
  }
  CHECK(scan_answer(whole).finished == "complete");
  for (const char* odd : {"", " ", "[]", "{}", "{:,}", "}", "\"", "{\"a", "{\"took_ms\":}", "<html>", "{,,,}"}) {
    CHECK(!scan_answer(odd).took_ms);
  }
}

TEST_CASE("attempts, subsystems, what was asked and what is expected of it are found in an answer as the root writes it") {
  const auto facts = scan_answer(R"({"hits":[{"rank":1,"id":"a"}],"completeness":{"fraction":0.5,"of_asked":1,
    "partitions":{"total":16,"asked":8,"answered":8},"estimated_recall":0.625,"missing":[]},
    "attempts":{"primary":8,"retry":1,"hedge":2,"hedge_won":1,"tied":3,"canary":4,"probe":5,"cancelled":6},
    "subsystems":{"spelling":{"status":"late","ms":5},"snippets":{"status":"ok","ms":1}},"trace":[{"kind":"primary"}]})");
  CHECK(facts.partitions_asked == 8);
  CHECK(facts.estimated_recall == 0.625);
  CHECK(facts.attempts == std::array<std::uint64_t, hedgerow::attempt_kinds>{8, 1, 2, 3, 4, 5});
  CHECK(facts.hedges_won == 1);
  CHECK(facts.cancelled == 6);
  REQUIRE(facts.subsystems.size() == 2);
  CHECK(facts.subsystems[0].first == "spelling");
  CHECK(facts.subsystems[0].second == "late");
  CHECK(facts.trace == R"([{"kind":"primary"}])");
}

TEST_CASE("the ids of hits come in order, with their escapes undone, whatever else a hit holds") {
  nlohmann::ordered_json answer;
  for (const char* id : {"plain", "with \"quotes\" and \\", "line\nbreak", "h\u00e4gg", ",]}{["}) {
    answer["hits"].push_back({{"rank", 1}, {"id", id}, {"title", R"({"id":"x"})"}, {"nested", {{"id", "y"}}}});
  }
  answer["hits"].push_back({{"rank", 6}});
  for (const auto& text : {answer.dump(), answer.dump(2), answer.dump(-1, ' ', true)}) {
    const auto ids = hit_ids(scan_answer(text).hits);
    REQUIRE(ids.size() == 6);
    for (std::size_t i = 0; i < 5; ++i) CHECK(ids[i] == answer["hits"][i]["id"].get<std::string>());
    CHECK(ids[5] == "");
  }
  CHECK(hit_ids("[]").empty());
  CHECK(hit_ids("").empty());
  CHECK(hit_ids("[ ]").empty());
  CHECK(hit_ids("{}").empty());
  // Cut off anywhere, never more than there are.
  const std::string whole = answer["hits"].dump();
  for (std::size_t size = 0; size < whole.size(); ++size) CHECK(hit_ids(std::string(whole.data(), size)).size() <= 6);
}

TEST_CASE("of a trace, the attempts of the search alone, with their ends") {
  const auto attempts = traced_attempts(R"([
    {"kind":"primary","leaf":"leaf-0","partition":3,"sent_ms":0.5,"ended_ms":2.5,"outcome":"answered"},
    {"kind":"hedge","leaf":"leaf-1","partition":4,"sent_ms":10,"outcome":"open"},
    {"kind":"fetch","leaf":"leaf-0","sent_ms":3,"ended_ms":4,"outcome":"answered"},
    {"kind":"snippets","leaf":"leaf-0","partition":3,"sent_ms":3,"ended_ms":4,"outcome":"answered"},
    {"kind":"primary","partition":3,"outcome":"answered"}])");
  REQUIRE(attempts.size() == 2);
  CHECK(attempts[0].sent_ms == 0.5);
  CHECK(attempts[0].ended_ms == 2.5);
  CHECK(attempts[0].outcome == "answered");
  CHECK(attempts[1].sent_ms == 10);
  CHECK(!attempts[1].ended_ms);
  CHECK(traced_attempts("").empty());
}
