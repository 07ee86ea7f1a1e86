#include "leaf/call_task.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "base/steady_clock.hpp"
#include "leaf/processor_burner.hpp"

namespace hedgerow::leaf {

namespace {

using wire::FailureReason;

// Fills in what every kind of answer says alike.
void stamp(wire::Message& answer, const CallTask& task, const CallPart& part, Duration queue_time, Duration service_time) {
  std::visit(
      [&](auto& m) {
        if constexpr (requires { m.call; }) m.call = task.call;
        if constexpr (requires { m.partition; }) m.partition = part.partition;
        if constexpr (requires { m.queue_time; }) m.queue_time = queue_time;
        if constexpr (requires { m.service_time; }) m.service_time = service_time;
        if constexpr (requires { m.load; }) m.load = task.pool->load_without(task.kind, task.service_class);
        if constexpr (requires { m.fault; }) m.fault = task.faults_of(part);
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
                                const Past& past) const {
  if (!answered_by_partition) return wire::CallFailure{call, reason, detail, faults_of(part)};
  wire::PartitionFailure failure;
  failure.call = call;
  failure.partition = part.partition;
  failure.reason = reason;
  failure.detail = detail;
  failure.queue_time = past.queue_time;
  failure.started = past.started;
  failure.load = past.started ? pool->load_without(kind, service_class) : pool->load();
  failure.fault = faults_of(part);
  return failure;
}

WorkInHand CallTask::in_hand(const CallPart& part) const {
  const auto* of = plan();
  return {kind, answered_by_partition ? std::span(&part.partition, 1) : reads(), words(), of ? std::string_view(of->query) : ""};
}

std::string CallTask::faults_of(const CallPart& part) const {
  std::string names = part.fault.names;
  const std::string of_leaf = standstills ? standstills->since(arrived) : "";
  if (!names.empty() && !of_leaf.empty()) names += ", ";
  return names + of_leaf;
}

void PartWork::fail(FailureReason reason, const std::string& detail, const Past& past) {
  task_->reply(task_->failure(part_, reason, detail, past), part_.fault.late);
}

void PartWork::end_stopped(Cancelled when, const Past& past) {
  const bool expired = clock_now() >= task_->deadline;
  if (expired) {
    task_->metrics->of(task_->kind).expired.Increment();
  } else {
    task_->metrics->count_cancelled(task_->kind, task_->attempt_kind, when);
  }
  fail(expired ? FailureReason::expired : FailureReason::cancelled, "", past);
}

Executed PartWork::execute(WorkerContext& worker, Instant pushed_at, Instant now) {
  WorkMetrics& metrics = task_->metrics->of(task_->kind);
  const Duration queue_time = now - pushed_at;
  const auto wanted = [this] { return !part_.stop.load(std::memory_order_relaxed); };

  if (!wanted()) {  // the stop and its turn came at the same time
    end_stopped(Cancelled::queued, {queue_time, false});
    return Executed::not_at_all;
  }
  if (part_.tied && task_->on_tied_begun) task_->on_tied_begun(task_, part_);
  const Past past{queue_time, true};
  // Counted is what it came to: both end early with the deadline, or when nobody wants the work any more.
  const auto count_seconds = [&](FaultKind fault, Duration time) { task_->metrics->of(fault).seconds.Increment(to_seconds(time)); };
  if (part_.fault.hold > Duration::zero()) {
    const Instant begin = clock_now();
    worker.hold(part_.fault.hold, wanted);
    count_seconds(FaultKind::hold, clock_now() - begin);
  }
  if (part_.fault.burn > Duration::zero()) {
    count_seconds(FaultKind::burn,
                  burn_processor(part_.fault.burn, [&] { return wanted() && clock_now() < task_->deadline; }));
  }
  if (!wanted() || clock_now() >= task_->deadline) {
    end_stopped(Cancelled::running, past);
    return Executed::stopped;
  }

  metrics.executed.Increment();
  auto done = task_->execute(worker, part_);
  const Duration service_time = clock_now() - now;
  metrics.queue_seconds.Observe(to_seconds(queue_time));
  metrics.service_seconds.Observe(to_seconds(service_time));

  if (done.has_error() && done.error().code == Errc::cancelled) {
    end_stopped(Cancelled::running, past);
    return Executed::stopped;
  }
  if (done.has_error()) {
    metrics.failed.Increment();
    log_event(LogLevel::error, "work_failed",
              {{"work", to_string(task_->kind)}, {"partition", part_.partition.value}, {"error", to_string(done.error())}});
    fail(FailureReason::failed, to_string(done.error()), past);
    return Executed::not_at_all;  // as to what such work takes
  }

  part_.executed.store(true, std::memory_order_relaxed);
  if (wanted()) {
    metrics.answered.Increment();
  } else if (!part_.in_vain.exchange(true)) {
    task_->metrics->count_cancelled(task_->kind, task_->attempt_kind, Cancelled::executed);
  }
  stamp(done->answer, *task_, part_, queue_time, service_time);
  task_->reply(std::move(done->answer), part_.fault.late);
  if (done->and_then) done->and_then();
  return Executed::whole;
}

void PartWork::expire(Instant pushed_at, Instant now, TimeLeft time_left) {
  WorkMetrics& metrics = task_->metrics->of(task_->kind);
  const bool none = time_left == TimeLeft::none;
  (none ? metrics.expired : metrics.too_little_time).Increment();
  fail(FailureReason::expired, none ? "its time ran out in the queue" : "too little time was left for it",
       {now - pushed_at, false});
}

}  // namespace hedgerow::leaf
