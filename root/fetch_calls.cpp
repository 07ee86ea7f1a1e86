#include "root/fetch_calls.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "base/steady_clock.hpp"
#include "root/calls.hpp"

namespace hedgerow::root {

class FetchCalls::Call final : public wire::CallObserver {
 public:
  Call(FetchCalls& calls, std::shared_ptr<LeafClient> leaf, AttemptId attempt_in, std::size_t documents_in)
      : leaf_client(std::move(leaf)), attempt(attempt_in), documents(documents_in), calls_(calls) {}

  void on_call_message(CallId, wire::Message&& message, bool) override {
    id.reset();
    calls_.on_message(*this, std::move(message));
  }
  void on_call_lost(CallId) override {
    id.reset();
    calls_.failed(*this, "unreachable");
  }

  std::shared_ptr<LeafClient> leaf_client;
  AttemptId attempt;
  std::size_t documents;
  std::optional<CallId> id;  // while it is open
  TraceBook::Place trace;

 private:
  FetchCalls& calls_;
};

FetchCalls::FetchCalls(Cluster& cluster, TraceBook& traces, const Query& query, Listener& listener)
    : cluster_(cluster), traces_(traces), query_(query), listener_(listener) {}

FetchCalls::~FetchCalls() {
  for (auto& call : calls_) {
    if (call.id) call.leaf_client->abandon(*call.id);
  }
}

void FetchCalls::send(AttemptId attempt, LeafId leaf, std::vector<wire::DocumentAddress> documents) {
  const Instant now = clock_now();
  LeafClient* client = cluster_.client(leaf);
  const auto trace = traces_.begin("fetch", AttemptKind::primary, std::nullopt, client ? client->leaf().name : "(gone)", now);
  std::optional<CallId> id;
  if (client) {
    auto& call = calls_.emplace_back(*this, client->shared_from_this(), attempt, documents.size());
    call.trace = trace;
    wire::FetchCall message;
    message.time = time_limit(query_.deadline, now);
    message.generation = query_.generation;
    message.service_class = query_.service_class;
    message.documents = std::move(documents);
    id = client->call(std::move(message), call);
    call.id = id;
  }
  if (id) return;
  traces_.end(trace, "unreachable", now);
  listener_.on_fetch_failed(attempt);
}

void FetchCalls::on_message(Call& call, wire::Message&& message) {
  const auto* failure = std::get_if<wire::CallFailure>(&message);
  auto* answer = std::get_if<wire::FetchAnswer>(&message);
  if (auto* trace = traces_.at(call.trace); trace && (failure || answer)) trace->fault = failure ? failure->fault : answer->fault;
  if (failure) return failed(call, to_string(failure->reason));
  if (!answer || answer->documents.size() != call.documents) {
    call.leaf_client->drop({Errc::protocol, "a fetch answered with something else than the documents asked for"});
    return failed(call, "failed");
  }
  const Instant now = clock_now();
  const bool waited_for = listener_.on_fetched(call.attempt, std::move(answer->documents));
  traces_.end(call.trace, waited_for ? "answered" : "late", now);
}

void FetchCalls::failed(Call& call, std::string_view outcome) {
  traces_.end(call.trace, outcome, clock_now());
  listener_.on_fetch_failed(call.attempt);
}

void FetchCalls::cancel(AttemptId attempt) {
  for (auto& call : calls_) {
    if (call.attempt == attempt) cancel(call);
  }
}

void FetchCalls::cancel_all() {
  for (auto& call : calls_) cancel(call);
}

void FetchCalls::cancel(Call& call) {
  if (!call.id) return;
  call.leaf_client->cancel(*call.id, {});
  traces_.end(call.trace, "cancelled", clock_now());
}

}  // namespace hedgerow::root
