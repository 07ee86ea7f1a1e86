#include "root/query_service.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include "base/random.hpp"
#include "index/query.hpp"
#include "root/assignment.hpp"
#include "root/fanout_runner.hpp"

namespace hedgerow::root {

namespace asio = boost::asio;
using policy::FinishReason;
using policy::PartitionState;

namespace {

Instant clock_now() { return std::chrono::steady_clock::now(); }

// Counts itself for as long as it lives.
class InFlight {
 public:
  InFlight(std::size_t& count, prometheus::Gauge& gauge) : count_(count), gauge_(gauge) { gauge_.Set(static_cast<double>(++count_)); }
  ~InFlight() { gauge_.Set(static_cast<double>(--count_)); }
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

 private:
  std::size_t& count_;
  prometheus::Gauge& gauge_;
};

SearchRefusal refusal_of(const Error& error) {
  const bool too_large = error.code == Errc::too_large;
  if (error.code == Errc::invalid_argument || too_large) {
    return {400, too_large ? "query-too-large" : "bad-query", error.context, std::nullopt, std::nullopt, "q"};
  }
  return {500, "internal", error.context, std::nullopt, std::nullopt, ""};
}

MissingReason reason_of(PartitionState state) {
  switch (state) {
    case PartitionState::refused: return MissingReason::refused;
    case PartitionState::failed: return MissingReason::failed;
    default: return MissingReason::late;
  }
}

Completeness completeness_of(const Assignment& assignment, const policy::Fanout& fanout, const Manifest& manifest,
                             const std::map<PartitionId, MissingReason>& lost_later) {
  Completeness out;
  out.partitions_total = static_cast<std::uint32_t>(manifest.partitions.size());
  out.documents_total = manifest.documents;
  const auto documents_of = [&](PartitionId partition) { return manifest.partitions[partition.value].documents; };

  for (std::size_t i = 0; i < assignment.asked.size(); ++i) {
    const PartitionId partition = assignment.asked[i].partition;
    ++out.partitions_asked;
    out.documents_asked += documents_of(partition);
    if (const auto lost = lost_later.find(partition); lost != lost_later.end()) {
      out.missing.push_back({partition, lost->second});
    } else if (fanout.state_of(i) == PartitionState::answered) {
      ++out.partitions_answered;
      out.documents_searched += documents_of(partition);
    } else {
      out.missing.push_back({partition, reason_of(fanout.state_of(i))});
    }
  }
  for (const auto partition : assignment.unassigned) {
    ++out.partitions_asked;
    out.documents_asked += documents_of(partition);
    out.missing.push_back({partition, MissingReason::unassigned});
  }
  for (const auto partition : assignment.not_asked) out.missing.push_back({partition, MissingReason::not_asked});
  std::sort(out.missing.begin(), out.missing.end(),
            [](const auto& a, const auto& b) { return a.partition < b.partition; });
  return out;
}

// A query that no partition answered is an error, never an empty answer.
SearchRefusal nothing_answered(Completeness completeness) {
  const auto all = [&](MissingReason reason) {
    return std::all_of(completeness.missing.begin(), completeness.missing.end(),
                       [&](const auto& m) { return m.reason == reason || m.reason == MissingReason::not_asked; });
  };
  const bool any_late = std::any_of(completeness.missing.begin(), completeness.missing.end(),
                                    [](const auto& m) { return m.reason == MissingReason::late; });
  SearchRefusal refusal;
  if (any_late) {
    refusal = {504, "nothing-in-time", "No partition answered before the deadline.", {}, {}, ""};
  } else if (all(MissingReason::refused)) {
    refusal = {503, "overloaded", "Every leaf refused the query for load.", {}, 1, ""};
  } else {
    refusal = {503, "no-leaf-answers", "No leaf could answer: the ones asked are unreachable or failed.", {}, 1, ""};
  }
  refusal.completeness = std::move(completeness);
  return refusal;
}

}  // namespace

QueryService::QueryService(asio::any_io_executor executor, CollectionStatistics statistics, Cluster& cluster,
                           Metrics& metrics, std::size_t most_queries)
    : executor_(std::move(executor)),
      statistics_(std::move(statistics)),
      cluster_(cluster),
      metrics_(metrics),
      most_queries_(most_queries) {}

asio::awaitable<QueryService::Outcome> QueryService::search(const SearchParameters& parameters, Instant received,
                                                            wire::ClientWatch* client) {
  if (in_flight_ >= most_queries_) {
    metrics_.queries_refused.Increment();
    co_return SearchRefusal{503, "overloaded", "More than " + std::to_string(most_queries_) + " queries are in flight.",
                            std::nullopt, 1, ""};
  }
  const InFlight counted(in_flight_, metrics_.queries_in_flight);
  auto outcome = co_await search_admitted(parameters, received, client);

  metrics_.query_seconds.Observe(to_seconds(clock_now() - received));
  if (outcome.has_error()) {
    const int status = outcome.error().status;
    (status == 504   ? metrics_.queries_timed_out
     : status == 503 ? metrics_.queries_refused
     : status == 499 ? metrics_.queries_client_gone
     : status >= 500 ? metrics_.queries_failed
                     : metrics_.queries_rejected)
        .Increment();
    co_return outcome;
  }
  metrics_.completeness.Observe(outcome->completeness.fraction());
  switch (outcome->finished) {
    case FinishReason::complete: metrics_.queries_complete.Increment(); break;
    case FinishReason::good_enough: metrics_.queries_good_enough.Increment(); break;
    case FinishReason::deadline: metrics_.queries_deadline.Increment(); break;
    case FinishReason::exhausted: metrics_.queries_exhausted.Increment(); break;
  }
  co_return outcome;
}

asio::awaitable<QueryService::Outcome> QueryService::search_admitted(const SearchParameters& parameters, Instant received,
                                                                     wire::ClientWatch* client) {
  const auto plan = plan_query(parameters.query, statistics_);
  if (plan.has_error()) co_return refusal_of(plan.error());
  const Instant planned = clock_now();

  // The search ends early enough for the second phase to end at the deadline.
  const Instant deadline = received + parameters.deadline;
  const Duration reserve = policy::second_phase_reserve(parameters.deadline, cluster_.policies().second_phase, planned);
  const auto replicas = cluster_.replicas();
  const Assignment assignment = assign(*replicas, parameters.fanout, stable_hash(plan->serialised_query));

  FanoutRunner runner(executor_, cluster_, metrics_,
                      {*plan, parameters.offset + parameters.k, parameters.offset, parameters.service_class, received, deadline - reserve,
                       deadline, parameters.trace},
                      assignment);
  // The watch outlives the runner: what it calls must know when there is none any more.
  const auto watched = std::make_shared<FanoutRunner*>(&runner);
  if (client) {
    client->on_gone([weak = std::weak_ptr(watched)] {
      if (const auto alive = weak.lock()) (*alive)->abandon();
    });
  }
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
  if (runner.abandoned()) {
    co_return SearchRefusal{499, "client-gone", "The client closed the connection.", std::nullopt, std::nullopt, ""};
  }

  SearchAnswer answer;
  answer.completeness = completeness_of(assignment, runner.fanout(), cluster_.manifest(), lost_later);
  answer.offset = parameters.offset;
  answer.deadline = parameters.deadline;
  answer.finished = runner.fanout().finish_reason();
  if (!lost_later.empty()) answer.finished = clock_now() >= deadline ? FinishReason::deadline : FinishReason::exhausted;
  if (answer.finished == FinishReason::complete && !assignment.unassigned.empty()) answer.finished = FinishReason::exhausted;
  for (std::size_t i = 0; i < final_hits.size(); ++i) {
    if (lost_later.contains(final_hits[i].partition)) continue;
    auto& document = *documents[i];
    answer.hits.push_back(
        {std::move(document.id), final_hits[i].hit.score, std::move(document.title), std::move(document.url)});
  }
  const bool all_asked_answered = answer.completeness.partitions_answered == answer.completeness.partitions_asked;
  // An estimate may be below what is shown.
  answer.total = std::max<std::uint64_t>(runner.matches(), runner.merge().hits().size());
  answer.total_exact = runner.matches_exact() && all_asked_answered && assignment.not_asked.empty();
  answer.attempts = runner.counts();
  if (parameters.trace) answer.trace = runner.take_trace();
  const Instant now = clock_now();
  answer.plan_time = planned - received;
  answer.search_time = searched - planned;
  answer.second_phase_time = now - searched;
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

}  // namespace hedgerow::root
