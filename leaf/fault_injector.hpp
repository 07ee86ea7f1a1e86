// The one place where faults act: decides for each piece of work, holds up the leaf as a whole, ends the process.
//
// On the I/O thread only; the server owns it. Does nothing at all unless the leaf was started with --allow-faults. A timer
// wakes it whenever a pause or background work begins or ends.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "leaf/fault_plan.hpp"
#include "leaf/metrics.hpp"
#include "leaf/processor_burner.hpp"
#include "leaf/standstills.hpp"
#include "leaf/worker_pool.hpp"

namespace hedgerow::leaf {

class FaultInjector {
 public:
  // leaf: its name, by which it draws and is staggered. stemmer: the index's, to recognise a fault's word in a query's
  // stems.
  FaultInjector(boost::asio::io_context& io, bool allowed, const std::string& leaf, const std::string& stemmer,
                WorkerPool& pool, Metrics& metrics);

  bool allowed() const { return allowed_; }
  void replace(std::vector<Fault> faults);
  nlohmann::json listing() const;

  // For one piece of work. A crash happens in here, and is logged first.
  FaultDecision decide(const WorkInHand& work, Instant now);
  // What has held up the whole leaf; readable from any thread.
  const Standstills& standstills() const { return standstills_; }

  // Bytes that are no message, for the fault `garbage`.
  std::string garbage();

 private:
  // Something of the whole leaf that goes on.
  struct GoingOn {
    Instant since, until;
    StandstillCause cause;
    FaultKind kind;
    bool holds_workers;
  };
  void look(Instant now);
  void begin(const FaultPlan::OfLeaf& run, Instant now);
  void end(const GoingOn& run, Instant now);
  void wake_at_next_change(Instant now);

  bool allowed_;
  FaultPlan plan_;
  WorkerPool& pool_;
  Metrics& metrics_;
  Standstills standstills_;
  boost::asio::steady_timer change_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // the timer's handler may outlive the injector
  Random garbage_bytes_{1};
  std::map<std::size_t, GoingOn> going_on_;                          // by the fault's place
  std::map<std::size_t, std::unique_ptr<ProcessorBurner>> burners_;  // by the fault's place
};

}  // namespace hedgerow::leaf
