#include "leaf/fault_injector.hpp"

#include <unistd.h>
#include <xapian.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/log.hpp"
#include "base/steady_clock.hpp"

namespace hedgerow::leaf {

namespace {

Instant unix_epoch_of(Instant now) {
  return unix_epoch(now, std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()));
}

// A log's line holds no file of measured delays.
nlohmann::json without_samples(nlohmann::json faults) {
  for (auto& fault : faults) {
    if (fault.contains("delay") && !fault["delay"].is_string()) fault["delay"] = "measured";
  }
  return faults;
}

}  // namespace

FaultInjector::FaultInjector(boost::asio::io_context& io, bool allowed, const std::string& leaf, const std::string& stemmer,
                             WorkerPool& pool, Metrics& metrics)
    : allowed_(allowed),
      plan_(leaf, [stem = Xapian::Stem(stemmer)](const std::string& word) { return stem(word); }),
      pool_(pool),
      metrics_(metrics),
      change_(io) {}

void FaultInjector::replace(std::vector<Fault> faults) {
  const Instant now = clock_now();
  // What goes on ends here: a fault of the new list that looks alike is another one.
  for (const auto& [place, run] : std::exchange(going_on_, {})) end(run, now);
  burners_.clear();
  plan_.replace(std::move(faults), now, unix_epoch_of(now));
  metrics_.faults_set.Set(static_cast<double>(plan_.size()));
  look(now);
  log_event(LogLevel::warning, "faults_set", {{"faults", without_samples(plan_.listing(now))}});
}

nlohmann::json FaultInjector::listing() const { return plan_.listing(clock_now()); }

void FaultInjector::look(Instant now) {
  const auto runs = plan_.of_leaf(now);
  std::erase_if(going_on_, [&](const auto& entry) {
    const auto& [place, run] = entry;
    // Another end is another run: the timer was so late that one ended and the next began.
    for (const auto& still : runs) {
      if (still.place == place && still.until == run.until) return false;
    }
    end(run, now);
    return true;
  });
  for (const auto& run : runs) {
    if (!going_on_.contains(run.place)) begin(run, now);
  }
  pool_.pause(std::any_of(going_on_.begin(), going_on_.end(), [](const auto& entry) { return entry.second.holds_workers; }));
  wake_at_next_change(now);
}

void FaultInjector::begin(const FaultPlan::OfLeaf& run, Instant now) {
  const auto cause = run.kind == FaultKind::pause ? StandstillCause::pause : StandstillCause::background;
  const bool burns = run.background && run.background->takes == BackgroundWork::Takes::processor;
  going_on_.emplace(run.place, GoingOn{now, run.until, cause, run.kind, !burns});
  standstills_.begin(cause);
  plan_.count_run(run.place);
  metrics_.of(run.kind).applied.Increment();
  if (!burns) return;
  auto& burner = burners_[run.place];
  if (!burner) burner = std::make_unique<ProcessorBurner>(run.background->threads);
  burner->burn_until(run.until);
}

void FaultInjector::end(const GoingOn& run, Instant now) {
  metrics_.of(run.kind).seconds.Increment(to_seconds(std::min(now, run.until) - run.since));
  standstills_.end(run.cause, now);
  // Several may go on at once, of one cause.
  for (const auto& [place, other] : going_on_) {
    if (&other != &run && other.cause == run.cause) standstills_.begin(run.cause);
  }
}

void FaultInjector::wake_at_next_change(Instant now) {
  const auto next = plan_.next_change(now);
  if (!next) {
    change_.cancel();
    return;
  }
  change_.expires_at(*next);
  change_.async_wait([this, alive = std::weak_ptr(alive_)](boost::system::error_code error) {
    if (!error && !alive.expired()) look(clock_now());
  });
}

FaultDecision FaultInjector::decide(const WorkInHand& work, Instant now) {
  if (plan_.empty()) return {};
  const auto decision = plan_.decide(work, now);
  for (const FaultKind kind : decision.kinds) metrics_.of(kind).applied.Increment();
  if (decision.ending == FaultEnding::crash) {
    log_event(LogLevel::error, "fault_crash", {{"pid", ::getpid()}});
    ::raise(SIGKILL);  // as sudden as a crash can be: nothing is flushed, nothing answered
  }
  return decision;
}

std::string FaultInjector::garbage() {
  // A break code that ends nothing: whatever follows, it is no frame.
  std::string bytes = "\xff";
  const auto length = 1 + garbage_bytes_.below(200);
  for (std::uint64_t i = 0; i < length; ++i) bytes += static_cast<char>(garbage_bytes_.below(256));
  return bytes;
}

}  // namespace hedgerow::leaf
