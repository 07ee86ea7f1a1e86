#include "leaf/worker_pool.hpp"

#include "base/log.hpp"

namespace hedgerow::leaf {

result<PartitionSearcher*> Searchers::of(PartitionId partition) {
  if (const auto found = open_.find(partition); found != open_.end()) return &found->second;
  auto searcher = PartitionSearcher::open(directory_, *manifest_, partition);
  if (searcher.has_error()) return searcher.error();
  return &open_.emplace(partition, std::move(*searcher)).first->second;
}

void WorkerContext::hold(Duration time, const std::function<bool()>& wanted) {
  std::unique_lock lock(pool_.mutex_);
  pool_.changed_.wait_for(lock, time, [&] { return pool_.stopping_ || !wanted(); });
}

WorkerPool::WorkerPool(WorkerPoolSettings settings, std::filesystem::path directory,
                       std::shared_ptr<const Manifest> manifest)
    : settings_(settings), directory_(std::move(directory)), manifest_(std::move(manifest)),
      queue_(settings.queue_capacity) {}

WorkerPool::~WorkerPool() { stop(); }

void WorkerPool::start() {
  for (std::size_t i = 0; i < settings_.workers; ++i) threads_.emplace_back([this] { run(); });
}

void WorkerPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

std::optional<WorkerPool::Place> WorkerPool::submit(std::shared_ptr<Work> work, ServiceClass service_class,
                                                    Instant deadline, Instant now) {
  std::optional<Place> place;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return std::nullopt;
    place = queue_.push(std::move(work), static_cast<int>(service_class), deadline, now);
  }
  // All: a worker that waits in a hold shares the condition, and must not swallow the only notice.
  if (place) changed_.notify_all();
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
  changed_.notify_all();
}

wire::Load WorkerPool::load() const {
  const std::lock_guard lock(mutex_);
  return {static_cast<std::uint32_t>(queue_.size()), running_};
}

void WorkerPool::wake() {
  // Under the lock: a hold that has just looked must not miss it.
  { const std::lock_guard lock(mutex_); }
  changed_.notify_all();
}

void WorkerPool::run() {
  Searchers searchers(directory_, manifest_);
  WorkerContext context(searchers, *this);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || (!paused_ && !queue_.empty()); });
    if (stopping_) return;
    const auto now = std::chrono::steady_clock::now();
    auto popped = queue_.pop(now);
    ++running_;
    lock.unlock();
    if (popped->expired) {
      popped->work->expire(popped->pushed_at, now);
    } else {
      popped->work->execute(context, popped->pushed_at, now);
    }
    popped.reset();
    lock.lock();
    --running_;
  }
}

}  // namespace hedgerow::leaf
