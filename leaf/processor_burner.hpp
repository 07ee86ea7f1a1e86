// Takes a processor's time for nothing: what the faults `burn` and `background` do.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/clock.hpp"

namespace hedgerow::leaf {

// Burns so much time of the processor, as the system accounts it to this thread: on a busy machine it takes longer than
// that. Ends early when it is no longer wanted. Returns how much it has burnt.
Duration burn_processor(Duration time, const std::function<bool()>& wanted);

// Threads of their own that burn the processor for as long as they are told. They end by themselves: whoever tells them
// may be starved by them.
class ProcessorBurner {
 public:
  explicit ProcessorBurner(std::size_t threads);
  ~ProcessorBurner();  // ends at once
  ProcessorBurner(const ProcessorBurner&) = delete;
  ProcessorBurner& operator=(const ProcessorBurner&) = delete;

  // Never blocks for longer than a thread takes to see it.
  void burn_until(Instant end);
  void stop() { burn_until(Instant::min()); }

 private:
  void run();
  bool burns() const;

  std::mutex mutex_;  // what follows changes under it, and is read without
  std::condition_variable told_;
  std::atomic<Instant> end_ = Instant::min();
  std::atomic<bool> over_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace hedgerow::leaf
