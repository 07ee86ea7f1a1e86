// Expected JSON is written by hand, from the API's description.

#include "root/api_json.hpp"

#include <doctest/doctest.h>

namespace hedgerow::root {

namespace {

using namespace std::chrono_literals;

std::string header(const wire::HttpResponse& response, const char* name) {
  return std::string(response.header(name).value_or("(none)"));
}

SearchAnswer small_answer() {
  SearchAnswer answer;
  answer.hits = {{"vim", 7.25, "vim", "https://www.vim.org/", "<b>vim</b> &amp; co"}, {"nano \"tiny\"", 0.5, "näno", "", {}}};
  answer.offset = 20;
  answer.total = 137;
  answer.total_exact = true;
  answer.took = 12'345'678ns;
  answer.deadline = 250ms;
  answer.plan_time = 1ms;
  answer.search_time = 9ms;
  answer.second_phase_time = 2ms;
  answer.completeness.partitions_total = 2;
  answer.completeness.partitions_asked = 2;
  answer.completeness.partitions_answered = 2;
  answer.completeness.documents_total = 1000;
  answer.completeness.documents_asked = 1000;
  answer.completeness.documents_searched = 1000;
  answer.attempts = {.primary = 2, .retry = 0, .hedge = 3, .hedge_won = 1, .tied = 4, .canary = 1, .probe = 5, .cancelled = 6};
  answer.subsystems[0] = {policy::SubsystemStatus::late, 4250us};
  answer.subsystems[1] = {policy::SubsystemStatus::ok, 1500us};
  answer.cache = CacheUse::miss;
  return answer;
}

}  // namespace

TEST_CASE("an answer names what was left out for load, and says nothing of it otherwise") {
  SearchAnswer answer = small_answer();
  const auto shed = [&] { return nlohmann::json::parse(to_response(answer).body).value("shed", nlohmann::json()); };
  CHECK(shed().is_null());
  answer.shed.subsystems = true;
  CHECK(shed() == nlohmann::json::array({"subsystems"}));
  answer.shed.fanout = true;
  CHECK(shed() == nlohmann::json::array({"subsystems", "fanout"}));
}

TEST_CASE("a complete answer, to the letter") {
  const auto response = to_response(small_answer());
  CHECK(response.status == 200);
  CHECK(response.content_type == "application/json");
  CHECK(response.body ==
        R"({"hits":[{"rank":21,"id":"vim","score":7.25,"title":"vim","url":"https://www.vim.org/","snippet":"<b>vim</b> &amp; co"},)"
        R"({"rank":22,"id":"nano \"tiny\"","score":0.5,"title":"näno","url":""}],)"
        R"("total":{"value":137,"relation":"exact"},"took_ms":12.346,"deadline_ms":250.0,"finished":"complete",)"
        R"("completeness":{"fraction":1.0,"of_asked":1.0,"partitions":{"total":2,"asked":2,"answered":2},)"
        R"("documents":{"total":1000,"searched":1000},"estimated_recall":0.0,"missing":[]},)"
        R"("attempts":{"primary":2,"retry":0,"hedge":3,"hedge_won":1,"tied":4,"canary":1,"probe":5,"cancelled":6},)"
        R"("subsystems":{"spelling":{"status":"late","ms":4.25},"snippets":{"status":"ok","ms":1.5},)"
        R"("facets":{"status":"off","ms":0.0}},"query":{"notes":[]},"cache":"miss"})"
        "\n");
  CHECK(header(response, "Hedgerow-Completeness") == "1.0000");
  CHECK(header(response, "Cache-Control") == "no-store");
  CHECK(header(response, "Server-Timing") == "plan;dur=1.000, search;dur=9.000, fetch;dur=2.000, spelling;dur=4.250;desc=late, "
                                            "snippets;dur=1.500;desc=ok, total;dur=12.346");
}

TEST_CASE("a partial answer says so in the body and in the header, and names what is missing and why (trap 12)") {
  auto answer = small_answer();
  answer.hits.clear();
  answer.finished = policy::FinishReason::deadline;
  answer.total_exact = false;
  auto& completeness = answer.completeness;
  completeness.partitions_total = 8;
  completeness.partitions_asked = 6;
  completeness.partitions_answered = 2;
  completeness.documents_total = 1600;
  completeness.documents_asked = 1200;
  completeness.documents_searched = 400;
  completeness.missing = {{PartitionId{1}, MissingReason::late},      {PartitionId{2}, MissingReason::failed},
                          {PartitionId{3}, MissingReason::refused},   {PartitionId{4}, MissingReason::not_asked},
                          {PartitionId{5}, MissingReason::unassigned}};
  const auto response = to_response(answer);
  CHECK(response.status == 200);
  const auto body = nlohmann::json::parse(response.body);
  CHECK(body["finished"] == "deadline");
  CHECK(body["total"]["relation"] == "estimate");
  CHECK(body["completeness"].dump() ==
        R"({"documents":{"searched":400,"total":1600},"estimated_recall":0.0,"fraction":0.25,"missing":[)"
        R"({"partition":1,"reason":"late"},{"partition":2,"reason":"failed"},{"partition":3,"reason":"refused"},)"
        R"({"partition":4,"reason":"not_asked"},{"partition":5,"reason":"unassigned"}],)"
        R"("of_asked":0.3333333333333333,"partitions":{"answered":2,"asked":6,"total":8}})");
  CHECK(header(response, "Hedgerow-Completeness") == "0.2500");
}

TEST_CASE("the header's completeness is rounded down: less than everything never reads as everything") {
  struct Row {
    std::uint64_t searched, total;
    const char* text;
  };
  for (const Row& row : {Row{0, 5, "0.0000"}, Row{99'999, 100'000, "0.9999"}, Row{999'999'999, 1'000'000'000, "0.9999"},
                         Row{15, 16, "0.9375"}, Row{29, 100, "0.2900"}, Row{57, 100, "0.5700"}, Row{1, 3, "0.3333"},
                         Row{2, 3, "0.6666"}, Row{1, 100'000, "0.0000"}, Row{5, 5, "1.0000"}, Row{0, 0, "1.0000"}}) {
    CAPTURE(row.text);
    auto answer = small_answer();
    answer.completeness.documents_searched = row.searched;
    answer.completeness.documents_total = row.total;
    CHECK(header(to_response(answer), "Hedgerow-Completeness") == row.text);
  }
}

TEST_CASE("one of forty late and thirty-nine of forty late look different") {
  const auto with_late = [](std::uint32_t late) {
    auto answer = small_answer();
    answer.completeness = {};
    answer.completeness.partitions_total = answer.completeness.partitions_asked = 40;
    answer.completeness.partitions_answered = 40 - late;
    answer.completeness.documents_total = answer.completeness.documents_asked = 40'000;
    answer.completeness.documents_searched = 1000 * (40 - late);
    for (std::uint32_t i = 0; i < late; ++i) answer.completeness.missing.push_back({PartitionId{i}, MissingReason::late});
    return to_response(answer);
  };
  CHECK(header(with_late(1), "Hedgerow-Completeness") == "0.9750");
  CHECK(header(with_late(39), "Hedgerow-Completeness") == "0.0250");
}

TEST_CASE("a refusal is problem details with its completeness, and says when to come back") {
  SearchRefusal refusal{503, "overloaded", "Every leaf refused the query for load.", Completeness{}, 1, ""};
  refusal.completeness->partitions_total = refusal.completeness->partitions_asked = 1;
  refusal.completeness->documents_total = refusal.completeness->documents_asked = 10;
  refusal.completeness->missing = {{PartitionId{0}, MissingReason::refused}};
  const auto response = to_response(refusal);
  CHECK(response.status == 503);
  CHECK(response.content_type == "application/problem+json");
  CHECK(nlohmann::json::parse(response.body).dump() ==
        R"({"completeness":{"documents":{"searched":0,"total":10},"estimated_recall":0.0,"fraction":0.0,)"
        R"("missing":[{"partition":0,"reason":"refused"}],"of_asked":0.0,"partitions":{"answered":0,"asked":1,"total":1}},)"
        R"("detail":"Every leaf refused the query for load.","status":503,"title":"Service Unavailable",)"
        R"("type":"urn:hedgerow:problem:overloaded"})");
  CHECK(header(response, "Retry-After") == "1");
  CHECK(header(response, "Hedgerow-Completeness") == "0.0000");
  CHECK(header(response, "Cache-Control") == "no-store");
}

TEST_CASE("a refused query names its parameter, and has no completeness to tell of") {
  const auto response = to_response(SearchRefusal{400, "bad-query", "nothing to search for", {}, {}, "q"});
  const auto body = nlohmann::json::parse(response.body);
  CHECK(body["parameter"] == "q");
  CHECK_FALSE(body.contains("completeness"));
  CHECK(header(response, "Retry-After") == "(none)");
  CHECK(header(response, "Hedgerow-Completeness") == "(none)");
}

TEST_CASE("a trace tells every attempt's way, and leaves out what is not known") {
  auto answer = small_answer();
  answer.trace.emplace();
  answer.trace->push_back({"search", AttemptKind::retry, PartitionId{3}, "leaf-1", 1500us, 1600us, 1850us, 4ms, 250us, 2ms, "answered", "late 1ms"});
  answer.trace->push_back({"fetch", AttemptKind::primary, std::nullopt, "leaf-2", 5ms, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt, "", ""});
  CHECK(nlohmann::ordered_json::parse(to_response(answer).body)["trace"].dump() ==
        R"([{"kind":"retry","leaf":"leaf-1","partition":3,"sent_ms":1.5,"queued_ms":1.6,"started_ms":1.85,"ended_ms":4.0,"queue_ms":0.25,"service_ms":2.0,)"
        R"("outcome":"answered","fault":"late 1ms"},{"kind":"fetch","leaf":"leaf-2","sent_ms":5.0,"outcome":"open"}])");
}

TEST_CASE("facets, what may have been meant, and notes stand in the answer where there are any") {
  auto answer = small_answer();
  answer.subsystems[2] = {policy::SubsystemStatus::failed, 3ms};
  answer.facets = {{{"section", {{"editors", 12}, {"a \"b\"", 3}}, 14, true, false}, {"year", {}, 0, false, true}}};
  answer.suggestion = "text editor";
  answer.notes = {"The prefix 'a*' was cut."};
  const auto body = nlohmann::ordered_json::parse(to_response(answer).body);
  CHECK(body["facets"].dump() ==
        R"({"section":{"counts":[{"value":"editors","count":12},{"value":"a \"b\"","count":3}],"values":14,)"
        R"("partial":true,"cut":false},"year":{"counts":[],"values":0,"partial":false,"cut":true}})");
  CHECK(body["spelling"].dump() == R"({"suggestion":"text editor"})");
  CHECK(body["query"].dump() == R"({"notes":["The prefix 'a*' was cut."]})");
  CHECK(body["subsystems"]["facets"].dump() == R"({"status":"failed","ms":3.0})");
}

TEST_CASE("a document, to the letter, and facets that are no object are none") {
  const auto response = to_response(DocumentAnswer{"a/b", "näno", "", "<b>", R"({"section":["x","y"]})", PartitionId{3}, 1500us});
  CHECK(response.status == 200);
  CHECK(response.body == R"({"id":"a/b","title":"näno","url":"","text":"<b>","facets":{"section":["x","y"]},)"
                         R"("partition":3,"took_ms":1.5})"
                         "\n");
  CHECK(header(response, "Cache-Control") == "no-store");
  for (const char* broken : {"", "[]", "{"}) {
    CHECK(nlohmann::json::parse(to_response(DocumentAnswer{"a", "", "", "", broken, PartitionId{0}, 1ms}).body)["facets"] ==
          nlohmann::json::object());
  }
}

TEST_CASE("text that is not UTF-8 does not break an answer") {
  auto answer = small_answer();
  answer.hits[0].title = "bad \xff byte";
  const auto body = nlohmann::json::parse(to_response(answer).body);
  CHECK(body["hits"][0]["title"] == "bad \xef\xbf\xbd byte");
}

}  // namespace hedgerow::root
