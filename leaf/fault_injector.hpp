// The one place where faults act: decides for each piece of work, pauses the workers, ends the process.
//
// On the I/O thread only. Does nothing at all unless the leaf was started with --allow-faults.
#pragma once

#include <string>
#include <vector>

#include "leaf/fault_plan.hpp"
#include "leaf/metrics.hpp"
#include "leaf/worker_pool.hpp"

namespace hedgerow::leaf {

class FaultInjector {
 public:
  // stemmer: the index's, to recognise a fault's word in a query's stems.
  FaultInjector(bool allowed, const std::string& stemmer, WorkerPool& pool, Metrics& metrics);

  bool allowed() const { return allowed_; }
  void replace(std::vector<Fault> faults);
  const std::vector<Fault>& faults() const { return plan_.faults(); }

  // For one piece of work; terms are its query's, null where it knows none. A crash happens in here, and is logged first.
  FaultDecision decide(WorkKind work, const std::vector<std::string>* terms);

 private:
  bool allowed_;
  FaultPlan plan_;
  WorkerPool& pool_;
  Metrics& metrics_;
};

}  // namespace hedgerow::leaf
