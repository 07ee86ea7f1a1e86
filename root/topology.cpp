#include "root/topology.hpp"

#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

namespace hedgerow::root {

namespace {

using nlohmann::json;

Error wrong(const std::string& what) { return {Errc::invalid_argument, "topology: " + what}; }

result<TopologyLeaf> parse_leaf(const json& value, std::size_t number, std::uint32_t partition_count) {
  std::string where = "leaf " + std::to_string(number);
  if (!value.is_object()) return wrong(where + " is not an object");
  TopologyLeaf leaf;
  for (const auto& [name, field] : value.items()) {
    if (name == "name" && field.is_string() && !field.get_ref<const std::string&>().empty()) {
      leaf.name = field.get<std::string>();
      where = "leaf '" + leaf.name + "'";
    } else if (name == "address" && field.is_string()) {
      leaf.address = field.get<std::string>();
    } else if (name == "partitions" && field.is_array()) {
      std::set<std::uint32_t> seen;
      for (const json& partition : field) {
        if (!partition.is_number_unsigned() || partition.get<std::uint64_t>() >= partition_count) {
          return wrong(where + ": " + partition.dump() + " is not a partition of the index (0 to " +
                       std::to_string(partition_count - 1) + ")");
        }
        if (!seen.insert(partition.get<std::uint32_t>()).second) {
          return wrong(where + ": partition " + partition.dump() + " twice");
        }
        leaf.partitions.push_back(PartitionId{partition.get<std::uint32_t>()});
      }
    } else {
      return wrong(where + ": field '" + name + "' is unknown or of the wrong type");
    }
  }
  if (leaf.name.empty()) return wrong(where + ": 'name' is missing");
  if (leaf.address.empty()) return wrong(where + ": 'address' is missing");
  return leaf;
}

}  // namespace

result<Topology> parse_topology(std::string_view text, std::uint32_t partition_count) {
  const json value = json::parse(text, nullptr, false);
  if (value.is_discarded()) return wrong("not valid JSON");
  if (!value.is_object() || value.size() != 1 || !value.contains("leaves") || !value["leaves"].is_array()) {
    return wrong("not an object with a list of 'leaves' and nothing else");
  }
  Topology topology;
  std::set<std::string> names;
  for (const json& entry : value["leaves"]) {
    auto leaf = parse_leaf(entry, topology.leaves.size(), partition_count);
    if (leaf.has_error()) return leaf.error();
    if (!names.insert(leaf->name).second) return wrong("two leaves are called '" + leaf->name + "'");
    topology.leaves.push_back(std::move(*leaf));
  }
  return topology;
}

result<Topology> read_topology(const std::filesystem::path& file, std::uint32_t partition_count) {
  std::ifstream stream(file);
  if (!stream) return Error{Errc::io, file.string() + ": " + std::strerror(errno)};
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  return parse_topology(text, partition_count);
}

}  // namespace hedgerow::root
