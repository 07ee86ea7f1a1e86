// The cache of complete answers: what it keeps, what it gives, and what it never keeps.
#include "root/result_cache.hpp"

#include <doctest/doctest.h>

#include <functional>

namespace hedgerow::root {

namespace {

using policy::SubsystemStatus;

SearchAnswer complete_answer(const std::string& title = "title") {
  SearchAnswer answer;
  answer.hits = {{"id", 1.0, title, "url", "snippet"}};
  answer.finished = policy::FinishReason::complete;
  answer.completeness.partitions_total = answer.completeness.partitions_asked = answer.completeness.partitions_answered = 4;
  answer.completeness.documents_total = answer.completeness.documents_asked = answer.completeness.documents_searched = 40;
  answer.subsystems[0].status = SubsystemStatus::ok;
  answer.subsystems[1].status = SubsystemStatus::ok;
  answer.attempts.primary = 4;
  answer.search_time = std::chrono::milliseconds(3);
  return answer;
}

QueryPlan some_plan() {
  QueryPlan plan;
  plan.serialised_query = "bytes";
  plan.generation = Generation{3};
  return plan;
}

}  // namespace

TEST_CASE("what was kept is given again, without what it cost to make it") {
  Metrics metrics;
  ResultCache cache(1 << 20, metrics);
  CHECK(cache.find("a") == nullptr);
  auto answer = complete_answer();
  answer.trace.emplace();
  cache.keep("a", answer);
  const auto found = cache.find("a");
  REQUIRE(found != nullptr);
  CHECK(found->hits[0].title == "title");
  CHECK(found->hits[0].snippet == "snippet");
  CHECK(found->attempts.primary == 0);
  CHECK(found->search_time == Duration::zero());
  CHECK_FALSE(found->trace.has_value());
  CHECK(metrics.cache_hits.Value() == 1);
  CHECK(metrics.cache_misses.Value() == 1);
  CHECK(metrics.cache_bytes.Value() == static_cast<double>(cache.bytes()));
}

TEST_CASE("only an answer that is complete in every part may be kept") {
  CHECK(may_keep(complete_answer()));
  struct Row {
    const char* what;
    std::function<void(SearchAnswer&)> spoil;
    bool kept = false;
  };
  const Row rows[] = {
      {"a partition did not answer", [](auto& a) { a.completeness.partitions_answered = 3; }},
      {"documents were not searched", [](auto& a) { a.completeness.documents_searched = 39; }},
      {"the deadline ended it", [](auto& a) { a.finished = policy::FinishReason::deadline; }},
      {"it was exhausted", [](auto& a) { a.finished = policy::FinishReason::exhausted; }},
      {"it was good enough", [](auto& a) { a.finished = policy::FinishReason::good_enough; }},
      {"subsystems were left out for load", [](auto& a) { a.shed.subsystems = true; }},
      {"its fan-out was narrowed for load", [](auto& a) { a.shed.fanout = true; }},
      {"no partition was asked", [](auto& a) { a.completeness.partitions_asked = a.completeness.partitions_answered = 0; }},
      {"spelling was late", [](auto& a) { a.subsystems[0].status = SubsystemStatus::late; }},
      {"snippets failed", [](auto& a) { a.subsystems[1].status = SubsystemStatus::failed; }},
      {"facets were skipped", [](auto& a) { a.subsystems[2].status = SubsystemStatus::skipped; }},
      {"facets are ok, too", [](auto& a) { a.subsystems[2].status = SubsystemStatus::ok; }, true},
      {"fewer partitions were asked for", [](auto& a) { a.completeness.partitions_total = 8; a.completeness.documents_total = 80; }, true},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    auto answer = complete_answer();
    row.spoil(answer);
    CHECK(may_keep(answer) == row.kept);
  }
}

TEST_CASE("beyond its bytes the cache lets go of what was not asked for the longest") {
  Metrics metrics;
  ResultCache one(1 << 20, metrics);
  one.keep("a", complete_answer(std::string(1000, 'x')));
  const std::size_t each = one.bytes();
  CHECK(each >= 1000);

  ResultCache cache(3 * each, metrics);
  for (const char* key : {"a", "b", "c"}) cache.keep(key, complete_answer(std::string(1000, 'x')));
  CHECK(cache.size() == 3);
  CHECK(cache.find("a") != nullptr);
  cache.keep("d", complete_answer(std::string(1000, 'x')));
  CHECK(cache.size() == 3);
  CHECK(cache.find("b") == nullptr);
  CHECK(cache.find("a") != nullptr);
  CHECK(cache.find("c") != nullptr);
  CHECK(cache.find("d") != nullptr);
  CHECK(cache.bytes() <= 3 * each);
  CHECK(metrics.cache_evictions.Value() == 1);
  // What is larger than all of it is not kept, and costs nothing else its place.
  cache.keep("e", complete_answer(std::string(4 * each, 'x')));
  CHECK(cache.find("e") == nullptr);
  CHECK(cache.size() == 3);
  // The same key again takes one place.
  cache.keep("d", complete_answer("another"));
  CHECK(cache.size() == 3);
  CHECK(cache.find("d")->hits[0].title == "another");
  cache.clear();
  CHECK(cache.bytes() == 0);
  CHECK(cache.find("a") == nullptr);
}

TEST_CASE("a cache of no bytes is off") {
  Metrics metrics;
  ResultCache cache(0, metrics);
  CHECK_FALSE(cache.on());
  cache.keep("a", complete_answer());
  CHECK(cache.size() == 0);
}

TEST_CASE("whatever changes an answer changes the key, and what does not does not") {
  const SearchParameters plain = [] {
    SearchParameters parameters;
    parameters.query = "text";
    return parameters;
  }();
  const std::string key = cache_key(plain, some_plan(), {});
  struct Row {
    const char* what;
    std::function<void(SearchParameters&, QueryPlan&, std::vector<std::string>&)> change;
    bool same = false;
  };
  const Row rows[] = {
      {"plan", [](auto&, auto& plan, auto&) { plan.serialised_query = "others"; }},
      {"generation", [](auto&, auto& plan, auto&) { plan.generation = Generation{4}; }},
      {"text", [](auto& p, auto&, auto&) { p.query = "Text"; }},
      {"like", [](auto& p, auto&, auto&) { p.like = "id"; }},
      {"notes", [](auto&, auto& plan, auto&) { plan.notes = {"note"}; }},
      {"k", [](auto& p, auto&, auto&) { p.k = 11; }},
      {"offset", [](auto& p, auto&, auto&) { p.offset = 1; }},
      {"fanout", [](auto& p, auto&, auto&) { p.fanout = 4; }},
      {"spelling", [](auto& p, auto&, auto&) { p.spelling = false; }},
      {"snippets", [](auto& p, auto&, auto&) { p.snippets = false; }},
      {"facets", [](auto& p, auto&, auto& facets) { p.facets.names = facets = {"role"}; }},
      {"facets that there are none of", [](auto& p, auto&, auto&) { p.facets.every_category = true; }},
      {"deadline", [](auto& p, auto&, auto&) { p.deadline = std::chrono::seconds(1); }, true},
      {"class", [](auto& p, auto&, auto&) { p.service_class = ServiceClass::batch; }, true},
      {"partial", [](auto& p, auto&, auto&) { p.partial = PartialAnswers::deny; }, true},
      {"grace", [](auto& p, auto&, auto&) { p.grace = std::chrono::seconds(1); }, true},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    auto parameters = plain;
    auto plan = some_plan();
    std::vector<std::string> facets;
    row.change(parameters, plan, facets);
    CHECK((cache_key(parameters, plan, facets) == key) == row.same);
  }
}

}  // namespace hedgerow::root
