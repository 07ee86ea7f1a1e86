// The threads that do a leaf's blocking work, each with Xapian handles of its own, in front of them one short queue.
//
// As many pieces of work for the hits run at once as there are workers. Side work may take all threads but one; a pool of
// one worker has a second thread for it, so that the hits never wait for side work to end.
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
#include <vector>

#include "base/clock.hpp"
#include "index/manifest.hpp"
#include "leaf/index_handles.hpp"
#include "leaf/work_kind.hpp"
#include "leaf/work_queue.hpp"
#include "wire/messages.hpp"

namespace hedgerow::leaf {

class WorkerPool;

// Lets a worker wait on purpose (the `hold` fault), until the time is over, the work is no longer wanted, or the pool
// stops.
class WorkerContext {
 public:
  WorkerContext(IndexHandles& handles, WorkerPool& pool) : index(handles), pool_(pool) {}
  IndexHandles& index;
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
  std::size_t queue_capacity = 1024;  // of work for the hits; of side work half as much
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
  std::optional<Place> submit(std::shared_ptr<Work> work, WorkKind kind, ServiceClass service_class, Instant deadline,
                              Instant now);
  // True: it had not begun, and will not.
  bool remove(const Place& place);
  // While paused, nothing is popped (what is running goes on).
  void pause(bool paused);

  // Of the work for the hits, by which roots choose among replicas.
  wire::Load load() const { return load(Lane::hits); }
  wire::Load load(Lane lane) const;
  // Wakes holds that are no longer wanted.
  void wake();

 private:
  friend class WorkerContext;
  void run();

  WorkerPoolSettings settings_;
  std::filesystem::path directory_;
  std::shared_ptr<const Manifest> manifest_;
  mutable std::mutex mutex_;
  std::condition_variable ready_;         // for threads without work: there may be some
  std::condition_variable hold_changed_;  // for holds: the work may not be wanted any more
  WorkQueue<std::shared_ptr<Work>> queue_;
  bool paused_ = false;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace hedgerow::leaf
