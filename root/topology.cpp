#include "root/topology.hpp"

#include <charconv>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

namespace hedgerow::root {

namespace {

using nlohmann::json;

Error wrong(const std::string& what) { return {Errc::invalid_argument, "topology: " + what}; }

// "host:port", with a port that there can be.
bool is_address(const std::string& text) {
  const auto colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return false;
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto [read_to, problem] = std::from_chars(text.data() + colon + 1, end, port);
  return problem == std::errc{} && read_to == end && port != 0;
}

result<TopologyLeaf> parse_leaf(const json& value, std::size_t number, std::uint32_t partition_count) {
  std::string where = "leaf " + std::to_string(number);
  if (!value.is_object()) return wrong(where + " is not an object");
  TopologyLeaf leaf;
  // First of all the name, so that every other error can say it.
  if (const auto name = value.find("name"); name != value.end() && name->is_string() && *name != "") {
    leaf.name = name->get<std::string>();
    where = "leaf '" + leaf.name + "'";
  }
  bool has_partitions = false;
  for (const auto& [name, field] : value.items()) {
    if (name == "name" && !leaf.name.empty()) continue;
    if (name == "address" && field.is_string()) {
      leaf.address = field.get<std::string>();
      if (!is_address(leaf.address)) return wrong(where + ": 'address' is '" + leaf.address + "', not host:port");
    } else if (name == "spelling" && field.is_boolean()) {
      leaf.spelling = field.get<bool>();
    } else if (name == "partitions" && field.is_array()) {
      has_partitions = true;
      std::set<std::uint32_t> seen;
      for (const json& partition : field) {
        if (!partition.is_number_unsigned() || partition.get<std::uint64_t>() >= partition_count) {
          return wrong(where + ": in 'partitions', " + partition.dump() + " is not one of the index's " +
                       std::to_string(partition_count) + ", which are numbered from 0");
        }
        if (!seen.insert(partition.get<std::uint32_t>()).second) {
          return wrong(where + ": in 'partitions', " + partition.dump() + " comes twice");
        }
        leaf.partitions.push_back(PartitionId{partition.get<std::uint32_t>()});
      }
    } else {
      return wrong(where + ": field '" + name + "' is unknown or of the wrong type");
    }
  }
  if (leaf.name.empty()) return wrong(where + ": 'name' is missing");
  if (leaf.address.empty()) return wrong(where + ": 'address' is missing");
  if (!has_partitions) return wrong(where + ": 'partitions' is missing");
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
