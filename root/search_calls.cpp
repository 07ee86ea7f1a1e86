#include "root/search_calls.hpp"

#include <map>
#include <memory>
#include <utility>

#include "base/steady_clock.hpp"
#include "root/answer_check.hpp"
#include "root/calls.hpp"

namespace hedgerow::root {

using policy::AttemptFailure;
using wire::FailureReason;

// One frame: the attempts that travel in it.
class SearchCalls::Call final : public wire::CallObserver {
 public:
  Call(SearchCalls& calls, std::shared_ptr<LeafClient> leaf) : leaf_client(std::move(leaf)), calls_(calls) {}

  void on_call_message(CallId, wire::Message&& message, bool over) override {
    if (over) id.reset();
    calls_.on_message(*this, std::move(message));
  }
  void on_call_lost(CallId) override {
    id.reset();
    calls_.on_lost(*this);
  }

  std::shared_ptr<LeafClient> leaf_client;
  std::optional<CallId> id;                   // while it is open
  std::map<PartitionId, AttemptId> attempts;  // still without an answer

 private:
  SearchCalls& calls_;
};

SearchCalls::SearchCalls(Cluster& cluster, Metrics& metrics, TraceBook& traces, const Query& query, Listener& listener)
    : cluster_(cluster), metrics_(metrics), traces_(traces), query_(query), listener_(listener) {}

SearchCalls::~SearchCalls() {
  for (auto& call : calls_) {
    if (!call.id) continue;
    Aftermath::Open open;
    AttemptKind kind = AttemptKind::primary;
    for (const auto& [partition, attempt] : call.attempts) {
      kind = carried(attempt).kind;
      open[partition] = carried(attempt).pair;
    }
    cluster_.aftermath().take_over(*call.leaf_client, *call.id, kind, std::move(open));
  }
}

SearchCalls::Carried& SearchCalls::carried(AttemptId attempt) {
  if (carried_.size() <= attempt.value) carried_.resize(attempt.value + 1);
  return carried_[attempt.value];
}

std::shared_ptr<TiedPair> SearchCalls::pair_of(const policy::SendAttempt& attempt) {
  if (!attempt.twin || !cluster_.client(attempt.twin->leaf)) return nullptr;
  auto& twins = carried(attempt.twin->attempt).pair;
  if (twins) return twins;
  metrics_.tied_pairs.Increment();
  return std::make_shared<TiedPair>(TiedPair{cluster_.next_tie_name(), 0});
}

void SearchCalls::send(LeafId leaf, std::span<const policy::SendAttempt> attempts, double score_threshold) {
  const Instant now = clock_now();
  LeafClient* client = cluster_.client(leaf);
  metrics_.attempts_sent[static_cast<std::size_t>(attempts.front().kind)]->Increment(static_cast<double>(attempts.size()));
  for (const auto& attempt : attempts) {
    auto pair = pair_of(attempt);
    Carried& sent = carried(attempt.attempt);
    sent.partition = attempt.partition;
    sent.kind = attempt.kind;
    sent.pair = std::move(pair);
    sent.sent = now;
    sent.trace = traces_.begin("search", attempt.kind, attempt.partition, client ? client->leaf().name : "(gone)", now);
  }

  std::optional<CallId> id;
  if (client) {
    auto& call = calls_.emplace_back(*this, client->shared_from_this());
    wire::SearchCall message;
    message.time = time_limit(query_.end, now);
    message.generation = query_.plan.generation;
    message.plan = planned_query(query_.plan);
    message.k = query_.most_hits;
    message.titles = query_.titles;
    message.score_threshold = score_threshold;
    message.service_class = query_.service_class;
    message.kind = attempts.front().kind;
    for (const auto& attempt : attempts) {
      message.partitions.push_back(attempt.partition);
      call.attempts[attempt.partition] = attempt.attempt;
      Carried& sent = carried(attempt.attempt);
      sent.call = &call;
      if (sent.pair) message.ties.push_back({attempt.partition, sent.pair->name, cluster_.client(attempt.twin->leaf)->leaf().address});
    }
    id = client->call(std::move(message), call, attempts.size());
    call.id = id;
    if (!id) call.attempts.clear();
  }
  if (!id) {
    for (const auto& attempt : attempts) {
      failed(attempt.attempt, AttemptFailure::unreachable, AttemptEnding::unreachable, false, "unreachable");
    }
  }
}

void SearchCalls::failed(AttemptId attempt, AttemptFailure failure, AttemptEnding ending, bool executed, std::string_view outcome) {
  const Carried& ended = carried(attempt);
  count_ending(metrics_, ended.kind, ending, ended.pair.get(), executed);
  traces_.end(ended.trace, outcome, clock_now());
  listener_.on_failed(attempt, failure);
}

void SearchCalls::on_message(Call& call, wire::Message&& message) {
  const Instant now = clock_now();
  const auto* failure = std::get_if<wire::PartitionFailure>(&message);
  auto* answer = std::get_if<wire::PartitionAnswer>(&message);
  if (const auto* started = std::get_if<wire::TieStarted>(&message)) {
    const auto begun = call.attempts.find(started->partition);
    if (begun != call.attempts.end() && carried(begun->second).pair) listener_.on_started(begun->second);
    return;
  }
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
        *answer, {query_.most_hits, query_.titles, manifest.partitions[partition.value].documents, manifest.documents});
    if (checked.has_error()) return drop_leaf_of(call, checked.error());
  }
  const AttemptId attempt = found->second;
  call.attempts.erase(found);
  const Carried& ended = carried(attempt);

  if (auto* trace = traces_.at(ended.trace)) {
    trace->fault = failure ? failure->fault : answer->fault;
    trace->queue_time = failure ? failure->queue_time : answer->queue_time;
    if (answer) trace->service_time = answer->service_time;
    trace->executed = answer || failure->started;
  }
  if (failure) {
    const AttemptEnding ending = ending_of(*failure);
    if (failure->reason == FailureReason::cancelled && ended.cancelled) {
      return count_ending(metrics_, ended.kind, ending, ended.pair.get(), failure->started);
    }
    return failed(attempt, failure_of(failure->reason), ending, failure->started, to_string(failure->reason));
  }
  metrics_.attempt_seconds.Observe(to_seconds(now - ended.sent));
  const Carried heard = ended;  // what listens may send more attempts
  const bool waited_for = listener_.on_answered(attempt, std::move(*answer));
  if (!waited_for) metrics_.answers_late.Increment();
  count_ending(metrics_, heard.kind, waited_for ? AttemptEnding::answered : AttemptEnding::late, heard.pair.get(), true);
  traces_.end(heard.trace, !waited_for ? "late" : heard.kind == AttemptKind::hedge ? "won" : "answered", now);
}

void SearchCalls::on_lost(Call& call) {
  const auto attempts = std::exchange(call.attempts, {});
  for (const auto& [partition, attempt] : attempts) {
    failed(attempt, AttemptFailure::unreachable, AttemptEnding::unreachable, false, "unreachable");
  }
}

void SearchCalls::drop_leaf_of(Call& call, Error why) {
  if (call.id) call.leaf_client->abandon(*std::exchange(call.id, std::nullopt));
  call.leaf_client->drop(std::move(why));
  const auto attempts = std::exchange(call.attempts, {});
  for (const auto& [partition, attempt] : attempts) {
    failed(attempt, AttemptFailure::failed, AttemptEnding::failed, false, "failed");
  }
}

void SearchCalls::cancel(std::span<const Given> up) {
  const Instant now = clock_now();
  std::map<Call*, std::vector<PartitionId>> by_call;
  for (const auto& [attempt, outcome] : up) {
    Carried& given_up = carried(attempt);
    given_up.cancelled = true;
    traces_.end(given_up.trace, outcome, now);
    if (given_up.call && given_up.call->id) by_call[given_up.call].push_back(given_up.partition);
  }
  metrics_.attempts_cancelled.Increment(static_cast<double>(up.size()));
  for (auto& [call, partitions] : by_call) call->leaf_client->cancel(*call->id, std::move(partitions));
}

}  // namespace hedgerow::root
