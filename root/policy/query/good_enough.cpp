#include "root/policy/query/good_enough.hpp"

namespace hedgerow::policy {

std::optional<Instant> worth_waiting_until(const GoodEnoughRule&, double, const std::vector<Awaited>&, const LatencyCurve&,
                                           Instant search_end, Instant) {
  return search_end;
}

}  // namespace hedgerow::policy
