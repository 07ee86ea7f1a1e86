// Which calls on one link are still to be answered, by whom they were made, and how many bytes they weigh. Pure: no
// socket, no clock.
//
// The weight bounds what a silent peer can cost: a link whose unanswered bytes pass the bound is closed by its owner.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/ids.hpp"
#include "wire/messages.hpp"

namespace hedgerow::wire {

// Who made a call. Lives until the call is over or forgotten.
class CallObserver {
 public:
  // A message that belongs to the call; over is true with its last one.
  virtual void on_call_message(CallId call, Message&& message, bool over) = 0;
  // The link is gone, with everything that was still to come.
  virtual void on_call_lost(CallId call) = 0;

 protected:
  ~CallObserver() = default;
};

class PendingCalls {
 public:
  // answers: how many messages end the call (one a partition, or one). Returns a fresh id.
  CallId open(CallObserver& observer, std::size_t answers);
  void add_weight(CallId call, std::size_t bytes);
  // Nobody waits any more, but the answers still count as outstanding until they have come. An heir is told of them.
  void abandon(CallId call, CallObserver* heir = nullptr);
  // Hands a message to its call. False: no such call (late answers of abandoned calls are known, and true).
  bool deliver(Message&& message);
  // Tells every observer, in the order of the calls, that its call is lost.
  void lose_all();

  std::size_t size() const { return calls_.size(); }
  std::size_t unanswered_bytes() const { return unanswered_bytes_; }
  // Messages that came for calls that were abandoned before.
  std::uint64_t late_messages() const { return late_messages_; }

 private:
  struct Call {
    CallObserver* observer;  // null: nobody listens
    std::size_t answers_to_come;
    std::size_t bytes;
    bool abandoned = false;
  };
  std::unordered_map<CallId, Call> calls_;
  std::uint64_t last_id_ = 0;
  std::size_t unanswered_bytes_ = 0;
  std::uint64_t late_messages_ = 0;
};

}  // namespace hedgerow::wire
