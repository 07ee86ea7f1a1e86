// Sets, lists and clears the faults of all leaves of a cluster at once, over HTTP, each leaf asked directly.
//
// On one executor's thread; every coroutine that asks a leaf is waited for. All leaves are asked at the same time, so that
// what is set "for 10s" begins and ends together to within a few milliseconds.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/distribution.hpp"
#include "base/error.hpp"
#include "lab/cluster.hpp"

namespace hedgerow::lab {

struct LeafAddress {
  std::string name;
  std::string address;
};
// In the order of their numbers; those that have not listened yet have no address, and are unavailable.
std::vector<LeafAddress> leaves_of(const Cluster& cluster);

// What each leaf says of its faults afterwards, by name: {"leaf-0": {"leaf": "leaf-0", "allowed": true, "faults": […]}, …}.
struct LeafListings {
  nlohmann::ordered_json leaves = nlohmann::ordered_json::object();
};

// faults: see cluster_faults. What is wrong with them is found before any leaf is asked. Errors: those of faults_by_leaf;
// unavailable and refused (started without --allow-faults), naming each leaf at fault: the others are set all the same.
boost::asio::awaitable<result<LeafListings>> set_leaf_faults(std::vector<LeafAddress> leaves, nlohmann::json faults,
                                                             Distribution::ReadFile read);
boost::asio::awaitable<result<LeafListings>> list_leaf_faults(std::vector<LeafAddress> leaves);
boost::asio::awaitable<result<LeafListings>> clear_leaf_faults(std::vector<LeafAddress> leaves);

}  // namespace hedgerow::lab
