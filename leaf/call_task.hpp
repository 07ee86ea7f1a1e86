// What one call is on a leaf while it lasts: shared between the I/O thread, which starts and stops it, and the workers,
// which execute its parts.
//
// A kind of work is a class derived from CallTask, in a file of its own: it says which calls it refuses, and does one
// part. All that the kinds have in common happens here: faults, deadlines, cancelling, counting, answering.
//
// A part is answered exactly once, through the replier: by the worker that took it, or by whoever removed it from the
// queue. Stopping is a flag that the engine reads at every document it looks at.
#pragma once

#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "index/manifest.hpp"
#include "leaf/fault_plan.hpp"
#include "leaf/metrics.hpp"
#include "leaf/standstills.hpp"
#include "leaf/work_kind.hpp"
#include "leaf/worker_pool.hpp"
#include "wire/messages.hpp"

namespace hedgerow::leaf {

// What a leaf serves.
struct Serving {
  std::shared_ptr<const Manifest> manifest;
  std::vector<PartitionId> partitions;
  bool spelling = false;

  bool has(PartitionId partition) const;
};

// Why a call is not even tried.
struct Refusal {
  wire::FailureReason reason;
  std::string detail;
};

// Takes an answer to the call's link, that much later; callable from any thread.
using Replier = std::function<void(wire::Message&&, Duration late)>;

// The part is half of a tied pair: see tie_book.
struct TiedPart {
  std::uint64_t tie;
  std::string twin_address;
};

struct CallPart {
  PartitionId partition;  // where each partition is answered for itself
  FaultDecision fault;
  std::optional<TiedPart> tied;
  bool swallowed = false;  // by an injected black hole: it is never answered; I/O thread only
  std::atomic<bool> stop = false;
  std::atomic<bool> executed = false;      // to the end
  std::atomic<bool> in_vain = false;       // and nobody wanted it: counted, once
  std::optional<WorkerPool::Place> place;  // I/O thread only

  explicit CallPart(PartitionId of = {}) : partition(of) {}
};

// What a part had been through when it failed.
struct Past {
  Duration queue_time{};
  bool started = false;  // it was on a worker
};

class CallTask;
// Told, on a worker, that a tied part begins.
using TiedBegun = std::function<void(const std::shared_ptr<CallTask>&, const CallPart&)>;

class CallTask {
 public:
  // A call with one answer; and one with an answer for each of its partitions.
  CallTask(WorkKind work_kind, CallId id, const wire::TimeLimit& limit, Generation of);
  CallTask(WorkKind work_kind, CallId id, const wire::TimeLimit& limit, Generation of,
           const std::vector<PartitionId>& partitions);
  virtual ~CallTask() = default;
  CallTask(const CallTask&) = delete;
  CallTask& operator=(const CallTask&) = delete;

  // On the I/O thread, before anything of it is queued: checks the call and makes it ready to run.
  virtual std::optional<Refusal> prepare(const Serving& leaf) = 0;
  // At most so many postings are read for all of its parts, once it is prepared; work that cannot tell is never light.
  virtual double postings() const { return std::numeric_limits<double>::infinity(); }
  // What faults choose one of its parts by.
  WorkInHand in_hand(const CallPart& part) const;

  struct Done {
    wire::Message answer;           // without what stamp fills in
    std::function<void()> and_then; // once the answer has gone to the replier; may be empty
  };
  // On a worker: one part. Errors fail the part; cancelled is for a part whose stop flag was seen.
  virtual result<Done> execute(WorkerContext& worker, const CallPart& part) = 0;

  // The failure of a part, as it is sent.
  wire::Message failure(const CallPart& part, wire::FailureReason reason, const std::string& detail,
                        const Past& past = {}) const;

  const WorkKind kind;
  const CallId call;
  const wire::TimeLimit time;
  const Generation generation;
  const bool answered_by_partition;
  ServiceClass service_class = ServiceClass::interactive;
  std::optional<AttemptKind> attempt_kind;  // of searches: these are attempts
  std::vector<std::unique_ptr<CallPart>> parts;

  // Set by the session before the first part is queued.
  Instant arrived;
  Instant deadline;
  Replier reply;
  TiedBegun on_tied_begun;  // empty where nothing is tied
  Metrics* metrics = nullptr;
  const WorkerPool* pool = nullptr;
  const Standstills* standstills = nullptr;

  // What was injected into a part until now, as its answer tells it.
  std::string faults_of(const CallPart& part) const;

 private:
  // The query that it is about; null where it knows none.
  virtual const wire::PlannedQuery* plan() const { return nullptr; }
  virtual const std::vector<std::string>* words() const { return plan() ? &plan()->terms : nullptr; }
  // Of a call with one answer: the partitions that it reads.
  virtual std::span<const PartitionId> reads() const { return {}; }
};

// A part, as the workers see it.
class PartWork final : public Work {
 public:
  PartWork(std::shared_ptr<CallTask> task, CallPart& part) : task_(std::move(task)), part_(part) {}
  Executed execute(WorkerContext& worker, Instant pushed_at, Instant now) override;
  void expire(Instant pushed_at, Instant now, TimeLeft time_left) override;

 private:
  // Stopped by its deadline or by its caller, at this point of its way.
  void end_stopped(Cancelled when, const Past& past);
  void fail(wire::FailureReason reason, const std::string& detail, const Past& past);

  std::shared_ptr<CallTask> task_;
  CallPart& part_;  // the task's
};

}  // namespace hedgerow::leaf
