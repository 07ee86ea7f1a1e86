#include "leaf/fault_injector.hpp"

#include <unistd.h>
#include <xapian.h>

#include <algorithm>
#include <csignal>

#include "base/log.hpp"

namespace hedgerow::leaf {

namespace {

// Terms are either words as written (in phrases) or stems with a Z before them.
FaultPlan::HasWord word_finder(const std::string& stemmer) {
  return [stem = Xapian::Stem(stemmer)](const std::vector<std::string>& terms, const std::string& word) {
    const std::string lower = Xapian::Unicode::tolower(word);
    const std::string stemmed = "Z" + stem(lower);
    return std::any_of(terms.begin(), terms.end(),
                       [&](const std::string& term) { return term == lower || term == stemmed; });
  };
}

}  // namespace

FaultInjector::FaultInjector(bool allowed, const std::string& stemmer, WorkerPool& pool, Metrics& metrics)
    : allowed_(allowed), plan_(word_finder(stemmer)), pool_(pool), metrics_(metrics) {}

void FaultInjector::replace(std::vector<Fault> faults) {
  plan_.replace(std::move(faults));
  pool_.pause(plan_.paused());
  nlohmann::json list = nlohmann::json::array();
  for (const auto& fault : plan_.faults()) list.push_back(to_json(fault));
  log_event(LogLevel::warning, "faults_set", {{"faults", list}});
}

FaultDecision FaultInjector::decide(WorkKind work, const std::vector<std::string>* terms) {
  if (plan_.empty()) return {};
  const auto decision = plan_.decide(work, terms);
  if (decision.late > Duration::zero()) metrics_.faults_late.Increment();
  if (decision.hold > Duration::zero()) metrics_.faults_hold.Increment();
  if (decision.error) metrics_.faults_error.Increment();
  if (decision.crash) {
    log_event(LogLevel::error, "fault_crash", {{"pid", ::getpid()}});
    ::raise(SIGKILL);  // as sudden as a crash can be: nothing is flushed, nothing answered
  }
  return decision;
}

}  // namespace hedgerow::leaf
