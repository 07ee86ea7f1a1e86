#include "leaf/processor_burner.hpp"

#include "base/thread_time.hpp"

namespace hedgerow::leaf {

namespace {

// Some microseconds of arithmetic that no compiler takes away.
void burn_a_moment() {
  volatile std::uint64_t state = 0x9e3779b97f4a7c15ULL;
  for (int i = 0; i < 2'000; ++i) state = state * 6364136223846793005ULL + 1442695040888963407ULL;
}

}  // namespace

Duration burn_processor(Duration time, const std::function<bool()>& wanted) {
  const Duration begin = thread_time();
  Duration burnt{};
  while (burnt < time && wanted()) {
    burn_a_moment();
    burnt = thread_time() - begin;
  }
  return burnt;
}

ProcessorBurner::ProcessorBurner(std::size_t threads) {
  threads_.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

ProcessorBurner::~ProcessorBurner() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    end_ = Instant::min();
  }
  told_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void ProcessorBurner::burn_until(Instant end) {
  {
    const std::lock_guard lock(mutex_);
    end_ = end;
  }
  told_.notify_all();
}

bool ProcessorBurner::burns() const { return !over_.load() && clock_now() < end_.load(); }

void ProcessorBurner::run() {
  while (true) {
    while (burns()) burn_a_moment();
    std::unique_lock lock(mutex_);
    told_.wait(lock, [this] { return over_.load() || burns(); });
    if (over_.load()) return;
  }
}

}  // namespace hedgerow::leaf
