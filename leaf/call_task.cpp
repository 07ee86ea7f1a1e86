#include "leaf/call_task.hpp"

#include <algorithm>

#include "base/log.hpp"

namespace hedgerow::leaf {

namespace {

using wire::FailureReason;

Instant clock_now() { return std::chrono::steady_clock::now(); }

// As an answer says it: the work that is being answered is not running any more.
wire::Load load_without(WorkKind kind, const WorkerPool& pool) {
  auto load = pool.load();
  if (lane_of(kind) == Lane::hits && load.running > 0) --load.running;
  return load;
}

// Fills in what every kind of answer says alike.
void stamp(wire::Message& answer, const CallTask& task, const CallPart& part, Duration queue_time, Duration service_time) {
  std::visit(
      [&](auto& m) {
        if constexpr (requires { m.call; }) m.call = task.call;
        if constexpr (requires { m.partition; }) m.partition = part.partition;
        if constexpr (requires { m.queue_time; }) m.queue_time = queue_time;
        if constexpr (requires { m.service_time; }) m.service_time = service_time;
        if constexpr (requires { m.load; }) m.load = load_without(task.kind, *task.pool);
        if constexpr (requires { m.fault; }) m.fault = part.fault.names;
      },
      answer);
}

}  // namespace

bool Serving::has(PartitionId partition) const {
  return std::find(partitions.begin(), partitions.end(), partition) != partitions.end();
}

CallTask::CallTask(WorkKind work_kind, CallId id, const wire::TimeLimit& limit, Generation of)
    : kind(work_kind), call(id), time(limit), generation(of), answered_by_partition(false) {
  parts.push_back(std::make_unique<CallPart>());
}

CallTask::CallTask(WorkKind work_kind, CallId id, const wire::TimeLimit& limit, Generation of,
                   const std::vector<PartitionId>& partitions)
    : kind(work_kind), call(id), time(limit), generation(of), answered_by_partition(true) {
  parts.reserve(partitions.size());
  for (const auto partition : partitions) parts.push_back(std::make_unique<CallPart>(partition));
}

wire::Message CallTask::failure(const CallPart& part, FailureReason reason, const std::string& detail,
                                Duration queue_time) const {
  if (!answered_by_partition) return wire::CallFailure{call, reason, detail};
  wire::PartitionFailure failure;
  failure.call = call;
  failure.partition = part.partition;
  failure.reason = reason;
  failure.detail = detail;
  failure.queue_time = queue_time;
  failure.load = pool->load();
  failure.fault = part.fault.names;
  return failure;
}

void PartWork::fail(FailureReason reason, const std::string& detail, Duration queue_time) {
  task_->reply(task_->failure(part_, reason, detail, queue_time), part_.fault.late);
}

void PartWork::execute(WorkerContext& worker, Instant pushed_at, Instant now) {
  WorkMetrics& metrics = task_->metrics->of(task_->kind);
  const Duration queue_time = now - pushed_at;
  const auto wanted = [this] { return !part_.stop.load(std::memory_order_relaxed); };
  const auto late = [this] { return clock_now() >= task_->deadline; };

  if (part_.fault.hold > Duration::zero()) worker.hold(part_.fault.hold, wanted);
  if (const bool expired = late(); expired || !wanted()) {
    (expired ? metrics.expired : metrics.cancelled_queued).Increment();
    return fail(expired ? FailureReason::expired : FailureReason::cancelled, "", queue_time);
  }

  metrics.executed.Increment();
  auto done = task_->execute(worker, part_);
  const Duration service_time = clock_now() - now;
  metrics.queue_seconds.Observe(to_seconds(queue_time));
  metrics.service_seconds.Observe(to_seconds(service_time));

  if (done.has_error() && done.error().code == Errc::cancelled) {
    metrics.cancelled_running.Increment();
    return fail(late() ? FailureReason::expired : FailureReason::cancelled, "", queue_time);
  }
  if (done.has_error()) {
    metrics.failed.Increment();
    log_event(LogLevel::error, "work_failed",
              {{"work", to_string(task_->kind)}, {"partition", part_.partition.value}, {"error", to_string(done.error())}});
    return fail(FailureReason::failed, to_string(done.error()), queue_time);
  }

  (wanted() ? metrics.answered : metrics.wasted).Increment();
  stamp(done->answer, *task_, part_, queue_time, service_time);
  task_->reply(std::move(done->answer), part_.fault.late);
  if (done->and_then) done->and_then();
}

void PartWork::expire(Instant pushed_at, Instant now) {
  task_->metrics->of(task_->kind).expired.Increment();
  fail(FailureReason::expired, "its time ran out in the queue", now - pushed_at);
}

}  // namespace hedgerow::leaf
