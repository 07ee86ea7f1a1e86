#include "lab/load.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "wire/as_result.hpp"
#include "wire/http_server.hpp"
#include "wire/problem.hpp"

using namespace hedgerow;
using namespace hedgerow::lab;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

using wire::as_result;

// A root in miniature on a real socket, and the load on the same loop.
class Bench {
 public:
  using Handler = wire::HttpServer::Handler;

  explicit Bench(Handler handler) : server_(context.get_executor(), {}, std::move(handler)) {
    const auto endpoint = server_.listen({asio::ip::address_v4::loopback(), 0});
    REQUIRE(endpoint.has_value());
    settings.target = "http://127.0.0.1:" + std::to_string(endpoint->port());
    settings.queries = {"one", "two", "three"};
  }

  LoadResult run() {
    std::optional<result<LoadResult>> end;
    Load load(context, settings, progress);
    if (observer) load.observe(observer);
    asio::co_spawn(context, run_and_drain(load, end), [](std::exception_ptr problem) {
      if (problem) std::rethrow_exception(problem);
    });
    if (on_start) on_start(load);
    context.run();
    REQUIRE(end);
    REQUIRE(end->has_value());
    return std::move(**end);
  }

  asio::io_context context{1};
  LoadSettings settings;
  std::function<void(Load&)> on_start;
  std::function<void(const LoadOutcome&)> observer;
  std::function<void(const LoadProgress&)> progress;

 private:
  asio::awaitable<void> run_and_drain(Load& load, std::optional<result<LoadResult>>& end) {
    end = co_await load.run();
    co_await server_.drain(1s);
  }

  wire::HttpServer server_;
};

wire::HttpResponse answer(const std::string& body = R"({"took_ms":1,"finished":"complete","completeness":{"fraction":1}})") {
  wire::HttpResponse response;
  response.body = body;
  response.headers.emplace_back("Hedgerow-Completeness", "1");
  return response;
}

asio::awaitable<wire::HttpResponse> at_once(wire::HttpRequest&) { co_return answer(); }

}  // namespace

TEST_CASE("a server that stalls once shows in the latency of every query that was intended meanwhile") {
  // 200 queries a second, evenly, for 1.5 s. From 500 ms after the first request on, the server answers nothing for
  // 500 ms. A client that waits for its answer before it asks again would see one slow query; here each of the 100
  // queries of that half second waits for what is left of it: 500, 495, … 5 ms. So it is with connections to spare,
  // and with a single one, on which queries cannot even be sent.
  for (const std::size_t connections : {256, 1}) {
    std::optional<Instant> first;
    Bench bench([&](wire::HttpRequest& request) -> asio::awaitable<wire::HttpResponse> {
      if (!first) first = request.received;
      const Instant stall_begins = *first + 500ms, stall_ends = *first + 1000ms;
      if (request.received >= stall_begins && request.received < stall_ends) {
        asio::steady_timer timer(co_await asio::this_coro::executor, stall_ends);
        co_await timer.async_wait(as_result);
      }
      co_return answer();
    });
    bench.settings.rate = 200;
    bench.settings.duration = 1500ms;
    bench.settings.arrivals = ArrivalShape::even;
    bench.settings.connections = connections;
    const auto [frame, report] = bench.run();
    const auto out = report.to_json(frame);
    CAPTURE(out.dump(2));
    CHECK(out["latency_ms"]["count"] == 300);
    CHECK(out["latency_ms"]["max"].get<double>() >= 480);
    // Of 300 sorted latencies the 270th is the 70th of the 100 stalled ones: about 350 ms; the 285th, 425 ms.
    CHECK(out["latency_ms"]["p90"].get<double>() > 300);
    CHECK(out["latency_ms"]["p90"].get<double>() < 500);
    CHECK(out["latency_ms"]["p95"].get<double>() > 380);
    // Two thirds saw no stall.
    CHECK(out["latency_ms"]["p50"].get<double>() < 100);
    if (connections == 1) {
      CHECK(out["kept_up"] == false);
      CHECK(frame.waited_for_connection >= 50);
      CHECK(frame.connections_used == 1);
    } else {
      CHECK(frame.waited_for_connection == 0);
    }
  }
}

TEST_CASE("every query of the schedule is asked once, in the file's order, with its parameters") {
  std::map<std::string, int> targets;
  Bench bench([&](wire::HttpRequest& request) -> asio::awaitable<wire::HttpResponse> {
    ++targets[request.target];
    co_return answer();
  });
  bench.settings.queries = {"full text", "a&b"};
  bench.settings.parameters = {{"deadline", "50ms"}};
  bench.settings.rate = 1000;
  bench.settings.duration = 100ms;
  bench.settings.arrivals = ArrivalShape::even;
  const auto [frame, report] = bench.run();
  CHECK(frame.intended == 100);
  CHECK(report.answered() == 100);
  CHECK(targets == std::map<std::string, int>{{"/v1/search?q=full%20text&deadline=50ms", 50},
                                              {"/v1/search?q=a%26b&deadline=50ms", 50}});
}

TEST_CASE("the warm-up is sent, and not measured") {
  int asked = 0;
  Bench bench([&](wire::HttpRequest&) -> asio::awaitable<wire::HttpResponse> {
    // The first twenty are slow: a cold server.
    if (++asked <= 20) {
      asio::steady_timer timer(co_await asio::this_coro::executor, 60ms);
      co_await timer.async_wait(as_result);
    }
    co_return answer();
  });
  bench.settings.rate = 200;
  bench.settings.warm_up = 200ms;
  bench.settings.duration = 300ms;
  bench.settings.arrivals = ArrivalShape::even;
  const auto [frame, report] = bench.run();
  CHECK(asked == 100);
  CHECK(frame.warm_up == 40);
  CHECK(frame.intended == 60);
  CHECK(report.to_json(frame)["latency_ms"]["count"] == 60);
}

TEST_CASE("statuses, completeness and transport errors are counted as they come") {
  int asked = 0;
  Bench bench([&](wire::HttpRequest&) -> asio::awaitable<wire::HttpResponse> {
    ++asked;
    if (asked % 4 == 1) co_return wire::problem(503, "busy", "not now");
    if (asked % 4 == 2) {
      // No answer within the time limit.
      asio::steady_timer timer(co_await asio::this_coro::executor, 200ms);
      co_await timer.async_wait(as_result);
    }
    if (asked % 4 == 3) {
      auto partial = answer(R"({"took_ms":7.5,"finished":"deadline","completeness":{"fraction":0.9375}})");
      partial.headers = {{"Hedgerow-Completeness", "0.9375"}};
      co_return partial;
    }
    co_return answer();
  });
  bench.settings.clients = 1;
  bench.settings.count = 20;
  bench.settings.time_limit = 50ms;
  const auto [frame, report] = bench.run();
  const auto out = report.to_json(frame);
  CAPTURE(out.dump(2));
  CHECK(out["status"] == nlohmann::ordered_json({{"200", 10}, {"503", 5}}));
  CHECK(out["transport_errors"] == nlohmann::ordered_json({{"expired", 5}}));
  CHECK(out["finished"] == nlohmann::ordered_json({{"complete", 5}, {"deadline", 5}}));
  CHECK(out["completeness"]["min"] == 0.9375);
  CHECK(out["completeness"]["complete_share"] == 0.5);
  CHECK(out["took_ms"]["max"] == 7.5);
  CHECK(out["loop"] == "closed");
}

TEST_CASE("a closed loop never has more queries under way than clients, and stops at its count") {
  std::size_t under_way = 0, most = 0;
  int asked = 0;
  Bench bench([&](wire::HttpRequest&) -> asio::awaitable<wire::HttpResponse> {
    ++asked;
    most = std::max(most, ++under_way);
    asio::steady_timer timer(co_await asio::this_coro::executor, 1ms);
    co_await timer.async_wait(as_result);
    --under_way;
    co_return answer();
  });
  bench.settings.clients = 5;
  bench.settings.count = 203;
  const auto [frame, report] = bench.run();
  CHECK(asked == 203);
  CHECK(report.answered() == 203);
  CHECK(most == 5);
  CHECK(frame.connections_used == 5);
}

TEST_CASE("as many queries are under way as there are connections, when the server lets all of them wait") {
  constexpr std::size_t connections = 300;
  std::size_t under_way = 0, most = 0;
  bool released = false;
  std::optional<asio::steady_timer> gate;
  Bench bench([&](wire::HttpRequest&) -> asio::awaitable<wire::HttpResponse> {
    if (!gate) gate.emplace(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
    most = std::max(most, ++under_way);
    if (under_way == connections) {
      released = true;
      gate->cancel();
    }
    while (!released) co_await gate->async_wait(as_result);
    --under_way;
    co_return answer();
  });
  bench.settings.rate = 5000;
  bench.settings.duration = 100ms;
  bench.settings.arrivals = ArrivalShape::even;
  bench.settings.connections = connections;
  const auto [frame, report] = bench.run();
  CHECK(most == connections);
  CHECK(frame.connections_used == connections);
  CHECK(report.answered() == 500);
}

TEST_CASE("drawn queries are those of the seed") {
  const auto asked_with = [](std::uint64_t seed) {
    std::vector<std::string> asked;
    Bench bench([&](wire::HttpRequest& request) -> asio::awaitable<wire::HttpResponse> {
      asked.push_back(request.target);
      co_return answer();
    });
    bench.settings.order = QueryOrder::drawn;
    bench.settings.seed = seed;
    bench.settings.clients = 1;
    bench.settings.count = 60;
    bench.run();
    return asked;
  };
  const auto asked = asked_with(3);
  CHECK(asked == asked_with(3));
  CHECK(asked != asked_with(4));
  CHECK(std::set<std::string>(asked.begin(), asked.end()).size() == 3);
}

TEST_CASE("a load that is broken off reports what it has measured, and asks nothing more") {
  int asked = 0;
  Load* running = nullptr;
  Bench bench([&](wire::HttpRequest&) -> asio::awaitable<wire::HttpResponse> {
    if (++asked == 10) running->break_off();
    co_return answer();
  });
  bench.on_start = [&](Load& load) { running = &load; };
  bench.settings.rate = 100;
  bench.settings.duration = 1h;
  const auto [frame, report] = bench.run();
  CHECK(frame.broken_off);
  CHECK(report.answered() == frame.intended);
  CHECK(frame.intended >= 10);
  CHECK(frame.intended < 100);
}

TEST_CASE("progress is told each second, of what has happened since, and never when the load is over") {
  Bench bench(at_once);
  std::vector<LoadProgress> told;
  bench.progress = [&](const LoadProgress& progress) { told.push_back(progress); };
  bench.settings.rate = 100;
  bench.settings.duration = 1200ms;
  bench.settings.arrivals = ArrivalShape::even;
  const auto [frame, report] = bench.run();
  CHECK(report.answered() == 120);
  REQUIRE(!told.empty());
  CHECK(told[0].total == 1200ms);
  CHECK(told[0].elapsed >= 1s);
  CHECK(told[0].sent >= 90);
  CHECK(told[0].answered == told[0].recent);
  CHECK(told[0].failed == 0);
  CHECK(told[0].recent_p50 > 0ms);
  CHECK(told[0].recent_max >= told[0].recent_p99);
}

TEST_CASE("a target where nobody listens is a transport error of every query, not an end of the load") {
  Bench bench(at_once);
  {
    asio::ip::tcp::acceptor closed_again(bench.context, {asio::ip::address_v4::loopback(), 0});
    bench.settings.target = "127.0.0.1:" + std::to_string(closed_again.local_endpoint().port());
  }
  bench.settings.clients = 2;
  bench.settings.count = 6;
  const auto [frame, report] = bench.run();
  CHECK(report.answered() == 0);
  CHECK(report.to_json(frame)["transport_errors"]["unavailable"] == 6);
}

TEST_CASE("an observer sees every measured outcome with its query and its instant, and none of the warm-up") {
  Bench bench(at_once);
  bench.settings.rate = 500;
  bench.settings.warm_up = 100ms;
  bench.settings.duration = 200ms;
  bench.settings.arrivals = ArrivalShape::even;
  std::vector<LoadOutcome> seen;
  bench.observer = [&](const LoadOutcome& outcome) { seen.push_back(outcome); };
  const auto [frame, report] = bench.run();
  REQUIRE(seen.size() == 100);
  std::set<Duration> instants;
  std::size_t by_query[3] = {};
  for (const auto& outcome : seen) {
    CHECK(outcome.intended_at >= 0ms);
    CHECK(outcome.intended_at < 200ms);
    CHECK(outcome.latency > 0ms);
    CHECK(outcome.own_lag <= outcome.send_lag);
    CHECK(outcome.status == 200);
    instants.insert(outcome.intended_at);
    ++by_query[outcome.query];
  }
  CHECK(instants.size() == 100);
  // The 51st to the 150th of one, two, three, one, …
  CHECK(by_query[0] == 33);
  CHECK(by_query[1] == 33);
  CHECK(by_query[2] == 34);
  CHECK(report.latency().count() == 100);
}

TEST_CASE("time that a query waits for a connection is not this process's own lateness") {
  // One connection and 30 ms an answer: of forty queries 5 ms apart each waits longer than the one before.
  Bench bench([](wire::HttpRequest&) -> asio::awaitable<wire::HttpResponse> {
    asio::steady_timer timer(co_await asio::this_coro::executor, 30ms);
    co_await timer.async_wait(as_result);
    co_return answer();
  });
  bench.settings.rate = 200;
  bench.settings.duration = 200ms;
  bench.settings.arrivals = ArrivalShape::even;
  bench.settings.connections = 1;
  Duration longest_wait{};
  std::vector<Duration> own;
  bench.observer = [&](const LoadOutcome& outcome) {
    longest_wait = std::max(longest_wait, outcome.send_lag);
    own.push_back(outcome.own_lag);
  };
  const auto [frame, report] = bench.run();
  REQUIRE(own.size() == 40);
  // The last one was meant for 195 ms, and is sent when 39 others have taken 30 ms each.
  CHECK(longest_wait >= 39 * 30ms - 195ms);
  std::sort(own.begin(), own.end());
  CHECK(own[20] < 10ms);
  CHECK(report.to_json(frame)["kept_up"] == false);
  CHECK(report.to_json(frame)["sent_per_second"].get<double>() < 40);
}

TEST_CASE("recall and nDCG are of what the answers hold, by query, and 0 of what got no answer") {
  auto wanted = std::make_shared<WantedAnswers>(3, 10);
  wanted->set_complete(0, {"a", "b"});
  wanted->set_complete(1, {"a", "b", "c", "d"});
  wanted->set_judgements(1, {{"b", 1}});
  Bench bench([](wire::HttpRequest& request) -> asio::awaitable<wire::HttpResponse> {
    if (request.target.find("q=three") != std::string::npos) co_return wire::problem(503, "busy", "not now");
    co_return answer(R"({"hits":[{"rank":1,"id":"b"},{"rank":2,"id":"a"}],"took_ms":1,"finished":"deadline","completeness":{"fraction":0.5}})");
  });
  wanted->set_complete(2, {"z"});
  bench.settings.wanted = wanted;
  bench.settings.clients = 1;
  bench.settings.count = 30;
  const auto [frame, report] = bench.run();
  const auto out = report.to_json(frame);
  CAPTURE(out.dump(2));
  CHECK(out["recall"]["k"] == 10);
  CHECK(out["recall"]["answers"] == 20);
  CHECK(out["recall"]["mean"].get<double>() == doctest::Approx(0.75));
  CHECK(out["recall"]["mean_of_all_queries"].get<double>() == doctest::Approx(0.5));
  CHECK(out["ndcg"]["queries"] == 10);
  CHECK(out["ndcg"]["mean"].get<double>() == doctest::Approx(1));
}

TEST_CASE("traced, every query asks for its trace, and the latency of each attempt is told, answered or given up") {
  std::set<std::string> targets;
  Bench bench([&](wire::HttpRequest& request) -> asio::awaitable<wire::HttpResponse> {
    targets.insert(request.target);
    co_return answer(R"({"took_ms":30,"completeness":{"fraction":1},"trace":[
      {"kind":"primary","partition":0,"sent_ms":1,"ended_ms":6,"outcome":"answered"},
      {"kind":"primary","partition":1,"sent_ms":1,"ended_ms":21,"outcome":"lost"},
      {"kind":"hedge","partition":1,"sent_ms":11,"ended_ms":20,"outcome":"won"},
      {"kind":"primary","partition":2,"sent_ms":1,"outcome":"open"},
      {"kind":"retry","partition":3,"sent_ms":1,"ended_ms":2,"outcome":"refused"},
      {"kind":"tied","partition":4,"sent_ms":1,"ended_ms":2,"outcome":"superseded"},
      {"kind":"fetch","sent_ms":22,"ended_ms":23,"outcome":"answered"}]})");
  });
  bench.settings.queries = {"one"};
  bench.settings.clients = 1;
  bench.settings.count = 1;
  bench.settings.traced = true;
  std::vector<AttemptLatency> seen;
  bench.observer = [&](const LoadOutcome& outcome) { seen = outcome.attempt_latencies; };
  bench.run();
  CHECK(targets == std::set<std::string>{"/v1/search?q=one&trace=on"});
  REQUIRE(seen.size() == 4);
  const std::pair<Duration, bool> expected[] = {{5ms, true}, {20ms, false}, {9ms, true}, {29ms, false}};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(seen[i].latency == expected[i].first);
    CHECK(seen[i].answered == expected[i].second);
  }
}

TEST_CASE("a query file is one query a line, blank lines skipped, an empty or missing one is an error") {
  std::string name = (std::filesystem::temp_directory_path() / "hedgerow-test-XXXXXX").string();
  const std::filesystem::path directory = ::mkdtemp(name.data());
  const auto file = directory / "queries";
  CHECK(read_queries(file).error().code == Errc::io);
  std::ofstream(file) << "\n \n";
  CHECK(read_queries(file).error().code == Errc::invalid_argument);
  std::ofstream(file) << "full text\r\n\n  \n\"a phrase\" -not\nlast";
  const auto queries = read_queries(file);
  REQUIRE(queries.has_value());
  CHECK(*queries == std::vector<std::string>{"full text", "\"a phrase\" -not", "last"});
  std::filesystem::remove_all(directory);
}

TEST_CASE("settings without a sense are refused before anything is sent") {
  asio::io_context context(1);
  const auto fault = [&](auto change) {
    LoadSettings settings;
    settings.target = "127.0.0.1:1";
    settings.queries = {"a"};
    settings.rate = 1;
    settings.duration = 1s;
    change(settings);
    Load load(context, settings);
    std::optional<Errc> code;
    asio::co_spawn(context, load.run(), [&](std::exception_ptr, result<LoadResult> end) {
      if (end.has_error()) code = end.error().code;
    });
    context.restart();
    context.run();
    return code;
  };
  CHECK(fault([](LoadSettings& s) { s.rate = 0; }) == Errc::invalid_argument);
  CHECK(fault([](LoadSettings& s) { s.rate = -1; }) == Errc::invalid_argument);
  CHECK(fault([](LoadSettings& s) { s.duration = 0s; }) == Errc::invalid_argument);
  CHECK(fault([](LoadSettings& s) { s.connections = 0; }) == Errc::invalid_argument);
  CHECK(fault([](LoadSettings& s) { s.queries = {}; }) == Errc::invalid_argument);
  CHECK(fault([](LoadSettings& s) { s.clients = 1; }) == Errc::invalid_argument);
  CHECK(fault([](LoadSettings& s) { s.target = "nonsense"; }) == Errc::invalid_argument);
  CHECK(fault([](LoadSettings& s) { s.traced = true; s.parameters = {{"trace", "off"}}; }) == Errc::invalid_argument);
}
