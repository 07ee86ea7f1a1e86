#include "leaf/fault_plan.hpp"

#include <algorithm>
#include <cstdio>

namespace hedgerow::leaf {

namespace {

using nlohmann::json;

// A drawn delay has no round number of nanoseconds; three digits behind the milliseconds say enough.
std::string delay_text(Duration delay) {
  if (delay % std::chrono::microseconds(1) == Duration::zero()) return format_duration(delay);
  char text[32];
  std::snprintf(text, sizeof text, "%.3fms", to_milliseconds(delay));
  return text;
}

FaultEnding ending_by(FaultKind kind) {
  switch (kind) {
    case FaultKind::error: return FaultEnding::error;
    case FaultKind::refused: return FaultEnding::refused;
    case FaultKind::garbage: return FaultEnding::garbage;
    case FaultKind::black_hole: return FaultEnding::black_hole;
    case FaultKind::crash: return FaultEnding::crash;
    default: return FaultEnding::none;
  }
}

Duration phase_of(const BackgroundWork& work, std::string_view leaf) {
  switch (work.phase) {
    case BackgroundWork::Phase::aligned: return Duration::zero();
    case BackgroundWork::Phase::staggered: return staggered_phase(work.period, leaf);
    case BackgroundWork::Phase::given: return work.given_phase;
  }
  return Duration::zero();
}

}  // namespace

void FaultPlan::replace(std::vector<Fault> faults, Instant now, Instant epoch) {
  faults_.clear();
  for (std::size_t place = 0; place < faults.size(); ++place) {
    Fault& fault = faults[place];
    const std::string number = std::to_string(place);
    const Instant begin = now + fault.after;
    const BackgroundSchedule schedule{epoch, fault.background.period, fault.background.length,
                                      phase_of(fault.background, leaf_)};
    const Instant end = fault.lasting ? begin + *fault.lasting : Instant::max();
    faults_.push_back({std::move(fault), Random(0), 0, schedule, begin, end});
    Planned& planned = faults_.back();
    planned.random = Random(planned.fault.seed ^ stable_hash(number + "/" + leaf_));
    planned.query_seed = planned.fault.seed ^ stable_hash(number);
  }
}

bool FaultPlan::meets(const Fault& fault, const WorkInHand& work) const {
  if (!fault.work.empty() && std::find(fault.work.begin(), fault.work.end(), work.kind) == fault.work.end()) return false;
  if (!fault.partitions.empty() &&
      std::find_first_of(work.partitions.begin(), work.partitions.end(), fault.partitions.begin(), fault.partitions.end()) ==
          work.partitions.end()) {
    return false;
  }
  if (fault.per == DrawnPer::query && work.query.empty()) return false;
  if ((!fault.word.empty() || fault.query) && !work.terms) return false;
  if (!fault.word.empty() && !has_word(*work.terms, fault.word, stem_)) return false;
  return !fault.query || fault.query->matches(*work.terms, stem_);
}

FaultDecision FaultPlan::decide(const WorkInHand& work, Instant now) {
  FaultDecision decision;
  for (Planned& planned : faults_) {
    const Fault& fault = planned.fault;
    if (is_of_leaf(fault.kind) || !is_active(planned, now) || !meets(fault, work)) continue;
    std::optional<Random> of_query;
    if (fault.per == DrawnPer::query) of_query.emplace(planned.query_seed ^ stable_hash(work.query));
    Random& random = of_query ? *of_query : planned.random;
    if (!random.chance(fault.probability)) continue;
    ++planned.applied;
    decision.kinds.push_back(fault.kind);
    if (!decision.names.empty()) decision.names += ", ";
    decision.names += to_string(fault.kind);
    if (has_delay(fault.kind)) {
      const Duration delay = fault.delay.draw(random);
      (fault.kind == FaultKind::late ? decision.late : fault.kind == FaultKind::hold ? decision.hold : decision.burn) += delay;
      decision.names += " " + delay_text(delay);
    } else {
      decision.ending = std::max(decision.ending, ending_by(fault.kind));
    }
  }
  return decision;
}

std::optional<Instant> FaultPlan::goes_on_until(const Planned& planned, Instant now) {
  if (!is_active(planned, now)) return std::nullopt;
  if (planned.fault.kind == FaultKind::pause) return planned.end;
  if (!planned.schedule.is_active(now)) return std::nullopt;
  return std::min(planned.end, planned.schedule.next_change(now));
}

std::vector<FaultPlan::OfLeaf> FaultPlan::of_leaf(Instant now) const {
  std::vector<OfLeaf> all;
  for (std::size_t place = 0; place < faults_.size(); ++place) {
    const Planned& planned = faults_[place];
    if (!is_of_leaf(planned.fault.kind)) continue;
    const auto until = goes_on_until(planned, now);
    const bool is_background = planned.fault.kind == FaultKind::background;
    if (until) all.push_back({place, planned.fault.kind, is_background ? &planned.fault.background : nullptr, *until});
  }
  return all;
}

std::optional<Instant> FaultPlan::next_change(Instant now) const {
  std::optional<Instant> next;
  for (const Planned& planned : faults_) {
    if (!is_of_leaf(planned.fault.kind) || now >= planned.end) continue;
    Instant change = planned.end;
    if (now < planned.begin) {
      change = planned.begin;
    } else if (planned.fault.kind == FaultKind::background) {
      change = std::min(change, planned.schedule.next_change(now));
    }
    if (change != Instant::max()) next = next ? std::min(*next, change) : change;
  }
  return next;
}

json FaultPlan::listing(Instant now) const {
  json list = json::array();
  for (const Planned& planned : faults_) {
    json entry = to_json(planned.fault);
    entry["applied"] = planned.applied;
    entry["state"] = now < planned.begin ? "waiting" : now < planned.end ? "active" : "over";
    if (planned.fault.lasting) {
      const auto remaining = std::clamp(planned.end - now, Duration::zero(), *planned.fault.lasting);
      entry["remaining"] = format_duration(std::chrono::round<std::chrono::milliseconds>(remaining));
    }
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace hedgerow::leaf
