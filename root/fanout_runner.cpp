#include "root/fanout_runner.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <map>

#include "root/answer_check.hpp"
#include "root/calls.hpp"

namespace hedgerow::root {

namespace asio = boost::asio;
using policy::AttemptFailure;
using wire::FailureReason;

namespace {

Instant clock_now() { return std::chrono::steady_clock::now(); }

std::vector<policy::Fanout::Partition> fanout_partitions(const Assignment& assignment, const Manifest& manifest) {
  std::vector<policy::Fanout::Partition> partitions;
  partitions.reserve(assignment.asked.size());
  for (const auto& asked : assignment.asked) {
    partitions.push_back({asked.partition, asked.replicas, manifest.partitions[asked.partition.value].documents});
  }
  return partitions;
}

policy::Fanout::Settings fanout_settings(const FanoutRunner::Query& query) {
  policy::Fanout::Settings settings;
  settings.search_end = query.search_end;
  settings.early_fetch = policy::early_fetch_instant(query.received, query.search_end, query.deadline - query.search_end);
  settings.hedge = query.hedge;
  settings.tied = query.tied;
  settings.good_enough = query.good_enough;
  return settings;
}

policy::AttemptReport report_of(const wire::PartitionAnswer& answer) {
  return {answer.queue_time, answer.service_time, answer.load.queued, answer.load.running};
}

}  // namespace

// One search frame's call: the attempts that travel in it.
class FanoutRunner::SearchCallObserver final : public wire::CallObserver {
 public:
  SearchCallObserver(FanoutRunner& runner, std::shared_ptr<LeafClient> leaf) : leaf_client(std::move(leaf)), runner_(runner) {}

  void on_call_message(CallId, wire::Message&& message, bool over) override {
    if (over) id.reset();
    runner_.on_partition(*this, std::move(message));
  }
  void on_call_lost(CallId) override {
    id.reset();
    runner_.on_search_lost(*this);
  }

  std::shared_ptr<LeafClient> leaf_client;
  std::optional<CallId> id;  // while it is open
  std::map<PartitionId, AttemptId> attempts;  // still without an answer

 private:
  FanoutRunner& runner_;
};

class FanoutRunner::FetchCallObserver final : public wire::CallObserver {
 public:
  FetchCallObserver(FanoutRunner& runner, std::shared_ptr<LeafClient> leaf, AttemptId attempt_in)
      : leaf_client(std::move(leaf)), attempt(attempt_in), runner_(runner) {}

  void on_call_message(CallId, wire::Message&& message, bool) override {
    id.reset();
    runner_.on_fetched(*this, std::move(message));
  }
  void on_call_lost(CallId) override {
    id.reset();
    runner_.on_fetch_failed(*this, "unreachable");
  }

  std::shared_ptr<LeafClient> leaf_client;
  AttemptId attempt;
  std::optional<CallId> id;  // while it is open
  TracePlace trace_place;

 private:
  FanoutRunner& runner_;
};

FanoutRunner::FanoutRunner(asio::any_io_executor executor, Cluster& cluster, Metrics& metrics, const Query& query,
                           const Assignment& assignment)
    : executor_(std::move(executor)),
      cluster_(cluster),
      metrics_(metrics),
      query_(query),
      fanout_(fanout_partitions(assignment, cluster.manifest()), fanout_settings(query), cluster.policies().search),
      second_phase_({}, query.deadline, query.deadline - query.search_end, cluster.policies().side_choice),
      merge_(query.most_hits),
      timer_(executor_) {}

FanoutRunner::~FanoutRunner() {
  for (auto& call : search_calls_) {
    if (call.id) call.leaf_client->abandon(*call.id);
  }
  for (auto& call : fetch_calls_) {
    if (call.id) call.leaf_client->abandon(*call.id);
  }
}

void FanoutRunner::begin() {
  begun_ = true;
  perform(fanout_.start(clock_now()), Phase::search);
}

asio::awaitable<void> FanoutRunner::search() {
  if (!begun_) begin();
  co_await wait();
}

policy::SecondPhase::Hit FanoutRunner::fetchable(const MergedHit& hit) const {
  const auto& asked = fanout_.partitions();
  const auto found = std::find_if(asked.begin(), asked.end(), [&](const auto& p) { return p.partition == hit.partition; });
  return {fanout_.answered_by(static_cast<std::size_t>(found - asked.begin())), found->replicas};
}

void FanoutRunner::fetch_early() {
  std::vector<policy::SecondPhase::Hit> wanted;
  for (std::size_t i = query_.offset; i < merge_.hits().size(); ++i) {
    fetching_.push_back(merge_.hits()[i]);
    wanted.push_back(fetchable(fetching_.back()));
  }
  fetched_.resize(fetching_.size());
  perform(second_phase_.add(wanted, clock_now()), Phase::fetch);
  if (on_fetching_) on_fetching_(fetching_, wanted);
}

asio::awaitable<std::vector<std::optional<wire::FetchedDocument>>> FanoutRunner::fetch(const std::vector<MergedHit>& hits) {
  // What was fetched early keeps its place; what is no hit any more is dropped, what is new is added.
  const auto same = [](const MergedHit& hit) {
    return [document = hit.hit.document](const MergedHit& other) { return other.hit.document == document; };
  };
  const std::size_t early = fetching_.size();
  for (std::size_t place = 0; place < early; ++place) {
    if (std::none_of(hits.begin(), hits.end(), same(fetching_[place]))) second_phase_.drop(place);
  }
  std::vector<std::size_t> places;
  std::vector<policy::SecondPhase::Hit> late;
  for (const auto& hit : hits) {
    const auto found = std::find_if(fetching_.begin(), fetching_.end(), same(hit));
    places.push_back(static_cast<std::size_t>(found - fetching_.begin()));
    if (found != fetching_.end()) continue;
    fetching_.push_back(hit);
    late.push_back(fetchable(hit));
  }
  fetched_.resize(fetching_.size());

  phase_ = Phase::fetch;
  phase_finished_ = false;
  const Instant started = clock_now();
  const bool asks = !late.empty();
  perform(second_phase_.add(late, started), Phase::fetch);
  perform(second_phase_.start(started), Phase::fetch);
  if (on_fetching_ && asks) on_fetching_(std::span(fetching_).last(late.size()), late);
  co_await wait();
  if (asks) {  // a phase that had nothing left to ask says nothing of how long one takes
    const Duration took = clock_now() - started;
    metrics_.second_phase_seconds.Observe(to_seconds(took));
    cluster_.policies().second_phase.record(took, clock_now());
  }

  std::vector<std::optional<wire::FetchedDocument>> documents;
  documents.reserve(places.size());
  for (const std::size_t place : places) documents.push_back(std::move(fetched_[place]));
  co_return documents;
}

void FanoutRunner::abandon() {
  if (abandoned_) return;
  abandoned_ = true;
  for (auto& call : fetch_calls_) cancel(call);
  if (phase_ == Phase::search) {
    perform(fanout_.abandon(clock_now()), Phase::search);
  } else {
    phase_finished_ = true;
    timer_.cancel();
  }
}

// Until the phase's policy finishes it, waking it when it wished to be.
asio::awaitable<void> FanoutRunner::wait() {
  while (!phase_finished_) {
    co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
    const Instant now = clock_now();
    if (phase_finished_ || now < wake_at_) continue;
    perform(phase_ == Phase::search ? fanout_.on_wake(now) : second_phase_.on_wake(now), phase_);
  }
}

void FanoutRunner::perform(policy::Actions actions, Phase phase) {
  // Attempts of one batch that go to the same leaf travel in one frame.
  std::map<LeafId, std::vector<policy::SendAttempt>> by_leaf;
  for (auto& action : actions) {
    if (const auto* send = std::get_if<policy::SendAttempt>(&action)) {
      by_leaf[send->leaf].push_back(*send);
    } else if (const auto* cancelled = std::get_if<policy::CancelAttempt>(&action)) {
      if (phase == Phase::search) {
        cancel(cancelled->attempt);
      } else {
        for (auto& call : fetch_calls_) {
          if (call.attempt == cancelled->attempt) cancel(call);
        }
      }
    } else if (const auto* wake = std::get_if<policy::WakeAt>(&action)) {
      wake_at_ = wake->at;
      timer_.expires_at(wake_at_);
    } else if (std::holds_alternative<policy::FetchEarly>(action)) {
      fetch_early();
    } else if (const auto* fetch_action = std::get_if<policy::SendFetch>(&action)) {
      send_fetch(*fetch_action);
    } else if (std::holds_alternative<policy::Finish>(action)) {
      phase_finished_ = true;
      timer_.cancel();
    }
  }
  for (const auto& [leaf, attempts] : by_leaf) send_search(leaf, attempts);
}

void FanoutRunner::send_search(LeafId leaf, const std::vector<policy::SendAttempt>& attempts) {
  const Instant now = clock_now();
  LeafClient* client = cluster_.client(leaf);
  for (const auto& attempt : attempts) {
    if (carriers_.size() <= attempt.attempt.value) carriers_.resize(attempt.attempt.value + 1);
    carriers_[attempt.attempt.value].sent = now;
    carriers_[attempt.attempt.value].trace_place = trace_attempt(attempt.kind, attempt.partition, client);
    switch (attempt.kind) {
      case AttemptKind::retry: ++counts_.retry; metrics_.attempts_retry.Increment(); break;
      default: ++counts_.primary; metrics_.attempts_primary.Increment(); break;
    }
  }

  std::optional<CallId> id;
  if (client) {
    auto& call = search_calls_.emplace_back(*this, client->shared_from_this());
    wire::SearchCall message;
    message.time = time_limit(query_.search_end, now);
    message.generation = query_.plan.generation;
    message.plan = planned_query(query_.plan);
    message.k = query_.most_hits;
    message.service_class = query_.service_class;
    message.kind = attempts.front().kind;
    for (const auto& attempt : attempts) {
      message.partitions.push_back(attempt.partition);
      call.attempts[attempt.partition] = attempt.attempt;
      carriers_[attempt.attempt.value].call = &call;
    }
    id = client->call(std::move(message), call, attempts.size());
    call.id = id;
    if (!id) call.attempts.clear();
  }
  if (!id) {
    for (const auto& attempt : attempts) search_failed(attempt.attempt, AttemptFailure::unreachable, "unreachable");
  }
}

void FanoutRunner::search_failed(AttemptId attempt, AttemptFailure failure, const char* outcome) {
  end_trace(carriers_[attempt.value].trace_place, outcome);
  const auto& budget = cluster_.policies().search.retry_budget;
  const auto refused_before = budget.refused();
  auto actions = fanout_.on_failure(attempt, failure, clock_now());
  metrics_.retries_refused_by_budget.Increment(static_cast<double>(budget.refused() - refused_before));
  perform(std::move(actions), Phase::search);
}

void FanoutRunner::on_partition(SearchCallObserver& call, wire::Message&& message) {
  const Instant now = clock_now();
  const auto* failure = std::get_if<wire::PartitionFailure>(&message);
  const auto* answer = std::get_if<wire::PartitionAnswer>(&message);
  if (std::holds_alternative<wire::TieStarted>(message)) return;
  if (!failure && !answer) return drop_leaf_of(call, {Errc::protocol, "a search answered with something else"});
  const PartitionId partition = failure ? failure->partition : answer->partition;
  const auto found = call.attempts.find(partition);
  if (found == call.attempts.end()) {
    return drop_leaf_of(call, {Errc::protocol, "an answer for partition " + std::to_string(partition.value) +
                                                   ", which this call did not ask for, or has an answer for"});
  }
  if (answer) {
    const Manifest& manifest = cluster_.manifest();
    const auto checked = check_answer(
        *answer, {query_.most_hits, manifest.partitions[partition.value].documents, manifest.documents});
    if (checked.has_error()) return drop_leaf_of(call, checked.error());
  }
  const AttemptId attempt = found->second;
  call.attempts.erase(found);
  const Carrier& carrier = carriers_[attempt.value];

  if (auto* trace = trace_of(carrier.trace_place)) {
    trace->fault = failure ? failure->fault : answer->fault;
    trace->queue_time = failure ? failure->queue_time : answer->queue_time;
    if (answer) trace->service_time = answer->service_time;
  }
  if (failure) {
    if (failure->reason == FailureReason::cancelled && !fanout_.attempt(attempt).outstanding) return;
    return search_failed(attempt, failure_of(failure->reason), to_string(failure->reason).data());
  }
  metrics_.attempt_seconds.Observe(to_seconds(now - carrier.sent));
  auto verdict = fanout_.on_answer(attempt, report_of(*answer), now);
  if (!verdict.merge) {
    metrics_.answers_late.Increment();
    end_trace(carrier.trace_place, "late");
    return;
  }
  std::vector<ScoredDocument> hits;
  hits.reserve(answer->documents.size());
  for (std::size_t i = 0; i < answer->documents.size(); ++i) {
    hits.push_back({DocumentNumber{answer->documents[i]}, answer->scores[i]});
  }
  merge_.add(partition, hits);
  matches_ += answer->matches;
  matches_exact_ = matches_exact_ && answer->matches_exact;
  end_trace(carrier.trace_place, "answered");
  perform(std::move(verdict.actions), Phase::search);
}

void FanoutRunner::on_search_lost(SearchCallObserver& call) {
  const auto attempts = std::exchange(call.attempts, {});
  for (const auto& [partition, attempt] : attempts) search_failed(attempt, AttemptFailure::unreachable, "unreachable");
}

void FanoutRunner::drop_leaf_of(SearchCallObserver& call, Error why) {
  if (call.id) call.leaf_client->abandon(*std::exchange(call.id, std::nullopt));
  call.leaf_client->drop(std::move(why));
  const auto attempts = std::exchange(call.attempts, {});
  for (const auto& [partition, attempt] : attempts) search_failed(attempt, AttemptFailure::failed, "failed");
}

void FanoutRunner::cancel(AttemptId attempt) {
  ++counts_.cancelled;
  metrics_.attempts_cancelled.Increment();
  const Carrier& carrier = carriers_[attempt.value];
  end_trace(carrier.trace_place, "cancelled");
  if (carrier.call && carrier.call->id) {
    carrier.call->leaf_client->cancel(*carrier.call->id, {fanout_.partitions()[fanout_.attempt(attempt).partition_index].partition});
  }
}

void FanoutRunner::send_fetch(const policy::SendFetch& action) {
  const Instant now = clock_now();
  std::optional<CallId> id;
  LeafClient* client = cluster_.client(action.leaf);
  const TracePlace trace_place = trace_attempt(AttemptKind::primary, std::nullopt, client);
  if (client) {
    auto& call = fetch_calls_.emplace_back(*this, client->shared_from_this(), action.attempt);
    call.trace_place = trace_place;
    wire::FetchCall message;
    message.time = time_limit(query_.deadline, now);
    message.generation = query_.plan.generation;
    for (const std::size_t place : action.places) {
      message.documents.push_back({fetching_[place].partition, fetching_[place].hit.document});
    }
    id = client->call(std::move(message), call);
    call.id = id;
  }
  if (id) return;
  end_trace(trace_place, "unreachable");
  perform(second_phase_.on_failure(action.attempt, now), Phase::fetch);
}

void FanoutRunner::cancel(FetchCallObserver& call) {
  if (!call.id) return;
  call.leaf_client->cancel(*call.id, {});
  end_trace(call.trace_place, "cancelled");
}

void FanoutRunner::on_fetched(FetchCallObserver& call, wire::Message&& message) {
  auto* answer = std::get_if<wire::FetchAnswer>(&message);
  if (const auto* failure = std::get_if<wire::CallFailure>(&message)) {
    return on_fetch_failed(call, to_string(failure->reason).data());
  }
  const auto& places = second_phase_.places_of(call.attempt);
  if (!answer || answer->documents.size() != places.size()) {
    call.leaf_client->drop({Errc::protocol, "a fetch answered with something else than the documents asked for"});
    return on_fetch_failed(call, "failed");
  }
  auto verdict = second_phase_.on_answer(call.attempt, clock_now());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool taken = std::find(verdict.take.begin(), verdict.take.end(), places[i]) != verdict.take.end();
    if (taken) fetched_[places[i]] = std::move(answer->documents[i]);
  }
  end_trace(call.trace_place, verdict.take.empty() ? "late" : "answered");
  perform(std::move(verdict.actions), Phase::fetch);
}

void FanoutRunner::on_fetch_failed(FetchCallObserver& call, const char* outcome) {
  end_trace(call.trace_place, outcome);
  perform(second_phase_.on_failure(call.attempt, clock_now()), Phase::fetch);
}

FanoutRunner::TracePlace FanoutRunner::trace_attempt(AttemptKind kind, std::optional<PartitionId> partition,
                                                     const LeafClient* leaf) {
  if (!query_.trace) return std::nullopt;
  AttemptTrace trace;
  trace.work = partition ? "search" : "fetch";
  trace.kind = kind;
  trace.partition = partition;
  trace.leaf = leaf ? leaf->leaf().name : "(gone)";
  trace.sent = clock_now() - query_.received;
  trace_.push_back(std::move(trace));
  return trace_.size() - 1;
}

AttemptTrace* FanoutRunner::trace_of(TracePlace place) {
  return place && *place < trace_.size() ? &trace_[*place] : nullptr;
}

void FanoutRunner::end_trace(TracePlace place, const char* outcome) {
  auto* trace = trace_of(place);
  if (!trace || trace->ended) return;
  trace->ended = clock_now() - query_.received;
  trace->outcome = outcome;
}

}  // namespace hedgerow::root
