#include "wire/pending_calls.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

using namespace hedgerow;
using namespace hedgerow::wire;

namespace {

// Writes down what it is told: "1:0" for a message of call 1, "1:1" for its last, "1:lost".
struct Recorder final : CallObserver {
  void on_call_message(CallId call, Message&&, bool over) override {
    events.push_back(std::to_string(call.value) + (over ? ":1" : ":0"));
    if (on_event) on_event(call);
  }
  void on_call_lost(CallId call) override {
    events.push_back(std::to_string(call.value) + ":lost");
    if (on_event) on_event(call);
  }
  std::vector<std::string> events;
  std::function<void(CallId)> on_event;
};

Message answer_of(CallId call) {
  PartitionAnswer answer;
  answer.call = call;
  return answer;
}

using Events = std::vector<std::string>;

}  // namespace

TEST_CASE("ids are fresh, and a call is over with its last answer, not before") {
  PendingCalls calls;
  Recorder recorder;
  const auto one = calls.open(recorder, 2);
  const auto other = calls.open(recorder, 1);
  CHECK(one != other);
  CHECK(calls.deliver(answer_of(one)));
  CHECK(calls.deliver(answer_of(other)));
  CHECK(calls.size() == 1);
  CHECK(calls.deliver(answer_of(one)));
  CHECK(calls.size() == 0);
  CHECK(recorder.events == Events{"1:0", "2:1", "1:1"});
  CHECK(calls.open(recorder, 1) != one);
}

TEST_CASE("a message for no call is refused: never opened, over already, or one that belongs to none") {
  PendingCalls calls;
  Recorder recorder;
  CHECK(!calls.deliver(answer_of(CallId{1})));
  const auto call = calls.open(recorder, 1);
  CHECK(calls.deliver(answer_of(call)));
  CHECK(!calls.deliver(answer_of(call)));
  CHECK(!calls.deliver(Hello{}));
  CHECK(recorder.events.size() == 1);
  CHECK(calls.late_messages() == 0);
}

TEST_CASE("that tied work has begun is told to its call, and is no answer: it ends nothing, and weighs nothing less") {
  PendingCalls calls;
  Recorder recorder;
  const auto call = calls.open(recorder, 1);
  calls.add_weight(call, 100);
  for (int i = 0; i < 3; ++i) CHECK(calls.deliver(TieStarted{7, call, PartitionId{0}}));
  CHECK(recorder.events == Events{"1:0", "1:0", "1:0"});
  CHECK(calls.size() == 1);
  CHECK(calls.unanswered_bytes() == 100);
  calls.abandon(call);
  CHECK(calls.deliver(TieStarted{7, call, PartitionId{0}}));  // for nobody, and no late answer
  CHECK(calls.late_messages() == 0);
  CHECK(calls.deliver(answer_of(call)));
  CHECK(calls.late_messages() == 1);
  CHECK(!calls.deliver(TieStarted{7, call, PartitionId{0}}));  // of a call that is over
  CHECK(recorder.events.size() == 3);
}

TEST_CASE("a call weighs until its last answer, and the weights add up") {
  PendingCalls calls;
  Recorder recorder;
  const auto one = calls.open(recorder, 2);
  const auto other = calls.open(recorder, 1);
  calls.add_weight(one, 100);
  calls.add_weight(one, 20);
  calls.add_weight(other, 3);
  calls.add_weight(CallId{77}, 1000);  // unknown: weighs nothing
  CHECK(calls.unanswered_bytes() == 123);
  calls.deliver(answer_of(one));
  CHECK(calls.unanswered_bytes() == 123);
  calls.deliver(answer_of(one));
  CHECK(calls.unanswered_bytes() == 3);
  calls.deliver(answer_of(other));
  CHECK(calls.unanswered_bytes() == 0);
}

TEST_CASE("an abandoned call's answers reach nobody, are counted as late, and weigh until they have come") {
  PendingCalls calls;
  Recorder recorder;
  const auto call = calls.open(recorder, 2);
  calls.add_weight(call, 50);
  calls.abandon(call);
  calls.abandon(call);
  calls.abandon(CallId{99});
  CHECK(calls.size() == 1);
  CHECK(calls.unanswered_bytes() == 50);
  CHECK(calls.deliver(answer_of(call)));
  CHECK(calls.unanswered_bytes() == 50);
  CHECK(calls.deliver(answer_of(call)));
  CHECK(calls.unanswered_bytes() == 0);
  CHECK(calls.late_messages() == 2);
  CHECK(!calls.deliver(answer_of(call)));
  CHECK(recorder.events.empty());
}

TEST_CASE("a lost link tells its calls in their order, not the abandoned ones, and nothing weighs any more") {
  PendingCalls calls;
  Recorder recorder;
  std::vector<CallId> ids;
  for (int i = 0; i < 100; ++i) {
    ids.push_back(calls.open(recorder, 1));
    calls.add_weight(ids.back(), 10);
  }
  calls.abandon(ids[49]);
  calls.lose_all();
  Events expected;
  for (int i = 1; i <= 100; ++i) {
    if (i != 50) expected.push_back(std::to_string(i) + ":lost");
  }
  CHECK(recorder.events == expected);
  CHECK(calls.size() == 0);
  CHECK(calls.unanswered_bytes() == 0);
}

TEST_CASE("an observer that is told may abandon and open calls") {
  PendingCalls calls;
  Recorder recorder;
  const auto first = calls.open(recorder, 1);
  const auto second = calls.open(recorder, 1);
  CallId opened;
  recorder.on_event = [&](CallId call) {
    if (call != first) return;
    calls.abandon(second);
    opened = calls.open(recorder, 1);
  };
  calls.lose_all();
  // The second was abandoned before its turn; what was opened meanwhile belongs to whatever comes next.
  CHECK(recorder.events == Events{"1:lost"});
  CHECK(calls.size() == 1);
  recorder.on_event = [&](CallId) { calls.open(recorder, 1); };
  CHECK(calls.deliver(answer_of(opened)));
  CHECK(calls.size() == 1);
}
