// The threads that do a leaf's blocking work, each with Xapian handles of its own, in front of them one short queue.
//
// As many pieces of work for the hits run at once as there are workers. Side work may take all threads but one; a pool of
// one worker has a second thread for it, so that the hits never wait for side work to end.
//
// Batch work has threads of its own, as many again, which give way to all others on the processor (see thread_priority):
// interactive work finds its workers free, and preempts batch work rather than wait for it.
//
// Work that has too little time left to be worth beginning (see service_times) is answered as expired while other work
// waits.
//
// Light calls need no worker at all: the I/O thread does them itself, where it is mostly idle (see work_here). What it does
// counts as any worker's work: in the queue's bounds, in the load, in the service times.
//
// Thread-safe: the I/O thread submits, removes and pauses, and works on light calls; workers pop. Work is answered exactly once: by execute, by
// expire, or by whoever removed it.
#pragma once

#include <array>
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
#include "leaf/service_times.hpp"
#include "leaf/work_here.hpp"
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

// How far work was executed.
enum class Executed {
  whole,
  stopped,  // when its deadline came, or nobody wanted it any more
  not_at_all,
};

// Why work on a worker is not begun.
enum class TimeLeft { none, too_little };

class Work {
 public:
  virtual ~Work() = default;
  // On a worker, in time: do it and answer.
  virtual Executed execute(WorkerContext& worker, Instant pushed_at, Instant now) = 0;
  // On a worker, too late: answer only.
  virtual void expire(Instant pushed_at, Instant now, TimeLeft time_left) = 0;
};

struct WorkerPoolSettings {
  std::size_t workers = 2;
  // Of work for the hits, of each service class; of side work half as much.
  std::size_t queue_capacity = 1024;
  // Threads for batch work alone; 0: the workers do it, after the interactive work (see work_queue).
  std::size_t batch_workers = 2;
  // How long they leave between two pieces while interactive work waits or runs.
  Duration batch_gives_way{};
  // Whether the I/O thread does light calls itself.
  bool light_work_here = true;
};

class WorkerPool {
 public:
  using Place = WorkQueue<std::shared_ptr<Work>>::Place;

  WorkerPool(WorkerPoolSettings settings, std::filesystem::path directory, std::shared_ptr<const Manifest> manifest);
  ~WorkerPool();  // stops

  void start();
  // Drops nothing that is running; what is queued is dropped without an answer. Returns when all threads have ended.
  void stop();

  using Claim = WorkQueue<std::shared_ptr<Work>>::Claim;

  // Whether workers are told at once that there is work; later: by call_workers, or by the work that they have.
  enum class Tell { now, later };
  // nullopt: the queue is full.
  std::optional<Place> submit(std::shared_ptr<Work> work, const Claim& claim, Instant now, Tell tell = Tell::now);
  void call_workers(ServiceClass service_class, std::size_t pieces);

  // Whether a call of so many parts, about to be submitted, is to be done by the calling thread: see work_here. No other
  // work may be waiting, and a worker's place must be free, as what is done here takes it.
  bool may_work_here(WorkKind kind, ServiceClass service_class, std::size_t parts, double postings, Instant now) const;
  // Always the same thread: up to so many pieces, as a worker would do them; then workers are called for what is left.
  void work_here(std::size_t pieces);
  // How far the parts of a call yield to others, by what such work took of late.
  Duration yields(WorkKind kind, ServiceClass service_class, std::size_t parts, Duration remaining) const;
  // True: it had not begun, and will not.
  bool remove(const Place& place);
  // While paused, nothing is popped (what is running goes on).
  void pause(bool paused);

  // What an interactive search would meet: by that roots choose among replicas. Batch work is in it only where it has
  // the same workers. without: a piece of work of this kind and class, which is about to end.
  wire::Load load() const;
  wire::Load load_without(WorkKind kind, ServiceClass service_class) const;
  // Of both classes together.
  wire::Load load(Lane lane) const;
  // Of both lanes together: of the class alone.
  wire::Load load(ServiceClass service_class) const;
  // Wakes holds that are no longer wanted.
  void wake();

 private:
  friend class WorkerContext;
  ServiceClass crew_of(ServiceClass service_class) const {
    return settings_.batch_workers > 0 ? service_class : ServiceClass::interactive;
  }
  void run(ServiceClass crew);
  // The next piece for this crew; there is one. Others are called for what it leaves, or not.
  void execute_next(ServiceClass crew, WorkerContext& context, Tell others, std::unique_lock<std::mutex>& lock);
  // Waits until there is work for this crew: true, or the pool stops: false.
  bool wait_for_work(ServiceClass crew, std::unique_lock<std::mutex>& lock);
  ServiceTimes& times_of(WorkKind kind, ServiceClass service_class) {
    return service_times_[static_cast<std::size_t>(service_class)][static_cast<std::size_t>(kind)];
  }
  const ServiceTimes& times_of(WorkKind kind, ServiceClass service_class) const {
    return service_times_[static_cast<std::size_t>(service_class)][static_cast<std::size_t>(kind)];
  }

  WorkerPoolSettings settings_;
  std::filesystem::path directory_;
  std::shared_ptr<const Manifest> manifest_;
  mutable std::mutex mutex_;
  std::condition_variable ready_[2];      // for threads without work, by crew: there may be some
  std::condition_variable hold_changed_;  // for holds: the work may not be wanted any more
  WorkQueue<std::shared_ptr<Work>> queue_;
  std::array<std::array<ServiceTimes, work_kinds.size()>, 2> service_times_;  // by class and kind
  WorkHere here_;
  IndexHandles handles_here_;  // of the thread that calls work_here
  bool paused_ = false;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace hedgerow::leaf
