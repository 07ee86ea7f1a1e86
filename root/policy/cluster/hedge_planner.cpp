#include "root/policy/cluster/hedge_planner.hpp"

namespace hedgerow::policy {

HedgePlan plan_hedges(const HedgeProblem&) { return {}; }

}  // namespace hedgerow::policy
