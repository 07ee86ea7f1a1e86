#include "lab/evaluate.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdio>
#include <exception>
#include <fstream>
#include <optional>

#include "base/steady_clock.hpp"
#include "index/local_search.hpp"
#include "wire/as_result.hpp"
#include "wire/http_client.hpp"

namespace hedgerow::lab {

namespace asio = boost::asio;

namespace {

using wire::as_result;
// So many failures are told one by one.
constexpr std::size_t told_failures = 5;

QueryOutcome outcome_of(const wire::HttpResponse& response) {
  QueryOutcome outcome;
  const auto body = nlohmann::json::parse(response.body, nullptr, false);
  if (response.status != 200) {
    outcome.failure = "status " + std::to_string(response.status);
    const bool told = body.is_object() && body.contains("detail") && body["detail"].is_string();
    outcome.detail = told ? body["detail"].get<std::string>() : response.body.substr(0, 200);
    return outcome;
  }
  try {
    for (const auto& hit : body.at("hits")) {
      outcome.hits.push_back({hit.at("id").get<std::string>(), hit.at("score").get<double>()});
    }
    outcome.completeness = body.at("completeness").at("fraction").get<double>();
  } catch (const nlohmann::json::exception& problem) {
    outcome = {};
    outcome.failure = "not an answer";
    outcome.detail = problem.what();
  }
  return outcome;
}

// Some clients that take the queries one after another, each on a connection of its own.
class Asking {
 public:
  Asking(const EvaluateSettings& settings, const std::vector<TestQuery>& queries)
      : settings_(settings), queries_(queries), parameters_(evaluation_parameters(settings.parameters, settings.depth)),
        outcomes_(queries.size()) {}

  asio::awaitable<result<std::vector<QueryOutcome>>> run() {
    const auto executor = co_await asio::this_coro::executor;
    const auto endpoint = co_await wire::resolve_address(settings_.target);
    if (endpoint.has_error()) co_return endpoint.error();
    asio::steady_timer ended(executor, asio::steady_timer::time_point::max());
    std::size_t running = std::max<std::size_t>(1, std::min(settings_.clients, queries_.size()));
    for (std::size_t i = running; i > 0; --i) {
      asio::co_spawn(executor, ask_on(wire::HttpClient(executor, *endpoint)), [&](std::exception_ptr) {
        --running;
        ended.cancel();
      });
    }
    while (running > 0) co_await ended.async_wait(as_result);
    co_return std::move(outcomes_);
  }

 private:
  asio::awaitable<void> ask_on(wire::HttpClient client) {
    while (next_ < queries_.size()) {
      const std::size_t place = next_++;
      const Instant sent = clock_now();
      const auto response =
          co_await client.request("GET", search_target(queries_[place].text, parameters_), "", settings_.time_limit);
      QueryOutcome& outcome = outcomes_[place];
      if (response.has_error()) {
        outcome.failure = to_string(response.error().code);
        outcome.detail = response.error().context;
      } else {
        outcome = outcome_of(*response);
      }
      outcome.latency = clock_now() - sent;
    }
  }

  const EvaluateSettings& settings_;
  const std::vector<TestQuery>& queries_;
  const SearchParameters parameters_;
  std::vector<QueryOutcome> outcomes_;
  std::size_t next_ = 0;
};

result<std::vector<QueryOutcome>> ask(const EvaluateSettings& settings, const std::vector<TestQuery>& queries) {
  if (settings.target.empty()) return ask_index(settings.index, queries, settings.depth);
  asio::io_context context(1);
  std::optional<result<std::vector<QueryOutcome>>> end;
  asio::co_spawn(context, ask_root(settings, queries),
                 [&](std::exception_ptr problem, result<std::vector<QueryOutcome>> value) {
                   if (problem) std::rethrow_exception(problem);
                   end = std::move(value);
                 });
  context.run();
  return std::move(*end);
}

int nothing_measured(const Error& error) {
  std::fprintf(stderr, "hedgerow-lab: %s\n", to_string(error).c_str());
  return 2;
}

bool write_run(const std::filesystem::path& path, const std::vector<TestQuery>& queries,
               const std::vector<QueryOutcome>& outcomes, const std::string& tag) {
  std::ofstream file(path, std::ios::binary);
  for (std::size_t i = 0; i < queries.size(); ++i) file << run_lines(queries[i].id, outcomes[i].hits, tag);
  file.close();
  if (file) return true;
  std::fprintf(stderr, "hedgerow-lab: %s: cannot be written\n", path.c_str());
  return false;
}

}  // namespace

SearchParameters evaluation_parameters(const SearchParameters& given, std::uint32_t depth) {
  SearchParameters parameters = given;
  const auto add = [&](const char* name, const std::string& value) {
    const bool there = std::any_of(given.begin(), given.end(), [&](const auto& entry) { return entry.first == name; });
    if (!there) parameters.emplace_back(name, value);
  };
  parameters.emplace_back("k", std::to_string(depth));
  for (const char* name : {"spelling", "snippets", "cache"}) add(name, "off");
  return parameters;
}

result<std::vector<QueryOutcome>> ask_index(const std::filesystem::path& index, const std::vector<TestQuery>& queries,
                                            std::uint32_t depth) {
  auto search = LocalSearch::open(index);
  if (!search) return search.error();
  std::vector<QueryOutcome> outcomes;
  outcomes.reserve(queries.size());
  for (const TestQuery& query : queries) {
    QueryOutcome& outcome = outcomes.emplace_back();
    const Instant start = clock_now();
    const auto fail = [&](const Error& error) {
      outcome.failure = to_string(error.code);
      outcome.detail = error.context;
    };
    const auto answer = search->search(query.text, depth);
    if (!answer) {
      fail(answer.error());
      continue;
    }
    const auto documents = search->fetch(answer->hits);
    if (!documents) {
      fail(documents.error());
      continue;
    }
    outcome.latency = clock_now() - start;
    outcome.completeness = 1;
    for (std::size_t i = 0; i < documents->size(); ++i) {
      outcome.hits.push_back({(*documents)[i].id, answer->hits[i].scored.score});
    }
  }
  return outcomes;
}

asio::awaitable<result<std::vector<QueryOutcome>>> ask_root(const EvaluateSettings& settings,
                                                            const std::vector<TestQuery>& queries) {
  Asking asking(settings, queries);
  co_return co_await asking.run();
}

int run_evaluate(const EvaluateSettings& settings, bool as_json) {
  auto read = read_test_queries(settings.queries);
  if (!read) return nothing_measured(read.error());
  const auto qrels = read_qrels(settings.qrels);
  if (!qrels) return nothing_measured(qrels.error());

  std::vector<TestQuery> queries;
  for (TestQuery& query : *read) {
    if (!qrels->contains(query.id)) continue;
    if (!settings.as_typed) query.text = plain_words(query.text);
    queries.push_back(std::move(query));
  }
  if (queries.empty()) {
    return nothing_measured({Errc::invalid_argument, "no query of " + settings.queries.string() +
                                                         " has judgements in " + settings.qrels.string()});
  }
  const auto outcomes = ask(settings, queries);
  if (!outcomes) return nothing_measured(outcomes.error());

  Evaluation evaluation(settings.target.empty() ? settings.index.string() : settings.target, settings.depth);
  evaluation.set_unasked(read->size() - queries.size(), qrels->size() - queries.size());
  std::size_t told = 0;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const QueryOutcome& outcome = (*outcomes)[i];
    evaluation.record(queries[i], outcome, *qrels);
    if (outcome.failure.empty() || ++told > told_failures) continue;
    std::fprintf(stderr, "query %s failed: %s: %s\n", queries[i].id.c_str(), outcome.failure.c_str(),
                 outcome.detail.c_str());
  }
  const std::string report = as_json ? evaluation.to_json().dump(2) + "\n" : evaluation.to_text();
  std::fwrite(report.data(), 1, report.size(), stdout);
  const bool written = settings.run.empty() || write_run(settings.run, queries, *outcomes, settings.tag);
  return evaluation.failed() == 0 && written ? 0 : 1;
}

}  // namespace hedgerow::lab
