// The threads that do a leaf's blocking work, each with Xapian handles of its own, in front of them one short queue.
//
// Thread-safe: the I/O thread submits, removes and pauses; workers pop. Work is answered exactly once: by execute, by
// expire, or by whoever removed it.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "index/manifest.hpp"
#include "index/searcher.hpp"
#include "leaf/work_queue.hpp"
#include "wire/messages.hpp"

namespace hedgerow::leaf {

// One worker's searchers, opened when first needed, belonging to its thread.
class Searchers {
 public:
  Searchers(std::filesystem::path directory, std::shared_ptr<const Manifest> manifest)
      : directory_(std::move(directory)), manifest_(std::move(manifest)) {}
  result<PartitionSearcher*> of(PartitionId partition);

 private:
  std::filesystem::path directory_;
  std::shared_ptr<const Manifest> manifest_;
  std::unordered_map<PartitionId, PartitionSearcher> open_;
};

class WorkerPool;

// Lets a worker wait on purpose (the `hold` fault), until the time is over, the work is no longer wanted, or the pool
// stops.
class WorkerContext {
 public:
  WorkerContext(Searchers& searchers_in, WorkerPool& pool) : searchers(searchers_in), pool_(pool) {}
  Searchers& searchers;
  void hold(Duration time, const std::function<bool()>& wanted);

 private:
  WorkerPool& pool_;
};

class Work {
 public:
  virtual ~Work() = default;
  // On a worker, in time: do it and answer.
  virtual void execute(WorkerContext& worker, Instant pushed_at, Instant now) = 0;
  // On a worker, too late: answer only.
  virtual void expire(Instant pushed_at, Instant now) = 0;
};

struct WorkerPoolSettings {
  std::size_t workers = 2;
  std::size_t queue_capacity = 1024;
};

class WorkerPool {
 public:
  using Place = WorkQueue<std::shared_ptr<Work>>::Place;

  WorkerPool(WorkerPoolSettings settings, std::filesystem::path directory, std::shared_ptr<const Manifest> manifest);
  ~WorkerPool();  // stops

  void start();
  // Drops nothing that is running; what is queued is dropped without an answer. Returns when all threads have ended.
  void stop();

  // nullopt: the queue is full.
  std::optional<Place> submit(std::shared_ptr<Work> work, ServiceClass service_class, Instant deadline, Instant now);
  // True: it had not begun, and will not.
  bool remove(const Place& place);
  // While paused, nothing is popped (what is running goes on).
  void pause(bool paused);

  wire::Load load() const;
  // Wakes holds that are no longer wanted.
  void wake();

 private:
  friend class WorkerContext;
  void run();

  WorkerPoolSettings settings_;
  std::filesystem::path directory_;
  std::shared_ptr<const Manifest> manifest_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  WorkQueue<std::shared_ptr<Work>> queue_;
  std::uint32_t running_ = 0;
  bool paused_ = false;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace hedgerow::leaf
