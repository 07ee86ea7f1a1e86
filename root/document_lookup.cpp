#include "root/document_lookup.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/steady_clock.hpp"
#include "index/partition_of.hpp"
#include "root/answer_check.hpp"
#include "root/calls.hpp"

namespace hedgerow::root {

namespace asio = boost::asio;

namespace {

constexpr LeafId nobody{~std::uint32_t{0}};  // is never up: any replica may be asked first

}  // namespace

class DocumentLookup::Call final : public wire::CallObserver {
 public:
  Call(DocumentLookup& lookup, std::shared_ptr<LeafClient> leaf, AttemptId attempt_in)
      : leaf_client(std::move(leaf)), attempt(attempt_in), lookup_(lookup) {}

  void on_call_message(CallId, wire::Message&& message, bool) override {
    id.reset();
    lookup_.on_message(*this, std::move(message));
  }
  void on_call_lost(CallId) override {
    id.reset();
    lookup_.fail(*this);
  }

  std::shared_ptr<LeafClient> leaf_client;
  AttemptId attempt;
  std::optional<CallId> id;  // while it is open

 private:
  DocumentLookup& lookup_;
};

DocumentLookup::DocumentLookup(asio::any_io_executor executor, Cluster& cluster, std::string id, std::uint32_t most_terms,
                               Instant deadline)
    : executor_(std::move(executor)),
      cluster_(cluster),
      id_(std::move(id)),
      most_terms_(most_terms),
      deadline_(deadline),
      partition_(partition_of(id_, static_cast<std::uint32_t>(cluster.manifest().partitions.size()))),
      timer_(executor_) {}

DocumentLookup::~DocumentLookup() {
  for (auto& call : calls_) {
    if (call.id) call.leaf_client->abandon(*call.id);
  }
}

asio::awaitable<result<wire::LookupAnswer>> DocumentLookup::run(Instant now) {
  const auto replicas = cluster_.replicas();
  policy_.emplace(std::vector<policy::SecondPhase::Hit>{{nobody, (*replicas)[partition_.value]}}, deadline_,
                  (deadline_ - now) / 4, cluster_.policies().side_choice);
  perform(policy_->start(now));
  while (!finished_) {
    co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
    if (!finished_) perform(policy_->on_wake(clock_now()));
  }
  const std::string what = "document '" + id_ + "'";
  if (abandoned_) co_return Error{Errc::cancelled, what};
  if (answer_) {
    if (!answer_->found) co_return Error{Errc::not_found, what};
    co_return std::move(*answer_);
  }
  const bool late = finish_reason_ == policy::FinishReason::deadline || expiries_ > 0 || clock_now() >= deadline_;
  if (late) co_return Error{Errc::expired, what};
  co_return Error{failures_ > 0 && failures_ == refusals_ ? Errc::refused : Errc::unavailable, what};
}

void DocumentLookup::abandon() {
  abandoned_ = true;
  finished_ = true;
  for (auto& call : calls_) {
    if (call.id) call.leaf_client->cancel(*call.id, {});
  }
  timer_.cancel();
}

void DocumentLookup::perform(policy::Actions actions) {
  for (auto& action : actions) {
    if (const auto* fetch = std::get_if<policy::SendFetch>(&action)) {
      send(*fetch);
    } else if (const auto* cancelled = std::get_if<policy::CancelAttempt>(&action)) {
      for (auto& call : calls_) {
        if (call.attempt == cancelled->attempt && call.id) call.leaf_client->cancel(*call.id, {});
      }
    } else if (const auto* wake = std::get_if<policy::WakeAt>(&action)) {
      timer_.expires_at(wake->at);
    } else if (const auto* finish = std::get_if<policy::Finish>(&action)) {
      finished_ = true;
      finish_reason_ = finish->reason;
      timer_.cancel();
    }
  }
}

void DocumentLookup::send(const policy::SendFetch& action) {
  const Instant now = clock_now();
  LeafClient* client = cluster_.client(action.leaf);
  if (!client) {
    ++failures_;
    return perform(policy_->on_failure(action.attempt, now));
  }
  auto& call = calls_.emplace_back(*this, client->shared_from_this(), action.attempt);
  wire::LookupCall message;
  message.time = time_limit(deadline_, now);
  message.generation = cluster_.manifest().generation;
  message.partition = partition_;
  message.id = id_;
  message.most_terms = most_terms_;
  call.id = client->call(std::move(message), call);
  if (!call.id) fail(call);
}

void DocumentLookup::on_message(Call& call, wire::Message&& message) {
  if (finished_) return;
  if (const auto* failure = std::get_if<wire::CallFailure>(&message)) {
    refusals_ += failure->reason == wire::FailureReason::refused ? 1 : 0;
    expiries_ += failure->reason == wire::FailureReason::expired ? 1 : 0;
    return fail(call);
  }
  auto* answer = std::get_if<wire::LookupAnswer>(&message);
  const auto checked = answer ? check_answer(*answer, {id_, most_terms_, cluster_.manifest().documents})
                              : result<void>(Error{Errc::protocol, "a lookup answered with something else"});
  if (checked.has_error()) {
    call.leaf_client->drop(checked.error());
    return fail(call);
  }
  auto verdict = policy_->on_answer(call.attempt, clock_now());
  if (!verdict.take.empty()) answer_ = std::move(*answer);
  perform(std::move(verdict.actions));
}

void DocumentLookup::fail(Call& call) {
  ++failures_;
  perform(policy_->on_failure(call.attempt, clock_now()));
}

}  // namespace hedgerow::root
