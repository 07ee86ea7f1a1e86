#include "root/policy/cluster/cluster_load.hpp"

namespace hedgerow::policy {

void ClusterLoad::on_answered(LeafId, const AttemptReport&, Instant) {}
void ClusterLoad::on_failed(LeafId, bool, Instant) {}
double ClusterLoad::queueing(Instant) const { return 0; }
Duration ClusterLoad::least_queue_time(Instant) const { return {}; }
double ClusterLoad::refused_share(Instant) const { return 0; }

}  // namespace hedgerow::policy
