#include "lab/answer_scan.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
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
