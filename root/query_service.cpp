#include "root/query_service.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>

#include "base/random.hpp"
#include "base/steady_clock.hpp"
#include "index/partition_of.hpp"
#include "index/similar_query.hpp"
#include "root/assignment.hpp"
#include "root/completeness.hpp"
#include "root/document_lookup.hpp"
#include "root/estimated_recall.hpp"
#include "root/fanout_runner.hpp"
#include "root/policy/query/titles_with_hits.hpp"
#include "root/subsystem_runner.hpp"

namespace hedgerow::root {

namespace asio = boost::asio;
using policy::FinishReason;

namespace {

// Calls what it is given when the client goes away, for as long as this lives; then the watch is free for the next one.
class Watched {
 public:
  Watched(wire::ClientWatch* client, std::function<void()> gone) : gone_(std::make_shared<std::function<void()>>(std::move(gone))) {
    if (!client) return;
    client->on_gone([weak = std::weak_ptr(gone_)] {
      if (const auto alive = weak.lock()) (*alive)();
    });
  }

 private:
  std::shared_ptr<std::function<void()>> gone_;
};

SearchRefusal client_gone() { return {499, "client-gone", "The client closed the connection.", {}, {}, ""}; }

SearchRefusal refusal_of(const Error& error, const std::string& parameter) {
  const bool too_large = error.code == Errc::too_large;
  if (error.code == Errc::invalid_argument || too_large) {
    return {400, too_large ? "query-too-large" : "bad-query", error.context, {}, {}, parameter};
  }
  return {500, "internal", error.context, {}, {}, ""};
}

// Of a document that was looked up.
SearchRefusal lookup_refusal(const Error& error, const std::string& parameter) {
  switch (error.code) {
    case Errc::not_found:
      return {404, "unknown-document", "The collection has no " + error.context + ".", {}, {}, parameter};
    case Errc::expired: return {504, "nothing-in-time", "No leaf told of " + error.context + " before the deadline.", {}, {}, ""};
    case Errc::refused: return {503, "overloaded", "Every leaf that holds " + error.context + " refused for load.", {}, 1, ""};
    case Errc::unavailable:
      return {503, "no-leaf-answers", "No leaf could tell of " + error.context + ": those that hold it are unreachable or failed.", {}, 1, ""};
    case Errc::cancelled: return client_gone();
    default: return {500, "internal", error.context, {}, {}, ""};
  }
}

// The names of the facets to count, or what is wrong with those asked for.
boost::system::result<std::vector<std::string>, SearchRefusal> facets_of(const SearchParameters::Facets& wanted,
                                                                         const Manifest& manifest) {
  std::vector<std::string> names;
  if (wanted.every_category) {
    for (const auto& field : manifest.facets) {
      if (field.kind == fields::ValueKind::category) names.push_back(field.name);
    }
    if (names.size() > SearchParameters::most_facets) names.resize(SearchParameters::most_facets);
    return names;
  }
  for (const auto& name : wanted.names) {
    const auto known = std::any_of(manifest.facets.begin(), manifest.facets.end(), [&](const auto& f) { return f.name == name; });
    if (known) {
      names.push_back(name);
      continue;
    }
    std::string all;
    for (const auto& field : manifest.facets) all += (all.empty() ? "'" : ", '") + field.name + "'";
    return SearchRefusal{400, "unknown-facet",
                         "The collection has no facet '" + name.substr(0, 60) + "'; " +
                             (all.empty() ? "it has none." : "it has " + all + "."),
                         {}, {}, "facets"};
  }
  return names;
}

// The query as it was typed, for the quarantine's list.
std::string shown_of(const SearchParameters& parameters) {
  if (parameters.like) return "like=" + *parameters.like;
  return parameters.query;
}

// The width that is asked, of so many partitions: never fewer than one, nor less than what the asker called enough; those
// who want all or nothing get the width that they asked for.
std::optional<std::uint32_t> width_of(const SearchParameters& parameters, double share, std::size_t partitions) {
  if (share >= 1 || parameters.partial == PartialAnswers::deny) return parameters.fanout;
  const double full = static_cast<double>(std::min<std::size_t>(parameters.fanout.value_or(partitions), partitions));
  const double enough = parameters.good_enough.min_completeness < 1 ? parameters.good_enough.min_completeness : 0;
  return static_cast<std::uint32_t>(std::max(1.0, std::ceil(full * std::max(share, enough) - 1e-9)));
}

// What a finished answer lacks because of load, rather than for reasons of its own.
SearchAnswer::Shed shed_of(const SearchParameters& parameters, const policy::Admission::Shedding& shedding, const SearchAnswer& answer) {
  const bool wanted = parameters.spelling || parameters.snippets || parameters.facets.wanted();
  const auto wide = std::min(parameters.fanout.value_or(answer.completeness.partitions_total), answer.completeness.partitions_total);
  return {.subsystems = shedding.subsystems && wanted, .fanout = answer.completeness.partitions_asked < wide};
}

double answered_share(const Completeness& completeness) {
  if (completeness.partitions_asked == 0) return 1;
  return static_cast<double>(completeness.partitions_answered) / static_cast<double>(completeness.partitions_asked);
}

}  // namespace

QueryService::QueryService(asio::any_io_executor executor, CollectionStatistics statistics, Cluster& cluster,
                           CanaryService& canaries, Metrics& metrics, const Limits& limits)
    : executor_(std::move(executor)),
      statistics_(std::move(statistics)),
      cluster_(cluster),
      canaries_(canaries),
      metrics_(metrics),
      waiting_room_(executor_, limits.admission, cluster.policies().search.load, limits.seed, metrics),
      cache_(limits.cache_bytes, metrics),
      titles_with_hits_(limits.titles_with_hits) {}

asio::awaitable<QueryService::Outcome> QueryService::search(const SearchParameters& parameters, Instant received,
                                                            wire::ClientWatch* client) {
  auto place = co_await waiting_room_.enter(parameters.service_class, received, received + parameters.deadline, client);
  if (place.has_error()) {
    (place.error().status == 503 ? metrics_.queries_refused : metrics_.queries_client_gone).Increment();
    co_return place.error();
  }
  auto outcome = co_await search_admitted(parameters, received, client, *place);
  count(outcome, clock_now() - received);
  co_return outcome;
}

asio::awaitable<QueryService::Outcome> QueryService::search_admitted(const SearchParameters& parameters, Instant received,
                                                                     wire::ClientWatch* client, WaitingRoom::Place& place) {
  const auto facets = facets_of(parameters.facets, cluster_.manifest());
  if (facets.has_error()) co_return facets.error();
  const auto plan = co_await this->plan(parameters, received + parameters.deadline, client);
  if (plan.has_error()) co_return plan.error();
  const Instant planned = clock_now();

  const bool uses_cache = cache_.on() && parameters.cache && !parameters.trace;
  std::string key;
  if (uses_cache) {
    key = cache_key(parameters, *plan, *facets);
    if (const auto kept = cache_.find(key)) {
      SearchAnswer answer = *kept;
      answer.cache = CacheUse::hit;
      answer.deadline = parameters.deadline;
      answer.plan_time = planned - received;
      answer.took = clock_now() - received;
      co_return answer;
    }
  }
  auto outcome = co_await ask_leaves(parameters, *plan, *facets, received, planned, client, place);
  if (uses_cache && outcome.has_value()) {
    outcome->cache = CacheUse::miss;
    if (may_keep(*outcome)) cache_.keep(std::move(key), *outcome);
  }
  co_return outcome;
}

asio::awaitable<QueryService::Plan> QueryService::plan(const SearchParameters& parameters, Instant deadline,
                                                       wire::ClientWatch* client) {
  if (!parameters.like) {
    auto plan = plan_query(parameters.query, statistics_, {.limits = {}, .frequent_words = {}, .synonyms = synonyms_ ? &*synonyms_ : nullptr});
    if (plan.has_error()) co_return refusal_of(plan.error(), "q");
    co_return std::move(*plan);
  }
  auto document = co_await look_up(*parameters.like, most_terms_of_similar, deadline, client);
  if (document.has_error()) co_return lookup_refusal(document.error(), "like");
  std::vector<DocumentTerm> terms;
  for (std::size_t i = 0; i < document->terms.size(); ++i) terms.push_back({document->terms[i], document->counts[i]});
  auto plan = plan_similar(terms, *parameters.like, statistics_);
  if (plan.has_error()) co_return refusal_of(plan.error(), "like");
  co_return std::move(*plan);
}

asio::awaitable<QueryService::Outcome> QueryService::ask_leaves(const SearchParameters& parameters, const QueryPlan& plan,
                                                                const std::vector<std::string>& facets, Instant received,
                                                                Instant planned, wire::ClientWatch* client,
                                                                WaitingRoom::Place& place) {
  // The search ends early enough for the second phase to end at the deadline.
  const Instant deadline = received + parameters.deadline;
  const Duration reserve = policy::second_phase_reserve(parameters.deadline, cluster_.policies().second_phase, planned);
  const auto replicas = cluster_.replicas();
  const Assignment assignment = assign(*replicas, width_of(parameters, place.shedding().fanout, replicas->size()), stable_hash(plan.serialised_query));

  const std::uint32_t titles =
      policy::titles_with_hits(parameters.offset, parameters.k, assignment.asked.size(), titles_with_hits_);

  // What might take leaves down runs on one of them first; nothing else is asked of any leaf before.
  CanaryRequest canary(canaries_, {plan, assignment, shown_of(parameters), parameters.offset + parameters.k, parameters.service_class, parameters.canary, received,
                                   deadline - reserve, parameters.trace, titles});
  {
    const Watched watched(client, [&] { canary.abandon(); });
    const auto verdict = co_await canary.wait();
    if (canary.abandoned()) co_return client_gone();
    if (verdict != policy::CanaryAnswer::go) co_return refusal_by_canary(canary, verdict, assignment);
  }

  FanoutRunner runner(executor_, cluster_, metrics_,
                      {plan, parameters.offset + parameters.k, parameters.offset, parameters.service_class, received, deadline - reserve,
                       deadline, parameters.trace, parameters.hedge, parameters.tied, parameters.good_enough, titles},
                      assignment);
  SubsystemRunner subsystems(executor_, cluster_, {plan, parameters.query, parameters.service_class, received, deadline,
                                                   parameters.grace, parameters.trace});
  if (place.shedding().subsystems) subsystems.shed();
  const Watched watched(client, [&] {
    runner.abandon();
    subsystems.abandon();
  });
  if (parameters.snippets) {
    runner.on_fetching([&](std::span<const MergedHit> hits, const auto& places) { subsystems.make_snippets(hits, places); });
  }
  if (const auto& answered = canary.answered()) runner.adopt(answered->partition, answered->leaf, answered->answer);
  runner.begin();
  if (parameters.spelling) subsystems.ask_spelling();
  if (parameters.facets.wanted()) subsystems.count_facets(assignment, facets);

  co_await runner.search();
  const Instant searched = clock_now();

  std::map<PartitionId, MissingReason> lost_later;
  std::vector<MergedHit> final_hits(runner.merge().hits());
  final_hits.erase(final_hits.begin(),
                   final_hits.begin() + std::min<std::ptrdiff_t>(parameters.offset, std::ssize(final_hits)));
  std::vector<std::optional<wire::FetchedDocument>> documents;
  if (!runner.abandoned() && !final_hits.empty()) {
    documents = co_await runner.fetch(final_hits);
    // A hit without its title is no hit: its partition counts as missing, and is named.
    for (std::size_t i = 0; i < final_hits.size(); ++i) {
      if (documents[i]) continue;
      metrics_.second_phase_hits_lost.Increment();
      lost_later[final_hits[i].partition] = clock_now() >= deadline ? MissingReason::late : MissingReason::failed;
    }
  }
  const Instant fetched = clock_now();
  if (!runner.abandoned()) {
    if (parameters.snippets) subsystems.close_snippets(final_hits);
    co_await subsystems.settle();
  }
  SearchAnswer answer;
  answer.completeness = completeness_of(assignment, runner.fanout(), cluster_.manifest(), lost_later);
  // Also of a search whose client went away: leaves may have died of it before.
  canaries_.on_searched(canary, answer.completeness, runner.fanout().lost_leaves());
  if (runner.abandoned()) co_return client_gone();
  answer.completeness.estimated_recall = estimated_recall(recall_question(
      plan, statistics_, cluster_.manifest(), answer.completeness, runner.merge().hits(), parameters.offset + parameters.k));
  answer.offset = parameters.offset;
  answer.deadline = parameters.deadline;
  answer.finished = runner.fanout().finish_reason();
  if (!lost_later.empty()) answer.finished = fetched >= deadline ? FinishReason::deadline : FinishReason::exhausted;
  if (answer.finished == FinishReason::complete && !assignment.unassigned.empty()) answer.finished = FinishReason::exhausted;
  for (std::size_t i = 0; i < final_hits.size(); ++i) {
    if (lost_later.contains(final_hits[i].partition)) continue;
    auto& document = *documents[i];
    answer.hits.push_back({std::move(document.id), final_hits[i].hit.score, std::move(document.title),
                           std::move(document.url), subsystems.snippet_of(final_hits[i])});
  }
  const bool all_asked_answered = answer.completeness.partitions_answered == answer.completeness.partitions_asked;
  // An estimate may be below what is shown.
  answer.total = std::max<std::uint64_t>(runner.matches(), runner.merge().hits().size());
  answer.total_exact = runner.matches_exact() && all_asked_answered && assignment.not_asked.empty();
  answer.attempts = runner.counts();
  answer.attempts.canary += canary.attempts();
  answer.subsystems = subsystems.statuses();
  answer.suggestion = subsystems.suggestion();
  if (parameters.facets.wanted()) answer.facets = subsystems.facets();
  answer.shed = shed_of(parameters, place.shedding(), answer);
  if (answer.shed.subsystems) metrics_.queries_shed_subsystems.Increment();
  if (answer.shed.fanout) metrics_.queries_shed_fanout.Increment();
  place.ended(answer.finished == FinishReason::deadline,
              answer.finished == FinishReason::complete || answer.finished == FinishReason::good_enough, answered_share(answer.completeness));
  answer.notes = plan.notes;
  if (parameters.trace) {
    answer.trace = canary.take_trace();
    for (auto& attempt : runner.take_trace()) answer.trace->push_back(std::move(attempt));
    for (auto& attempt : subsystems.take_trace()) answer.trace->push_back(std::move(attempt));
  }
  const Instant now = clock_now();
  answer.plan_time = planned - received;
  answer.search_time = searched - planned;
  answer.second_phase_time = fetched - searched;
  answer.took = now - received;

  if (answer.completeness.partitions_answered == 0 && answer.completeness.partitions_asked > 0) {
    co_return nothing_answered(std::move(answer.completeness));
  }
  if (parameters.partial == PartialAnswers::deny && answer.completeness.documents_searched < answer.completeness.documents_asked) {
    co_return SearchRefusal{504, "incomplete", "The answer would be incomplete, and partial=deny was asked for.",
                            std::move(answer.completeness), std::nullopt, ""};
  }
  co_return answer;
}

asio::awaitable<QueryService::DocumentOutcome> QueryService::document(const std::string& id, Duration deadline,
                                                                      Instant received, wire::ClientWatch* client) {
  const auto place = co_await waiting_room_.enter(ServiceClass::interactive, received, received + deadline, client);
  if (place.has_error()) co_return place.error();
  auto found = co_await look_up(id, 0, received + deadline, client);
  if (found.has_error()) co_return lookup_refusal(found.error(), "");
  co_return DocumentAnswer{std::move(found->shown.id), std::move(found->shown.title), std::move(found->shown.url), std::move(found->text), std::move(found->facets_json),
                           partition_of(id, static_cast<std::uint32_t>(cluster_.manifest().partitions.size())),
                           clock_now() - received};
}

asio::awaitable<result<wire::LookupAnswer>> QueryService::look_up(const std::string& id, std::uint32_t most_terms,
                                                                  Instant deadline, wire::ClientWatch* client) {
  const Instant began = clock_now();
  DocumentLookup lookup(executor_, cluster_, id, most_terms, deadline);
  const Watched watched(client, [&] { lookup.abandon(); });
  auto found = co_await lookup.run(began);
  metrics_.document_seconds.Observe(to_seconds(clock_now() - began));
  co_return found;
}

void QueryService::use(std::optional<Synonyms> synonyms) {
  synonyms_ = std::move(synonyms);
  forget_answers();
}

SearchRefusal QueryService::refusal_by_canary(const CanaryRequest& canary, policy::CanaryAnswer answer,
                                              const Assignment& assignment) {
  using policy::CanaryAnswer;
  if (answer == CanaryAnswer::quarantined) {
    const auto entry = canaries_.entry_of(canary.fingerprint());
    if (!entry) return {422, "quarantined", "This query was found to take leaves down.", {}, 1, ""};
    std::string leaves;
    for (const auto& leaf : entry->leaves) leaves += (leaves.empty() ? " " : ", ") + leaf;
    const char* did = entry->reason == policy::QuarantineReason::hang ? "made leaves hang" : "took leaves down";
    const int seconds = static_cast<int>(std::ceil(to_seconds(entry->remaining)));
    return {422, "quarantined",
            "This query " + std::string(did) + (leaves.empty() ? "" : ":" + leaves) + ". It is refused for another " +
                std::to_string(seconds) + " s, or until entry " + std::to_string(entry->id) + " of /v1/quarantine is deleted.",
            {}, seconds, ""};
  }
  const auto missing = answer == CanaryAnswer::refused ? MissingReason::refused
                       : answer == CanaryAnswer::no_leaf ? MissingReason::failed
                                                         : MissingReason::late;
  auto refusal = nothing_answered(completeness_of_nothing(assignment, cluster_.manifest(), missing));
  if (answer == CanaryAnswer::late) {
    refusal.detail = "The query's canary was not answered before the deadline, so no other leaf was asked.";
  }
  return refusal;
}

void QueryService::count(const Outcome& outcome, Duration took) {
  metrics_.query_seconds.Observe(to_seconds(took));
  if (outcome.has_error()) {
    const int status = outcome.error().status;
    (status == 504   ? metrics_.queries_timed_out
     : status == 422 ? metrics_.queries_quarantined
     : status == 503 ? metrics_.queries_refused
     : status == 499 ? metrics_.queries_client_gone
     : status >= 500 ? metrics_.queries_failed
                     : metrics_.queries_rejected)
        .Increment();
    return;
  }
  metrics_.completeness.Observe(outcome->completeness.fraction());
  switch (outcome->finished) {
    case FinishReason::complete: metrics_.queries_complete.Increment(); break;
    case FinishReason::good_enough: metrics_.queries_good_enough.Increment(); break;
    case FinishReason::deadline: metrics_.queries_deadline.Increment(); break;
    case FinishReason::exhausted: metrics_.queries_exhausted.Increment(); break;
  }
  if (outcome->cache == CacheUse::hit) return;  // its subsystems were counted when they ran
  for (std::size_t i = 0; i < policy::subsystem_kinds; ++i) {
    const auto& [status, time] = outcome->subsystems[i];
    metrics_.subsystem_queries[i][static_cast<std::size_t>(status)]->Increment();
    if (status == policy::SubsystemStatus::ok) metrics_.subsystem_seconds[i]->Observe(to_seconds(time));
  }
}

}  // namespace hedgerow::root
