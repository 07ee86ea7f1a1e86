#include "wire/pending_calls.hpp"

#include <algorithm>
#include <optional>

namespace hedgerow::wire {

namespace {

std::optional<CallId> call_of(const Message& message) {
  return std::visit(
      [](const auto& m) -> std::optional<CallId> {
        if constexpr (requires { m.call; }) {
          return m.call;
        } else {
          return std::nullopt;
        }
      },
      message);
}

}  // namespace

CallId PendingCalls::open(CallObserver& observer, std::size_t answers) {
  const CallId id{++last_id_};
  calls_.emplace(id, Call{&observer, answers, 0, false});
  return id;
}

void PendingCalls::add_weight(CallId call, std::size_t bytes) {
  const auto found = calls_.find(call);
  if (found == calls_.end()) return;
  found->second.bytes += bytes;
  unanswered_bytes_ += bytes;
}

void PendingCalls::abandon(CallId call, CallObserver* heir) {
  const auto found = calls_.find(call);
  if (found == calls_.end()) return;
  found->second.observer = heir;
  found->second.abandoned = true;
}

bool PendingCalls::deliver(Message&& message) {
  const auto id = call_of(message);
  if (!id) return false;
  const auto found = calls_.find(*id);
  if (found == calls_.end()) return false;

  CallObserver* observer = found->second.observer;
  const bool is_answer = !std::holds_alternative<TieStarted>(message);
  if (is_answer && found->second.abandoned) ++late_messages_;
  const bool over = is_answer && --found->second.answers_to_come == 0;
  if (over) {
    unanswered_bytes_ -= found->second.bytes;
    calls_.erase(found);  // before the observer acts: it may make new calls
  }
  if (observer) observer->on_call_message(*id, std::move(message), over);
  return true;
}

void PendingCalls::lose_all() {
  std::vector<CallId> order;
  order.reserve(calls_.size());
  for (const auto& [id, call] : calls_) order.push_back(id);
  std::sort(order.begin(), order.end());
  for (const auto id : order) {
    // Looked up again each time: an observer that was told may have abandoned its other calls.
    const auto found = calls_.find(id);
    if (found == calls_.end()) continue;
    CallObserver* observer = found->second.observer;
    unanswered_bytes_ -= found->second.bytes;
    calls_.erase(found);
    if (observer) observer->on_call_lost(id);
  }
}

}  // namespace hedgerow::wire
