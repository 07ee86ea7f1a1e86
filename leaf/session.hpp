// One root's link to this leaf: takes its calls apart, hands them to the workers, and sends the answers back. Or another
// leaf's, which says that tied work has begun there, and nothing else.
//
// On the I/O thread, which alone owns it (shared_ptr), while its link runs. Workers hold it weakly. When the link ends,
// everything that it asked for is stopped, and answers that an injected delay holds back are dropped.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "leaf/call_task.hpp"
#include "leaf/fault_injector.hpp"
#include "leaf/metrics.hpp"
#include "leaf/tie_book.hpp"
#include "leaf/transit_clock.hpp"
#include "leaf/twin_links.hpp"
#include "leaf/worker_pool.hpp"
#include "wire/link.hpp"
#include "wire/messages.hpp"

namespace hedgerow::leaf {

// What all sessions of a leaf share; owned by the server.
struct SessionSetting {
  boost::asio::io_context& io;
  std::string name;
  Serving serving;
  WorkerPool& pool;
  FaultInjector& faults;
  Metrics& metrics;
  TieBook& ties;
  TwinLinks& twins;
  bool draining = false;  // refuse what is new
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(SessionSetting& setting, std::shared_ptr<wire::Link> link) : setting_(setting), link_(std::move(link)) {}

  // Until the link ends.
  boost::asio::awaitable<void> run();

  std::size_t open_calls() const { return calls_.size(); }

 private:
  struct OpenCall {
    std::shared_ptr<CallTask> task;
    std::size_t answers_to_come;
    std::unique_ptr<boost::asio::steady_timer> deadline;
  };

  result<void> on_message(wire::Message&& message, Instant now);
  result<void> on_hello(const wire::Hello& hello);
  result<void> on_call(const std::shared_ptr<CallTask>& task, Instant now);
  void on_cancel(const wire::Cancel& cancel);
  void on_twin_started(std::uint64_t tie, Instant now);

  Instant deadline_of(const wire::TimeLimit& time, Instant now);
  // Why nothing of a call is tried, if so.
  std::optional<Refusal> refusal_of(CallTask& task, Instant now) const;
  void open(const std::shared_ptr<CallTask>& task);
  void watch_deadline(CallId call);
  void start(const std::shared_ptr<CallTask>& task, CallPart& part, Duration yields, Instant now);
  void swallow(CallTask& task, CallPart& part);
  // Tied work: see tie_book.
  TiedBegun tied_begun_teller();
  void on_tied_begun(const std::shared_ptr<CallTask>& task, const CallPart& part);
  TieBook::Dropped drop_copy(const std::shared_ptr<CallTask>& task, CallPart& part);
  void answer_superseded(CallTask& task, CallPart& part);
  void relay(const wire::TieStarted& started);
  Replier replier();
  void answer(wire::Message&& message, Duration late);
  void part_is_over(CallId call);
  void end(const OpenCall& call);
  void send(const wire::Message& message);
  void stop(OpenCall& call, const std::vector<PartitionId>& partitions, wire::FailureReason reason);
  void stop_everything();

  SessionSetting& setting_;
  std::shared_ptr<wire::Link> link_;
  TransitClock transit_;
  bool greeted_ = false;
  bool of_twin_ = false;  // of another leaf
  bool ended_ = false;
  std::unordered_map<CallId, OpenCall> calls_;
  std::list<boost::asio::steady_timer> held_back_;  // each sends a late answer
  // Searches that ended a moment ago: a cancel that has crossed their last answer tells that they were executed for nothing.
  struct EndedSearch {
    CallId call;
    AttemptKind kind;
    std::vector<PartitionId> executed;
  };
  std::deque<EndedSearch> ended_searches_;
};

}  // namespace hedgerow::leaf
