// The laboratory's control API: what may be done to the processes of a running cluster, over HTTP on loopback.
//
//   GET  /v1/processes                  how every process is
//   GET  /v1/processes/{name}           one of them
//   POST /v1/processes/{name}/{action}  stop (SIGSTOP), continue, kill, terminate, restart (same port), start
//   GET  /v1/faults                     the faults of every leaf
//   PUT  /v1/faults                     sets them, see cluster_faults; what is not in the list is cleared
//   DELETE /v1/faults                   clears them
//
// Errors are problem details: 404 for an unknown process or action, 409 where the process is not in a state for it (or
// takes no faults), 502 where a leaf does not answer, 503 where a process did not come up.
#pragma once

#include <nlohmann/json.hpp>

#include "lab/cluster.hpp"
#include "wire/http_router.hpp"

namespace hedgerow::lab {

// The cluster outlives the router.
wire::HttpRouter control_routes(Cluster& cluster);

nlohmann::ordered_json process_json(const ProcessStatus& process);

}  // namespace hedgerow::lab
