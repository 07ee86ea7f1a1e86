// Injected misbehaviour as data: what a fault is, how it is written in JSON, and what it decides for one piece of work.
// Pure and seeded; acting on a decision is fault_injector's.
//
// JSON of one fault:
//   {"kind": "late", "delay": "200ms", "probability": 0.5, "seed": 7, "word": "editor", "work": ["search", "facets"]}
//   late   the answer is sent that much later; no worker is occupied
//   hold   a worker is occupied that much longer before it starts
//   pause  the leaf takes no work from its queue; it goes on accepting, until the fault is cleared
//   error  the work fails at once
//   crash  the process ends
// probability (1 by default) is per piece of work: a partition of a search or of facets, and otherwise a call. word
// restricts the fault to what is asked about a query with that word (then fetches and lookups are spared), work to some
// kinds of work; a pause is always of all.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "leaf/work_kind.hpp"

namespace hedgerow::leaf {

enum class FaultKind { late, hold, pause, error, crash };

std::string_view to_string(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::late;
  Duration delay{};  // of late and hold
  double probability = 1;
  std::uint64_t seed = 1;
  std::string word;  // empty: every query
  std::vector<WorkKind> work;  // empty: every kind
  std::uint64_t applied = 0;
};

// A list of faults, or {"faults": […]}. Errors: invalid_argument, naming the fault and the field.
result<std::vector<Fault>> parse_faults(const nlohmann::json& json);
nlohmann::json to_json(const Fault& fault);

// What happens to one piece of work.
struct FaultDecision {
  Duration late{};
  Duration hold{};
  bool error = false;
  bool crash = false;
  std::string names;  // "late 200ms, error"; empty where nothing happens
};

class FaultPlan {
 public:
  // Says whether a query (its terms, as planned) has the word.
  using HasWord = std::function<bool(const std::vector<std::string>& terms, const std::string& word)>;

  explicit FaultPlan(HasWord has_word) : has_word_(std::move(has_word)) {}

  void replace(std::vector<Fault> faults);
  bool empty() const { return faults_.empty(); }
  bool paused() const;
  const std::vector<Fault>& faults() const { return faults_; }
  // terms is null for work that knows no query. Delays of several faults add up.
  FaultDecision decide(WorkKind work, const std::vector<std::string>* terms);

 private:
  HasWord has_word_;
  std::vector<Fault> faults_;
  std::vector<Random> randoms_;  // one for each fault, from its seed
};

}  // namespace hedgerow::leaf
