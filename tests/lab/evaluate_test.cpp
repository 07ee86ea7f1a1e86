#include "lab/evaluate.hpp"

#include <doctest/doctest.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <map>
#include <set>

#include "wire/http_server.hpp"
#include "wire/problem.hpp"

using namespace hedgerow;
using namespace hedgerow::lab;
using namespace std::chrono_literals;
using doctest::Approx;
namespace asio = boost::asio;

namespace {

// Asks a root in miniature, on one loop with the asking.
class EvaluateBench {
 public:
  explicit EvaluateBench(wire::HttpServer::Handler handler) : server_(context_.get_executor(), {}, std::move(handler)) {
    const auto endpoint = server_.listen({asio::ip::address_v4::loopback(), 0});
    REQUIRE(endpoint.has_value());
    settings.target = "http://127.0.0.1:" + std::to_string(endpoint->port());
  }

  std::vector<QueryOutcome> ask(const std::vector<TestQuery>& queries) {
    std::optional<result<std::vector<QueryOutcome>>> end;
    asio::co_spawn(context_, ask_and_drain(queries, end), [](std::exception_ptr problem) {
      if (problem) std::rethrow_exception(problem);
    });
    context_.run();
    REQUIRE(end);
    REQUIRE(end->has_value());
    return std::move(**end);
  }

  EvaluateSettings settings;

 private:
  asio::awaitable<void> ask_and_drain(const std::vector<TestQuery>& queries,
                                      std::optional<result<std::vector<QueryOutcome>>>& end) {
    end = co_await ask_root(settings, queries);
    co_await server_.drain(1s);
  }

  asio::io_context context_{1};
  wire::HttpServer server_;
};

wire::HttpResponse answer_with(const std::string& body) {
  wire::HttpResponse response;
  response.body = body;
  return response;
}

QueryOutcome found(std::initializer_list<const char*> documents, double completeness = 1, Duration latency = 1ms) {
  QueryOutcome outcome;
  double score = 10;
  for (const char* document : documents) outcome.hits.push_back({document, score--});
  outcome.completeness = completeness;
  outcome.latency = latency;
  return outcome;
}

QueryOutcome failed(const std::string& failure) {
  QueryOutcome outcome;
  outcome.failure = failure;
  return outcome;
}

}  // namespace

TEST_CASE("every query is asked once, as typed, with its depth, its parameters, and nothing that has no part in hits") {
  std::multiset<std::string> targets;
  EvaluateBench bench([&](wire::HttpRequest& request) -> asio::awaitable<wire::HttpResponse> {
    targets.insert(request.target);
    co_return answer_with(R"({"hits":[{"id":"d1","score":2.5},{"id":"d2","score":1}],"completeness":{"fraction":0.75}})");
  });
  bench.settings.depth = 7;
  bench.settings.parameters = {{"deadline", "50ms"}, {"snippets", "auto"}};
  const auto outcomes = bench.ask({{"1", "a \"b\""}, {"2", "c&d"}});
  CHECK(targets == std::multiset<std::string>{
                       "/v1/search?q=a%20%22b%22&deadline=50ms&snippets=auto&k=7&spelling=off&cache=off",
                       "/v1/search?q=c%26d&deadline=50ms&snippets=auto&k=7&spelling=off&cache=off"});
  REQUIRE(outcomes.size() == 2);
  for (const QueryOutcome& outcome : outcomes) {
    CHECK(outcome.failure == "");
    CHECK(outcome.completeness == 0.75);
    REQUIRE(outcome.hits.size() == 2);
    CHECK(outcome.hits[0].id == "d1");
    CHECK(outcome.hits[0].score == 2.5);
    CHECK(outcome.hits[1].id == "d2");
  }
}

TEST_CASE("outcomes stand in the order of the queries, whichever client asked them, and clients are so many") {
  std::size_t under_way = 0, most = 0;
  EvaluateBench bench([&](wire::HttpRequest& request) -> asio::awaitable<wire::HttpResponse> {
    most = std::max(most, ++under_way);
    const std::string word = request.target.substr(request.target.find("q=") + 2, 3);
    asio::steady_timer timer(co_await asio::this_coro::executor, 1ms);
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    --under_way;
    co_return answer_with(R"({"hits":[{"id":")" + word + R"(","score":1}],"completeness":{"fraction":1}})");
  });
  bench.settings.clients = 3;
  std::vector<TestQuery> queries;
  for (int i = 100; i < 150; ++i) queries.push_back({std::to_string(i), std::to_string(i)});
  const auto outcomes = bench.ask(queries);
  REQUIRE(outcomes.size() == 50);
  for (std::size_t i = 0; i < 50; ++i) CHECK(outcomes[i].hits.at(0).id == queries[i].text);
  CHECK(most == 3);
}

TEST_CASE("a query that fails is not asked again, and says how it failed") {
  std::map<std::string, int> asked;
  EvaluateBench bench([&](wire::HttpRequest& request) -> asio::awaitable<wire::HttpResponse> {
    const std::string word = request.target.substr(request.target.find("q=") + 2, 1);
    ++asked[word];
    if (word == "a") co_return wire::problem(400, "bad-query", "Nothing to search for.");
    if (word == "b") co_return answer_with("no JSON");
    if (word == "c") co_return answer_with(R"({"hits":[{"id":"x"}]})");
    if (word == "d") {
      asio::steady_timer timer(co_await asio::this_coro::executor, 300ms);
      co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    }
    co_return answer_with(R"({"hits":[],"completeness":{"fraction":1}})");
  });
  bench.settings.clients = 1;
  bench.settings.time_limit = 100ms;
  const auto outcomes = bench.ask({{"1", "a"}, {"2", "b"}, {"3", "c"}, {"4", "d"}, {"5", "e"}});
  REQUIRE(outcomes.size() == 5);
  CHECK(outcomes[0].failure == "status 400");
  CHECK(outcomes[0].detail == "Nothing to search for.");
  CHECK(outcomes[1].failure == "not an answer");
  CHECK(outcomes[2].failure == "not an answer");
  CHECK(outcomes[2].hits.empty());
  CHECK(outcomes[3].failure == "expired");
  CHECK(outcomes[4].failure == "");
  CHECK(asked == std::map<std::string, int>{{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}});
}

TEST_CASE("judged queries are averaged, with those that failed or found nothing as 0, and the others left out") {
  const Qrels qrels{{"1", {{"x", 1}}}, {"2", {{"y", 1}}}, {"3", {{"z", 1}}}, {"4", {{"z", 1}}}};
  Evaluation evaluation("a source", 100);
  evaluation.record({"1", "one"}, found({"x"}, 1, 2ms), qrels);
  evaluation.record({"2", "two"}, found({"n", "y"}, 0.5, 4ms), qrels);
  evaluation.record({"3", "three"}, failed("status 503"), qrels);
  evaluation.record({"4", "four"}, found({}, 0.75, 6ms), qrels);
  evaluation.record({"unjudged", "five"}, found({"x"}, 0, 1s), qrels);
  evaluation.set_unasked(1, 2);
  CHECK(evaluation.judged() == 4);
  CHECK(evaluation.failed() == 1);
  CHECK(evaluation.mean().reciprocal_rank == Approx((1 + 0.5) / 4));

  const auto out = evaluation.to_json();
  CAPTURE(out.dump(2));
  CHECK(out["queries"] == nlohmann::ordered_json({{"judged", 4},
                                                  {"answered", 3},
                                                  {"failed", 1},
                                                  {"without_hits", 1},
                                                  {"without_judgements", 1},
                                                  {"judged_without_text", 2}}));
  CHECK(out["measures"]["mrr"].get<double>() == Approx(0.375));
  CHECK(out["measures"]["recall_100"].get<double>() == Approx(0.5));
  // 1 and 1/log2(3), of four queries
  CHECK(out["measures"]["ndcg_10"].get<double>() == Approx((1 + 0.6309297536) / 4).epsilon(1e-6));
  CHECK(out["failures"] == nlohmann::ordered_json({{"status 503", 1}}));
  CHECK(out["completeness"]["mean"].get<double>() == Approx(0.75));
  CHECK(out["completeness"]["min"] == 0.5);
  CHECK(out["completeness"]["complete_share"].get<double>() == Approx(1.0 / 3).epsilon(1e-5));
  CHECK(out["latency_ms"]["count"] == 3);
  CHECK(out["latency_ms"]["max"].get<double>() == Approx(6));
  const std::string text = evaluation.to_text();
  CAPTURE(text);
  for (const char* part : {"4 judged queries: 3 answered, 1 failed, 1 without hits\n", "failed, status 503: 1\n",
                           "nDCG@10       0.4077\n", "MRR           0.3750\n", "mean 0.7500, least 0.5000, 1 of 3 "}) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, part);
  }
}

TEST_CASE("an evaluation of nothing has a report") {
  const Evaluation evaluation("nothing", 10);
  CHECK(evaluation.to_json()["measures"]["ndcg_10"] == 0.0);
  CHECK(evaluation.to_json()["latency_ms"]["count"] == 0);
  CHECK(evaluation.to_text().find("0 judged queries: 0 answered") != std::string::npos);
}
