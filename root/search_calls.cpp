#include "root/search_calls.hpp"

#include <map>
#include <memory>
#include <utility>

#include "root/answer_check.hpp"
#include "root/calls.hpp"

namespace hedgerow::root {

using policy::AttemptFailure;
using wire::FailureReason;

namespace {

Instant clock_now() { return std::chrono::steady_clock::now(); }

}  // namespace

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
    if (call.id) call.leaf_client->abandon(*call.id);
  }
}

void SearchCalls::send(LeafId leaf, std::span<const policy::SendAttempt> attempts) {
  const Instant now = clock_now();
  LeafClient* client = cluster_.client(leaf);
  for (const auto& attempt : attempts) {
    if (carried_.size() <= attempt.attempt.value) carried_.resize(attempt.attempt.value + 1);
    Carried& carried = carried_[attempt.attempt.value];
    carried.partition = attempt.partition;
    carried.sent = now;
    carried.trace = traces_.begin("search", attempt.kind, attempt.partition, client ? client->leaf().name : "(gone)", now);
  }

  std::optional<CallId> id;
  if (client) {
    auto& call = calls_.emplace_back(*this, client->shared_from_this());
    wire::SearchCall message;
    message.time = time_limit(query_.end, now);
    message.generation = query_.plan.generation;
    message.plan = planned_query(query_.plan);
    message.k = query_.most_hits;
    message.service_class = query_.service_class;
    message.kind = attempts.front().kind;
    for (const auto& attempt : attempts) {
      message.partitions.push_back(attempt.partition);
      call.attempts[attempt.partition] = attempt.attempt;
      carried_[attempt.attempt.value].call = &call;
    }
    id = client->call(std::move(message), call, attempts.size());
    call.id = id;
    if (!id) call.attempts.clear();
  }
  if (!id) {
    for (const auto& attempt : attempts) failed(attempt.attempt, AttemptFailure::unreachable, "unreachable");
  }
}

void SearchCalls::failed(AttemptId attempt, AttemptFailure failure, std::string_view outcome) {
  traces_.end(carried_[attempt.value].trace, outcome, clock_now());
  listener_.on_failed(attempt, failure);
}

void SearchCalls::on_message(Call& call, wire::Message&& message) {
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
  const Carried& carried = carried_[attempt.value];

  if (auto* trace = traces_.at(carried.trace)) {
    trace->fault = failure ? failure->fault : answer->fault;
    trace->queue_time = failure ? failure->queue_time : answer->queue_time;
    if (answer) trace->service_time = answer->service_time;
  }
  if (failure) {
    if (failure->reason == FailureReason::cancelled && carried.cancelled) return;
    return failed(attempt, failure_of(failure->reason), to_string(failure->reason));
  }
  metrics_.attempt_seconds.Observe(to_seconds(now - carried.sent));
  const TraceBook::Place trace = carried.trace;  // what listens may send more attempts
  const bool waited_for = listener_.on_answered(attempt, *answer);
  if (!waited_for) metrics_.answers_late.Increment();
  traces_.end(trace, waited_for ? "answered" : "late", now);
}

void SearchCalls::on_lost(Call& call) {
  const auto attempts = std::exchange(call.attempts, {});
  for (const auto& [partition, attempt] : attempts) failed(attempt, AttemptFailure::unreachable, "unreachable");
}

void SearchCalls::drop_leaf_of(Call& call, Error why) {
  if (call.id) call.leaf_client->abandon(*std::exchange(call.id, std::nullopt));
  call.leaf_client->drop(std::move(why));
  const auto attempts = std::exchange(call.attempts, {});
  for (const auto& [partition, attempt] : attempts) failed(attempt, AttemptFailure::failed, "failed");
}

void SearchCalls::cancel(AttemptId attempt) {
  metrics_.attempts_cancelled.Increment();
  Carried& carried = carried_[attempt.value];
  carried.cancelled = true;
  traces_.end(carried.trace, "cancelled", clock_now());
  if (carried.call && carried.call->id) carried.call->leaf_client->cancel(*carried.call->id, {carried.partition});
}

}  // namespace hedgerow::root
