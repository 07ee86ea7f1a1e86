#include "lab/load_plan.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <charconv>
#include <cmath>
#include <exception>

#include "lab/evaluate.hpp"
#include "lab/qrels.hpp"
#include "lab/queries_file.hpp"

namespace hedgerow::lab {

namespace {

constexpr std::uint32_t default_depth = 10, least_depth_of_ndcg = 10, deepest = 1000;

Error invalid(std::string what) { return {Errc::invalid_argument, std::move(what)}; }

const std::string* value_of(const SearchParameters& parameters, std::string_view name) {
  const auto found = std::find_if(parameters.begin(), parameters.end(), [&](const auto& entry) { return entry.first == name; });
  return found == parameters.end() ? nullptr : &found->second;
}

result<void> add_parameters(const LoadPlan& plan, SearchParameters& parameters) {
  if (!plan.deadline.empty()) parameters.emplace_back("deadline", plan.deadline);
  for (const auto& parameter : plan.parameters) {
    const auto equals = parameter.find('=');
    if (equals == std::string::npos || equals == 0) return invalid("'" + parameter.substr(0, 80) + "' is not name=value");
    parameters.emplace_back(parameter.substr(0, equals), parameter.substr(equals + 1));
  }
  return {};
}

// How many hits are asked for; where the plan says it, the parameter is added.
result<std::size_t> depth_of(const LoadPlan& plan, SearchParameters& parameters) {
  const std::string* k = value_of(parameters, "k");
  if (k && plan.depth) return invalid("-k and the parameter k: one of them is enough");
  if (plan.depth) {
    parameters.emplace_back("k", std::to_string(*plan.depth));
    return *plan.depth;
  }
  if (!k) return default_depth;
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(k->data(), k->data() + k->size(), value);
  if (error != std::errc{} || end != k->data() + k->size() || value == 0 || value > deepest) return invalid("k is a number from 1 to 1000");
  return value;
}

std::string counted(std::size_t count, const char* one, const char* many) { return std::to_string(count) + " " + (count == 1 ? one : many); }

// The outcomes of asking each query for its complete answer.
result<std::vector<QueryOutcome>> ask_reference(const std::string& reference, const std::vector<std::string>& texts, std::size_t depth) {
  std::vector<TestQuery> queries;
  queries.reserve(texts.size());
  for (const auto& text : texts) queries.push_back({"", text});
  const auto hits = static_cast<std::uint32_t>(depth);
  if (std::error_code ignored; std::filesystem::is_directory(reference, ignored)) return ask_index(reference, queries, hits);

  EvaluateSettings settings;
  settings.target = reference;
  settings.depth = hits;
  settings.parameters = {{"deadline", "60s"}, {"partial", "deny"}, {"min_completeness", "1"}, {"canary", "off"}};
  settings.time_limit = std::chrono::seconds(70);
  boost::asio::io_context context(1);
  std::optional<result<std::vector<QueryOutcome>>> end;
  boost::asio::co_spawn(context, ask_root(settings, queries), [&](std::exception_ptr problem, result<std::vector<QueryOutcome>> value) {
    if (problem) std::rethrow_exception(problem);
    end = std::move(value);
  });
  context.run();
  return std::move(*end);
}

result<void> add_reference(const LoadPlan& plan, const std::vector<std::string>& queries, WantedAnswers& wanted, std::vector<std::string>& notes) {
  const auto outcomes = ask_reference(plan.reference, queries, wanted.depth());
  if (!outcomes) return outcomes.error();
  std::size_t failed = 0;
  std::string why;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const QueryOutcome& outcome = (*outcomes)[i];
    if (!outcome.failure.empty() || outcome.completeness.value_or(0) < 1) {
      if (failed++ == 0) why = outcome.failure.empty() ? "not complete" : outcome.failure + ": " + outcome.detail.substr(0, 200);
      continue;
    }
    std::vector<std::string> ids;
    for (const auto& hit : outcome.hits) ids.push_back(hit.id);
    wanted.set_complete(i, ids);
  }
  if (failed == queries.size()) return Error{Errc::unavailable, plan.reference + " gives no complete answer (" + why + ")"};
  if (failed > 0) {
    notes.push_back("no complete answer of " + plan.reference + " for " + counted(failed, "query", "queries") + ", which count for no recall; the first: " + why);
  }
  return {};
}

// The queries' texts; with judgements, those that are judged.
struct ReadQueries {
  std::vector<std::string> texts;
  std::vector<Judgements> judgements;  // by place, or none
};

result<ReadQueries> read_judged_queries(const LoadPlan& plan, std::vector<std::string>& notes) {
  const auto read = read_test_queries(plan.queries);
  if (!read) return read.error();
  auto qrels = read_qrels(plan.qrels);
  if (!qrels) return qrels.error();
  ReadQueries queries;
  for (const auto& query : *read) {
    const auto judgements = qrels->find(query.id);
    if (judgements == qrels->end()) continue;
    queries.texts.push_back(plan.as_typed ? query.text : plain_words(query.text));
    queries.judgements.push_back(std::move(judgements->second));
  }
  if (queries.texts.empty()) return invalid("no query of " + plan.queries.string() + " has judgements in " + plan.qrels.string());
  const std::size_t passed_over = read->size() - queries.texts.size();
  if (passed_over > 0) notes.push_back("passed over, without judgements: " + counted(passed_over, "query", "queries"));
  return queries;
}

}  // namespace

std::size_t queries_within_reach(const LoadSettings& settings, std::size_t queries) {
  if (settings.order == QueryOrder::drawn) return queries;
  double asked = static_cast<double>(settings.count);
  if (settings.clients == 0) {
    // A Poisson process makes as many as its mean, give or take its root: more than seven times that beyond the mean, and
    // twenty for the smallest of means, in fewer than one of 10^10 runs. (Such a one asks the first query once more.)
    const double mean = settings.rate * to_seconds(settings.warm_up + settings.duration);
    asked = std::ceil(mean + 7 * std::sqrt(mean)) + 20;
  }
  return asked < static_cast<double>(queries) ? std::max<std::size_t>(1, static_cast<std::size_t>(asked)) : queries;
}

result<PreparedLoad> prepare_load(const LoadPlan& plan) {
  PreparedLoad prepared{plan.load, {}};
  LoadSettings& settings = prepared.settings;
  if (auto added = add_parameters(plan, settings.parameters); !added) return added.error();
  const auto depth = depth_of(plan, settings.parameters);
  if (!depth) return depth.error();
  if (plan.as_typed && plan.qrels.empty()) return invalid("without judgements queries are asked as typed");

  ReadQueries queries;
  if (plan.qrels.empty()) {
    auto read = read_queries(plan.queries);
    if (!read) return read.error();
    queries.texts = std::move(*read);
  } else {
    auto read = read_judged_queries(plan, prepared.notes);
    if (!read) return read.error();
    queries = std::move(*read);
  }
  if (plan.qrels.empty() && plan.reference.empty()) {
    settings.queries = std::move(queries.texts);
    return prepared;
  }

  if (value_of(settings.parameters, "offset")) return invalid("recall and nDCG are of the first page: no offset");
  if (!plan.qrels.empty() && *depth < least_depth_of_ndcg) return invalid("nDCG@10 needs a k of at least 10");
  queries.texts.resize(queries_within_reach(settings, queries.texts.size()));
  if (queries.texts.size() * *depth > WantedAnswers::most_documents) {
    return Error{Errc::too_large, "more than 20 million documents to remember: ask fewer queries, or a smaller k"};
  }
  auto wanted = std::make_shared<WantedAnswers>(queries.texts.size(), *depth);
  for (std::size_t i = 0; i < queries.texts.size() && i < queries.judgements.size(); ++i) {
    wanted->set_judgements(i, std::move(queries.judgements[i]));
  }
  if (!plan.reference.empty()) {
    if (auto added = add_reference(plan, queries.texts, *wanted, prepared.notes); !added) return added.error();
  }
  settings.queries = std::move(queries.texts);
  settings.wanted = std::move(wanted);
  return prepared;
}

}  // namespace hedgerow::lab
