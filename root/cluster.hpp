// The leaves as the root sees them: the topology, a client for each leaf, and the policies that all queries share.
//
// On the root's thread. A new topology keeps the clients of leaves that did not change; a leaf that is gone is let go
// when its calls have ended. Queries take a snapshot of the assignment when they begin.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "index/manifest.hpp"
#include "root/aftermath.hpp"
#include "root/assignment.hpp"
#include "root/leaf_client.hpp"
#include "root/metrics.hpp"
#include "root/policy/cluster/latency_model.hpp"
#include "root/policy/cluster/replica_choice.hpp"
#include "root/policy/cluster/search_policies.hpp"
#include "root/policy/query/subsystems.hpp"
#include "root/topology.hpp"

namespace hedgerow::root {

struct ClusterPolicies {
  // Of searches; and the choice for all other work, which has books of its own.
  policy::SearchPolicies search;
  policy::ReplicaChoice side_choice;
  policy::LatencyModel second_phase;
  policy::SubsystemModels subsystems;
};

class Cluster {
 public:
  Cluster(boost::asio::any_io_executor executor, Manifest manifest, LeafClientSettings settings,
          const policy::SearchPolicySettings& policies, std::uint64_t seed, Metrics& metrics, std::uint64_t tie_nonce = 0);
  ~Cluster();

  const Manifest& manifest() const { return manifest_; }
  ClusterPolicies& policies() { return policies_; }
  const ClusterPolicies& policies() const { return policies_; }
  Aftermath& aftermath() { return aftermath_; }
  // For a tied pair: never the same twice, and hardly ever that of another root, if their nonces are random.
  std::uint64_t next_tie_name();
  // The most replicas that any partition has.
  std::size_t most_replicas() const;
  // Brings those metrics up to date that policies keep for themselves.
  void refresh_metrics();

  void apply(const Topology& topology);
  std::shared_ptr<const Replicas> replicas() const { return replicas_; }
  // The leaves that offer spelling.
  std::shared_ptr<const std::vector<LeafId>> spellers() const { return spellers_; }
  // Null for a leaf that is gone.
  LeafClient* client(LeafId leaf) { return leaf.value < clients_.size() ? clients_[leaf.value].get() : nullptr; }
  std::shared_ptr<LeafClient> client_named(std::string_view name) const;
  // Present leaves, in the topology's order.
  std::vector<std::shared_ptr<LeafClient>> leaves() const;

  // Who else wants to know that a leaf begins or stops to serve, and why (see LeafClient::StateListener); told before
  // its calls are lost. One listener, which outlives the cluster's links, or is taken back.
  void on_leaf_change(LeafClient::StateListener listener) { listener_ = std::move(listener); }

  // Every partition has a replica that serves.
  bool ready() const;

  // Ends every client, and returns when all have ended.
  boost::asio::awaitable<void> stop();

 private:
  void start(const TopologyLeaf& leaf);
  void on_leaf_down(const LeafClient& leaf, const Error& why);

  boost::asio::any_io_executor executor_;
  Manifest manifest_;
  LeafClientSettings settings_;
  Metrics& metrics_;
  Aftermath aftermath_;  // outlives the clients, whose calls it inherits
  ClusterPolicies policies_;
  std::uint64_t tie_nonce_;
  std::uint64_t ties_ = 0;
  // By LeafId; ids of leaves that are gone are not used again.
  std::vector<std::shared_ptr<LeafClient>> clients_;
  std::vector<LeafId> order_;
  std::shared_ptr<const Replicas> replicas_;
  std::shared_ptr<const std::vector<LeafId>> spellers_;
  std::size_t running_ = 0;
  boost::asio::steady_timer all_ended_;
  LeafClient::StateListener listener_;
};

}  // namespace hedgerow::root
