// STATE/cluster.json: where a running cluster's processes are, for people, scripts, and the laboratory's own commands.
// Replaced atomically, whenever a process starts anew.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/ids.hpp"

namespace hedgerow::lab {

// "leaf-3": leaves are numbered from 0.
std::string leaf_name(std::size_t number);

struct ClusterMember {
  std::string name;     // "leaf-0", "root"
  std::string address;  // "127.0.0.1:9001"
  int pid = 0;
  std::vector<PartitionId> partitions;  // a leaf's
  std::string log;                      // a file
  bool spelling = false;                // of a leaf that serves it
};

struct ClusterFile {
  std::string index;    // the index directory
  std::string control;  // the address of the control API
  int pid = 0;          // of `hedgerow-lab up`
  std::size_t partitions = 0;
  std::size_t replicas = 0;
  ClusterMember root;
  std::vector<ClusterMember> leaves;
};

// Errors: io.
result<void> write_cluster_file(const std::filesystem::path& path, const ClusterFile& cluster);
// Takes the file, or the state directory that holds it. Errors: not_found, corrupt (names the field).
result<ClusterFile> read_cluster_file(const std::filesystem::path& path);

// The leaves as the root reads them: {"leaves":[{"name","address","partitions","spelling"},…]}.
std::string topology_json(const ClusterFile& cluster);

// Writes beside the file and renames, so that no reader ever sees half of it. Errors: io.
result<void> write_file_atomically(const std::filesystem::path& path, std::string_view content);
// The last lines of a file, at most so many, each indented; empty where there is none.
std::string last_lines(const std::filesystem::path& path, std::size_t lines);

}  // namespace hedgerow::lab
