// Which leaves there are and what they hold, as the topology file says. A value; read at start and on SIGHUP.
//
// The file: {"leaves": [{"name": "leaf-0", "address": "127.0.0.1:9001", "partitions": [0, 8],
//                       "spelling": true}, …]}; without "spelling" a leaf is not asked for spelling
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/ids.hpp"

namespace hedgerow::root {

struct TopologyLeaf {
  std::string name;
  std::string address;  // host:port; [host]:port for IPv6
  std::vector<PartitionId> partitions;
  bool spelling = false;
  friend bool operator==(const TopologyLeaf&, const TopologyLeaf&) = default;
};

struct Topology {
  std::vector<TopologyLeaf> leaves;
};

// partition_count: of the index; a leaf with a partition beyond it is an error, a partition that no leaf has is not (the
// answers will call it unassigned).
// Errors: io; invalid_argument, naming the leaf and the field.
result<Topology> parse_topology(std::string_view json, std::uint32_t partition_count);
result<Topology> read_topology(const std::filesystem::path& file, std::uint32_t partition_count);

}  // namespace hedgerow::root
