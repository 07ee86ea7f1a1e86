#include "lab/simulation/world.hpp"

namespace hedgerow::lab::simulation {

std::string_view to_string(FaultKind kind) {
  switch (kind) {
    case FaultKind::late: return "late";
    case FaultKind::hold: return "hold";
    case FaultKind::slow: return "slow";
    case FaultKind::pause: return "pause";
    case FaultKind::freeze: return "freeze";
    case FaultKind::error: return "error";
    case FaultKind::refuse: return "refused";
    case FaultKind::black_hole: return "black_hole";
    case FaultKind::duplicate: return "duplicate";
    case FaultKind::crash: return "crash";
    case FaultKind::cut: return "cut";
    case FaultKind::cut_silently: return "cut_silently";
  }
  return "late";
}

std::string_view to_string(Sabotage sabotage) {
  switch (sabotage) {
    case Sabotage::none: return "none";
    case Sabotage::merge_twice: return "merge_twice";
    case Sabotage::answer_late: return "answer_late";
    case Sabotage::answer_twice: return "answer_twice";
    case Sabotage::forget_wake: return "forget_wake";
    case Sabotage::forget_cancel: return "forget_cancel";
    case Sabotage::hedge_unpaid: return "hedge_unpaid";
    case Sabotage::ask_again: return "ask_again";
    case Sabotage::keep_record: return "keep_record";
    case Sabotage::forget_leaving: return "forget_leaving";
  }
  return "none";
}

}  // namespace hedgerow::lab::simulation
