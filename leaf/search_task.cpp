#include "leaf/search_task.hpp"

#include "base/log.hpp"

namespace hedgerow::leaf {

namespace {

using wire::FailureReason;

Instant clock_now() { return std::chrono::steady_clock::now(); }

// As an answer says it: the work that is being answered is not running any more.
wire::Load load_without_this(const WorkerPool& pool) {
  auto load = pool.load();
  if (load.running > 0) --load.running;
  return load;
}

void raise_threshold(std::atomic<double>& threshold, double score) {
  double seen = threshold.load(std::memory_order_relaxed);
  while (seen < score && !threshold.compare_exchange_weak(seen, score, std::memory_order_relaxed)) {
  }
}

}  // namespace

wire::PartitionFailure part_failure(const SearchTask& task, const SearchPart& part, FailureReason reason,
                                    const std::string& detail, Duration queue_time) {
  wire::PartitionFailure failure;
  failure.call = task.call;
  failure.partition = part.partition;
  failure.reason = reason;
  failure.detail = detail;
  failure.queue_time = queue_time;
  failure.load = task.pool.load();
  failure.fault = part.fault.names;
  return failure;
}

void SearchWork::fail(FailureReason reason, const std::string& detail, Duration queue_time) {
  task_->reply(part_failure(*task_, part_, reason, detail, queue_time), part_.fault.late);
}

void SearchWork::execute(WorkerContext& worker, Instant pushed_at, Instant now) {
  const Duration queue_time = now - pushed_at;
  const auto wanted = [this] { return !part_.stop.load(std::memory_order_relaxed); };

  if (part_.fault.hold > Duration::zero()) worker.hold(part_.fault.hold, wanted);
  if (!wanted() || clock_now() >= task_->deadline) {
    const bool late = clock_now() >= task_->deadline;
    (late ? task_->metrics.attempts_expired : task_->metrics.attempts_cancelled_queued).Increment();
    return fail(late ? FailureReason::expired : FailureReason::cancelled, "", queue_time);
  }

  const auto searcher = worker.searchers.of(part_.partition);
  if (searcher.has_error()) {
    task_->metrics.attempts_failed.Increment();
    log_event(LogLevel::error, "partition_unreadable",
              {{"partition", part_.partition.value}, {"error", to_string(searcher.error())}});
    return fail(FailureReason::failed, to_string(searcher.error()), queue_time);
  }

  task_->metrics.attempts_executed.Increment();
  const auto hits = (*searcher)->search(task_->query, task_->k,
                                        task_->score_threshold.load(std::memory_order_relaxed), &part_.stop);
  const Duration service_time = clock_now() - now;
  task_->metrics.queue_seconds.Observe(to_seconds(queue_time));
  task_->metrics.service_seconds.Observe(to_seconds(service_time));

  if (hits.has_error()) {
    if (hits.error().code == Errc::cancelled) {
      const bool late = clock_now() >= task_->deadline;
      task_->metrics.attempts_cancelled_running.Increment();
      return fail(late ? FailureReason::expired : FailureReason::cancelled, "", queue_time);
    }
    task_->metrics.attempts_failed.Increment();
    log_event(LogLevel::error, "search_failed",
              {{"partition", part_.partition.value}, {"error", to_string(hits.error())}});
    return fail(FailureReason::failed, to_string(hits.error()), queue_time);
  }

  (wanted() ? task_->metrics.attempts_answered : task_->metrics.attempts_wasted).Increment();

  wire::PartitionAnswer answer;
  answer.call = task_->call;
  answer.partition = part_.partition;
  answer.documents.reserve(hits->hits.size());
  answer.scores.reserve(hits->hits.size());
  for (const auto& hit : hits->hits) {
    answer.documents.push_back(hit.document.value);
    answer.scores.push_back(hit.score);
  }
  answer.matches = hits->matches;
  answer.matches_exact = hits->matches_exact;
  answer.queue_time = queue_time;
  answer.service_time = service_time;
  answer.load = load_without_this(task_->pool);
  answer.fault = part_.fault.names;
  const bool full = hits->hits.size() >= task_->k;
  task_->reply(std::move(answer), part_.fault.late);
  // Only behind the answer, and not when it is held back: whoever got what was cut by this score must have got the hits
  // that it was cut for, or a partial answer would lack hits of a partition that it calls searched.
  if (full && part_.fault.late == Duration::zero()) raise_threshold(task_->score_threshold, hits->hits[task_->k - 1].score);
}

void SearchWork::expire(Instant pushed_at, Instant now) {
  task_->metrics.attempts_expired.Increment();
  fail(FailureReason::expired, "its time ran out in the queue", now - pushed_at);
}

namespace {

void fail_fetch(FetchTask& task, FailureReason reason, const std::string& detail) {
  task.metrics.fetches_failed.Increment();
  if (reason == FailureReason::failed) log_event(LogLevel::error, "fetch_failed", {{"error", detail}});
  task.reply(wire::CallFailure{task.call, reason, detail}, task.fault.late);
}

}  // namespace

void FetchWork::execute(WorkerContext& worker, Instant pushed_at, Instant) {
  const auto wanted = [this] { return !task_->stop.load(std::memory_order_relaxed); };
  if (task_->fault.hold > Duration::zero()) worker.hold(task_->fault.hold, wanted);
  if (clock_now() >= task_->deadline) return fail_fetch(*task_, FailureReason::expired, "");
  if (!wanted()) return fail_fetch(*task_, FailureReason::cancelled, "");

  wire::FetchAnswer answer;
  answer.call = task_->call;
  for (const auto& address : task_->documents) {
    const auto searcher = worker.searchers.of(address.partition);
    if (searcher.has_error()) return fail_fetch(*task_, FailureReason::failed, to_string(searcher.error()));
    auto stored = (*searcher)->fetch({address.document});
    if (stored.has_error()) return fail_fetch(*task_, FailureReason::failed, to_string(stored.error()));
    auto& document = stored->front();
    answer.documents.push_back({std::move(document.id), std::move(document.title), std::move(document.url)});
  }
  task_->metrics.fetches_answered.Increment();
  task_->metrics.fetch_seconds.Observe(to_seconds(clock_now() - pushed_at));
  answer.load = load_without_this(task_->pool);
  task_->reply(std::move(answer), task_->fault.late);
}

void FetchWork::expire(Instant, Instant) { fail_fetch(*task_, FailureReason::expired, "its time ran out in the queue"); }

}  // namespace hedgerow::leaf
