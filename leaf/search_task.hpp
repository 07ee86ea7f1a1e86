// What one search or fetch call is on a leaf while it lasts: shared between the I/O thread, which starts and stops it,
// and the workers, which execute its parts.
//
// A part is answered exactly once, through the replier: by the worker that took it, or by whoever removed it from the
// queue. Stopping is a flag that the engine reads at every document it scores.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "index/searcher.hpp"
#include "leaf/fault_plan.hpp"
#include "leaf/metrics.hpp"
#include "leaf/worker_pool.hpp"
#include "wire/messages.hpp"

namespace hedgerow::leaf {

// Takes an answer to the call's link, that much later; callable from any thread.
using Replier = std::function<void(wire::Message&&, Duration late)>;

struct SearchPart {
  PartitionId partition;
  FaultDecision fault;
  std::atomic<bool> stop = false;
  std::optional<WorkerPool::Place> place;  // I/O thread only
};

struct SearchTask {
  CallId call;
  PreparedQuery query;
  std::uint32_t k = 0;
  Instant deadline;
  // The best score that k hits of one partition have reached so far, once its answer is on its way: what scores less
  // elsewhere on this leaf is not among the best k either.
  std::atomic<double> score_threshold{0};
  std::vector<std::unique_ptr<SearchPart>> parts;
  Replier reply;
  Metrics& metrics;
  const WorkerPool& pool;

  SearchTask(PreparedQuery prepared, Metrics& m, const WorkerPool& p) : query(std::move(prepared)), metrics(m), pool(p) {}
};

// A part, as the workers see it.
class SearchWork final : public Work {
 public:
  SearchWork(std::shared_ptr<SearchTask> task, SearchPart& part) : task_(std::move(task)), part_(part) {}
  void execute(WorkerContext& worker, Instant pushed_at, Instant now) override;
  void expire(Instant pushed_at, Instant now) override;

 private:
  void fail(wire::FailureReason reason, const std::string& detail, Duration queue_time);

  std::shared_ptr<SearchTask> task_;
  SearchPart& part_;  // the task's
};

// A fetch is one piece of work.
struct FetchTask {
  CallId call;
  std::vector<wire::DocumentAddress> documents;
  Instant deadline;
  FaultDecision fault;
  std::atomic<bool> stop = false;
  std::optional<WorkerPool::Place> place;  // I/O thread only
  Replier reply;
  Metrics& metrics;
  const WorkerPool& pool;

  FetchTask(Metrics& m, const WorkerPool& p) : metrics(m), pool(p) {}
};

class FetchWork final : public Work {
 public:
  explicit FetchWork(std::shared_ptr<FetchTask> task) : task_(std::move(task)) {}
  void execute(WorkerContext& worker, Instant pushed_at, Instant now) override;
  void expire(Instant pushed_at, Instant now) override;

 private:
  std::shared_ptr<FetchTask> task_;
};

// A failure of one part, as it is sent.
wire::PartitionFailure part_failure(const SearchTask& task, const SearchPart& part, wire::FailureReason reason,
                                    const std::string& detail, Duration queue_time);

}  // namespace hedgerow::leaf
