#include "leaf/fault_plan.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace hedgerow::leaf {

namespace {

using nlohmann::json;

constexpr std::array kinds{FaultKind::late, FaultKind::hold, FaultKind::pause, FaultKind::error, FaultKind::crash};
constexpr std::size_t most_faults = 64;

Error wrong(std::size_t number, const std::string& what) {
  return {Errc::invalid_argument, "fault " + std::to_string(number) + ": " + what};
}

std::string names_of_work() {
  std::string names;
  for (const auto kind : work_kinds) names += (names.empty() ? "" : ", ") + std::string(to_string(kind));
  return names;
}

result<std::vector<WorkKind>> parse_work(const json& value, std::size_t number) {
  if (!value.is_array() || value.empty()) return wrong(number, "'work' is not a list of some of " + names_of_work());
  std::vector<WorkKind> work;
  for (const json& name : value) {
    const auto known = std::find_if(work_kinds.begin(), work_kinds.end(), [&](WorkKind kind) {
      return name.is_string() && name.get_ref<const std::string&>() == to_string(kind);
    });
    if (known == work_kinds.end()) {
      return wrong(number, "'work': " + name.dump(-1, ' ', false, json::error_handler_t::replace) + " is none of " +
                               names_of_work());
    }
    if (std::find(work.begin(), work.end(), *known) == work.end()) work.push_back(*known);
  }
  return work;
}

result<Fault> parse_fault(const json& value, std::size_t number) {
  if (!value.is_object()) return wrong(number, "is not an object");
  Fault fault;
  bool has_kind = false, has_delay = false;
  for (const auto& [name, field] : value.items()) {
    if (name == "kind") {
      for (const auto kind : kinds) {
        if (field.is_string() && field.get_ref<const std::string&>() == to_string(kind)) {
          fault.kind = kind;
          has_kind = true;
        }
      }
      if (!has_kind) return wrong(number, "'kind' is none of late, hold, pause, error, crash");
    } else if (name == "delay") {
      if (!field.is_string()) return wrong(number, "'delay' is not a duration such as \"200ms\"");
      const auto delay = parse_duration(field.get_ref<const std::string&>());
      if (delay.has_error()) return wrong(number, "'delay': " + delay.error().context);
      fault.delay = *delay;
      has_delay = true;
    } else if (name == "probability") {
      if (!field.is_number() || !(field.get<double>() >= 0 && field.get<double>() <= 1)) {
        return wrong(number, "'probability' is not a number from 0 to 1");
      }
      fault.probability = field.get<double>();
    } else if (name == "seed") {
      if (!field.is_number_unsigned()) return wrong(number, "'seed' is not a whole number");
      fault.seed = field.get<std::uint64_t>();
    } else if (name == "word") {
      if (!field.is_string() || field.get_ref<const std::string&>().empty()) return wrong(number, "'word' is not a word");
      fault.word = field.get<std::string>();
    } else if (name == "work") {
      auto work = parse_work(field, number);
      if (work.has_error()) return work.error();
      fault.work = std::move(*work);
    } else if (name != "applied") {  // what a listing says may be sent back
      return wrong(number, "unknown field '" + name + "'");
    }
  }
  if (!has_kind) return wrong(number, "'kind' is missing");
  const bool wants_delay = fault.kind == FaultKind::late || fault.kind == FaultKind::hold;
  if (wants_delay != has_delay) {
    return wrong(number, wants_delay ? "'delay' is missing" : "'delay' makes no sense for this kind");
  }
  if (fault.kind == FaultKind::pause && (!fault.word.empty() || !fault.work.empty() || fault.probability != 1)) {
    return wrong(number, "a pause takes none of 'word', 'work' and 'probability'");
  }
  return fault;
}

}  // namespace

std::string_view to_string(FaultKind kind) {
  switch (kind) {
    case FaultKind::late: return "late";
    case FaultKind::hold: return "hold";
    case FaultKind::pause: return "pause";
    case FaultKind::error: return "error";
    case FaultKind::crash: return "crash";
  }
  return "late";
}

result<std::vector<Fault>> parse_faults(const json& value) {
  const json* list = &value;
  if (value.is_object() && value.size() == 1 && value.contains("faults")) list = &value["faults"];
  if (!list->is_array()) {
    return Error{Errc::invalid_argument, "the body is neither a list of faults nor {\"faults\": […]}"};
  }
  if (list->size() > most_faults) return Error{Errc::too_large, "more than " + std::to_string(most_faults) + " faults"};
  std::vector<Fault> faults;
  for (const json& entry : *list) {
    auto fault = parse_fault(entry, faults.size() + 1);
    if (fault.has_error()) return fault.error();
    faults.push_back(std::move(*fault));
  }
  return faults;
}

json to_json(const Fault& fault) {
  json value{{"kind", to_string(fault.kind)}, {"applied", fault.applied}};
  if (fault.kind == FaultKind::late || fault.kind == FaultKind::hold) value["delay"] = format_duration(fault.delay);
  if (fault.kind != FaultKind::pause) {
    value["probability"] = fault.probability;
    value["seed"] = fault.seed;
  }
  if (!fault.word.empty()) value["word"] = fault.word;
  for (const auto kind : fault.work) value["work"].push_back(to_string(kind));
  return value;
}

void FaultPlan::replace(std::vector<Fault> faults) {
  faults_ = std::move(faults);
  randoms_.clear();
  for (const auto& fault : faults_) randoms_.emplace_back(fault.seed);
}

bool FaultPlan::paused() const {
  return std::any_of(faults_.begin(), faults_.end(), [](const Fault& f) { return f.kind == FaultKind::pause; });
}

FaultDecision FaultPlan::decide(WorkKind work, const std::vector<std::string>* terms) {
  FaultDecision decision;
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    Fault& fault = faults_[i];
    if (fault.kind == FaultKind::pause) continue;
    if (!fault.work.empty() && std::find(fault.work.begin(), fault.work.end(), work) == fault.work.end()) continue;
    if (!fault.word.empty() && (!terms || !has_word_(*terms, fault.word))) continue;
    if (!randoms_[i].chance(fault.probability)) continue;
    ++fault.applied;
    switch (fault.kind) {
      case FaultKind::late: decision.late += fault.delay; break;
      case FaultKind::hold: decision.hold += fault.delay; break;
      case FaultKind::error: decision.error = true; break;
      case FaultKind::crash: decision.crash = true; break;
      case FaultKind::pause: break;
    }
    if (!decision.names.empty()) decision.names += ", ";
    decision.names += to_string(fault.kind);
    if (fault.delay > Duration::zero()) decision.names += " " + format_duration(fault.delay);
  }
  return decision;
}

}  // namespace hedgerow::leaf
