#include "leaf/worker_pool.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "base/steady_clock.hpp"
#include "base/thread_time.hpp"
#include "leaf/thread_priority.hpp"

namespace hedgerow::leaf {

namespace {

using enum ServiceClass;

std::size_t threads_of(std::size_t workers) { return std::max<std::size_t>(workers, 2); }

ClassLimits limits_of(std::size_t workers, std::size_t capacity) {
  return {.hits = {.waiting = capacity, .running = workers},
          .side = {.waiting = std::max<std::size_t>(capacity / 2, 1), .running = threads_of(workers) - 1}};
}

QueueLimits limits_of(const WorkerPoolSettings& settings) {
  QueueLimits limits;
  limits.interactive = limits_of(settings.workers, settings.queue_capacity);
  limits.batch = limits_of(settings.batch_workers, settings.queue_capacity);
  limits.batch_has_workers = settings.batch_workers > 0;
  limits.batch_gives_way = settings.batch_gives_way;
  return limits;
}

std::uint32_t narrow(std::size_t count) { return static_cast<std::uint32_t>(count); }

}  // namespace

void WorkerContext::hold(Duration time, const std::function<bool()>& wanted) {
  std::unique_lock lock(pool_.mutex_);
  pool_.hold_changed_.wait_for(lock, time, [&] { return pool_.stopping_ || !wanted(); });
}

WorkerPool::WorkerPool(WorkerPoolSettings settings, std::filesystem::path directory,
                       std::shared_ptr<const Manifest> manifest)
    : settings_(settings),
      directory_(std::move(directory)),
      manifest_(std::move(manifest)),
      queue_(limits_of(settings)),
      handles_here_(directory_, manifest_) {}

WorkerPool::~WorkerPool() { stop(); }

void WorkerPool::start() {
  for (std::size_t i = 0; i < threads_of(settings_.workers); ++i) threads_.emplace_back([this] { run(interactive); });
  if (settings_.batch_workers == 0) return;
  for (std::size_t i = 0; i < threads_of(settings_.batch_workers); ++i) {
    threads_.emplace_back([this, first = i == 0] {
      const auto lowered = lower_priority_of_this_thread();
      if (first && lowered.has_error()) {
        log_event(LogLevel::warning, "batch_priority_not_lowered", {{"reason", to_string(lowered.error())}});
      }
      run(batch);
    });
  }
}

void WorkerPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  for (auto& ready : ready_) ready.notify_all();
  hold_changed_.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

std::optional<WorkerPool::Place> WorkerPool::submit(std::shared_ptr<Work> work, const Claim& claim, Instant now, Tell tell) {
  const ServiceClass crew = crew_of(claim.service_class);
  std::optional<Place> place;
  bool some_ready;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return std::nullopt;
    place = queue_.push(std::move(work), claim, now);
    some_ready = queue_.ready(crew);
  }
  if (some_ready && tell == Tell::now) ready_[static_cast<std::size_t>(crew)].notify_one();
  return place;
}

void WorkerPool::call_workers(ServiceClass service_class, std::size_t pieces) {
  const ServiceClass crew = crew_of(service_class);
  {
    const std::lock_guard lock(mutex_);
    if (!queue_.ready(crew)) return;
  }
  for (std::size_t i = 0; i < std::min(pieces, threads_.size()); ++i) ready_[static_cast<std::size_t>(crew)].notify_one();
}

bool WorkerPool::may_work_here(WorkKind kind, ServiceClass service_class, std::size_t parts, double postings, Instant now) const {
  if (!settings_.light_work_here || service_class != interactive) return false;
  const std::lock_guard lock(mutex_);
  // Of all that an interactive worker might take in place of the call.
  const bool others_wait = queue_.waiting(interactive) > 0 || (settings_.batch_workers == 0 && queue_.waiting(batch) > 0);
  const bool in_the_way = paused_ || stopping_ || others_wait ||
                          queue_.running(interactive, Lane::hits) >= settings_.workers;
  return !in_the_way && here_.may(parts, postings, times_of(kind, service_class).mean(), now);
}

void WorkerPool::work_here(std::size_t pieces) {
  const Duration before = thread_time();
  WorkerContext context(handles_here_, *this);
  std::unique_lock lock(mutex_);
  for (; pieces > 0 && !paused_ && !stopping_ && queue_.ready(interactive); --pieces) {
    execute_next(interactive, context, Tell::later, lock);
  }
  here_.add(thread_time() - before, clock_now());
  const bool left = queue_.ready(interactive);
  lock.unlock();
  if (left) ready_[static_cast<std::size_t>(interactive)].notify_one();
}

Duration WorkerPool::yields(WorkKind kind, ServiceClass service_class, std::size_t parts, Duration remaining) const {
  if (parts <= 1) return Duration::zero();
  const std::lock_guard lock(mutex_);
  return yield(parts, times_of(kind, service_class).mean(), remaining);
}

bool WorkerPool::remove(const Place& place) {
  const std::lock_guard lock(mutex_);
  return queue_.remove(place).has_value();
}

void WorkerPool::pause(bool paused) {
  {
    const std::lock_guard lock(mutex_);
    paused_ = paused;
  }
  for (auto& ready : ready_) ready.notify_all();
}

wire::Load WorkerPool::load() const {
  const std::lock_guard lock(mutex_);
  return {narrow(queue_.waiting(interactive, Lane::hits)), narrow(queue_.running(interactive, Lane::hits))};
}

wire::Load WorkerPool::load_without(WorkKind kind, ServiceClass service_class) const {
  auto known = load();
  const bool in_it = lane_of(kind) == Lane::hits && (service_class == interactive || settings_.batch_workers == 0);
  if (in_it && known.running > 0) --known.running;
  return known;
}

wire::Load WorkerPool::load(Lane lane) const {
  const std::lock_guard lock(mutex_);
  const std::size_t of_batch_crew = settings_.batch_workers > 0 ? queue_.running(batch, lane) : 0;
  return {narrow(queue_.waiting(interactive, lane) + queue_.waiting(batch, lane)),
          narrow(queue_.running(interactive, lane) + of_batch_crew)};
}

wire::Load WorkerPool::load(ServiceClass service_class) const {
  const std::lock_guard lock(mutex_);
  return {narrow(queue_.waiting(service_class)), narrow(queue_.running(service_class))};
}

void WorkerPool::wake() {
  // Under the lock: a hold that has just looked must not miss it.
  { const std::lock_guard lock(mutex_); }
  hold_changed_.notify_all();
}

bool WorkerPool::wait_for_work(ServiceClass crew, std::unique_lock<std::mutex>& lock) {
  auto& my_ready = ready_[static_cast<std::size_t>(crew)];
  while (!stopping_) {
    const Instant now = clock_now();
    const auto begins = paused_ ? std::nullopt : queue_.ready_at(crew, now);
    if (begins && *begins <= now) return true;
    if (begins) {
      my_ready.wait_until(lock, *begins);
    } else {
      my_ready.wait(lock);
    }
  }
  return false;
}

void WorkerPool::run(ServiceClass crew) {
  IndexHandles handles(directory_, manifest_);
  WorkerContext context(handles, *this);
  std::unique_lock lock(mutex_);
  while (wait_for_work(crew, lock)) execute_next(crew, context, Tell::now, lock);
}

void WorkerPool::execute_next(ServiceClass crew, WorkerContext& context, Tell others, std::unique_lock<std::mutex>& lock) {
  const Instant now = clock_now();
  auto popped = queue_.pop(crew, now);
  const WorkKind kind = popped->kind;
  const ServiceClass service_class = popped->service_class;
  ServiceTimes& times = times_of(kind, service_class);
  // Where nothing else waits, a worker costs nothing: then it is tried however little time is left.
  const bool too_little = !popped->expired && queue_.waiting(service_class, lane_of(kind)) > 0 &&
                          times.too_little(popped->deadline - now, now);
  // Whoever finishes takes the next piece itself, perhaps of the other lane: what it leaves is for another thread.
  if (others == Tell::now && queue_.ready(crew)) ready_[static_cast<std::size_t>(crew)].notify_one();
  lock.unlock();

  auto executed = Executed::not_at_all;
  if (popped->expired || too_little) {
    popped->work->expire(popped->pushed_at, now, too_little ? TimeLeft::too_little : TimeLeft::none);
  } else {
    executed = popped->work->execute(context, popped->pushed_at, now);
  }
  popped.reset();

  const Instant ended = clock_now();
  lock.lock();
  if (executed != Executed::not_at_all) times.add(ended - now, executed == Executed::stopped, ended);
  queue_.finish(kind, service_class);
  // Batch need give way no longer.
  if (crew == interactive && settings_.batch_workers > 0 && !queue_.interactive_busy() && queue_.ready(batch)) {
    ready_[static_cast<std::size_t>(batch)].notify_one();
  }
}

}  // namespace hedgerow::leaf
