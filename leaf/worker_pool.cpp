#include "leaf/worker_pool.hpp"

#include <algorithm>

namespace hedgerow::leaf {

namespace {

std::size_t threads_of(const WorkerPoolSettings& settings) { return std::max<std::size_t>(settings.workers, 2); }

}  // namespace

void WorkerContext::hold(Duration time, const std::function<bool()>& wanted) {
  std::unique_lock lock(pool_.mutex_);
  pool_.hold_changed_.wait_for(lock, time, [&] { return pool_.stopping_ || !wanted(); });
}

WorkerPool::WorkerPool(WorkerPoolSettings settings, std::filesystem::path directory,
                       std::shared_ptr<const Manifest> manifest)
    : settings_(settings), directory_(std::move(directory)), manifest_(std::move(manifest)),
      queue_({.waiting = settings.queue_capacity, .running = settings.workers},
             {.waiting = std::max<std::size_t>(settings.queue_capacity / 2, 1), .running = threads_of(settings) - 1}) {}

WorkerPool::~WorkerPool() { stop(); }

void WorkerPool::start() {
  for (std::size_t i = 0; i < threads_of(settings_); ++i) threads_.emplace_back([this] { run(); });
}

void WorkerPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ready_.notify_all();
  hold_changed_.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

std::optional<WorkerPool::Place> WorkerPool::submit(std::shared_ptr<Work> work, WorkKind kind,
                                                    ServiceClass service_class, Instant deadline, Instant now) {
  std::optional<Place> place;
  bool ready;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return std::nullopt;
    place = queue_.push(std::move(work), lane_of(kind), rank_of(kind, service_class), deadline, now);
    ready = queue_.ready();
  }
  if (ready) ready_.notify_one();
  return place;
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
  ready_.notify_all();
}

wire::Load WorkerPool::load(Lane lane) const {
  const std::lock_guard lock(mutex_);
  return {static_cast<std::uint32_t>(queue_.waiting(lane)), static_cast<std::uint32_t>(queue_.running(lane))};
}

void WorkerPool::wake() {
  // Under the lock: a hold that has just looked must not miss it.
  { const std::lock_guard lock(mutex_); }
  hold_changed_.notify_all();
}

void WorkerPool::run() {
  IndexHandles handles(directory_, manifest_);
  WorkerContext context(handles, *this);
  std::unique_lock lock(mutex_);
  while (true) {
    ready_.wait(lock, [this] { return stopping_ || (!paused_ && queue_.ready()); });
    if (stopping_) return;
    const auto now = std::chrono::steady_clock::now();
    auto popped = queue_.pop(now);
    // Whoever finishes takes the next piece itself, perhaps of the other lane: what it leaves is for another thread.
    if (queue_.ready()) ready_.notify_one();
    lock.unlock();
    if (popped->expired) {
      popped->work->expire(popped->pushed_at, now);
    } else {
      popped->work->execute(context, popped->pushed_at, now);
    }
    const Lane lane = popped->lane;
    popped.reset();
    lock.lock();
    queue_.finish(lane);
  }
}

}  // namespace hedgerow::leaf
