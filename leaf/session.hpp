// One root's link to this leaf: takes its calls apart, hands them to the workers, and sends the answers back.
//
// On the I/O thread, which alone owns it (shared_ptr): while its link runs, and while an injected delay holds an answer
// back. Workers hold it weakly. When the link ends, everything that it asked for is stopped.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "leaf/call_task.hpp"
#include "leaf/fault_injector.hpp"
#include "leaf/metrics.hpp"
#include "leaf/transit_clock.hpp"
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

  Instant deadline_of(const wire::TimeLimit& time, Instant now);
  // Why nothing of a call is tried, if so.
  std::optional<Refusal> refusal_of(CallTask& task, Instant now) const;
  void open(const std::shared_ptr<CallTask>& task);
  void start(const std::shared_ptr<CallTask>& task, CallPart& part, Instant now);
  Replier replier();
  void answer(wire::Message&& message, Duration late);
  void send(const wire::Message& message);
  void stop(OpenCall& call, const std::vector<PartitionId>& partitions, wire::FailureReason reason);
  void stop_everything();

  SessionSetting& setting_;
  std::shared_ptr<wire::Link> link_;
  TransitClock transit_;
  bool greeted_ = false;
  bool ended_ = false;
  std::unordered_map<CallId, OpenCall> calls_;
};

}  // namespace hedgerow::leaf
