#include "lab/cluster_file.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace hedgerow::lab {

namespace {

using ordered_json = nlohmann::ordered_json;
using nlohmann::json;

constexpr int format_version = 1;

std::vector<std::uint32_t> numbers_of(const std::vector<PartitionId>& partitions) {
  std::vector<std::uint32_t> numbers;
  for (const auto partition : partitions) numbers.push_back(partition.value);
  return numbers;
}

ordered_json member_json(const ClusterMember& member) {
  ordered_json out{{"name", member.name}, {"address", member.address}, {"pid", member.pid}, {"log", member.log}};
  if (!member.partitions.empty()) out["partitions"] = numbers_of(member.partitions);
  if (member.spelling) out["spelling"] = true;
  return out;
}

ClusterMember member_from(const json& in) {
  ClusterMember member{in.at("name").get<std::string>(), in.at("address").get<std::string>(), in.at("pid").get<int>(),
                       {}, in.at("log").get<std::string>(), in.value("spelling", false)};
  if (in.contains("partitions")) {
    for (const auto number : in.at("partitions").get<std::vector<std::uint32_t>>()) {
      member.partitions.push_back(PartitionId{number});
    }
  }
  return member;
}

}  // namespace

result<void> write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  auto beside = path;
  beside += ".new";
  {
    std::ofstream file(beside, std::ios::binary | std::ios::trunc);
    file << content;
    file.close();
    if (!file) return Error{Errc::io, "writing " + beside.string()};
  }
  std::error_code error;
  std::filesystem::rename(beside, path, error);
  if (error) return Error{Errc::io, "writing " + path.string() + ": " + error.message()};
  return {};
}

std::string leaf_name(std::size_t number) { return "leaf-" + std::to_string(number); }

result<void> write_cluster_file(const std::filesystem::path& path, const ClusterFile& cluster) {
  ordered_json out{{"format", format_version},        {"index", cluster.index},         {"pid", cluster.pid},
                   {"control", cluster.control},      {"partitions", cluster.partitions}, {"replicas", cluster.replicas},
                   {"root", member_json(cluster.root)}};
  out["leaves"] = ordered_json::array();
  for (const auto& leaf : cluster.leaves) out["leaves"].push_back(member_json(leaf));
  return write_file_atomically(path, out.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

result<ClusterFile> read_cluster_file(const std::filesystem::path& given) {
  std::error_code ignored;
  const auto path = std::filesystem::is_directory(given, ignored) ? given / "cluster.json" : given;
  std::ifstream file(path);
  if (!file) return Error{Errc::not_found, path.string() + ": no such file; does the cluster run?"};
  try {
    const json in = json::parse(file);
    if (in.at("format").get<int>() != format_version) {
      return Error{Errc::unsupported, path.string() + ": format " + in.at("format").dump()};
    }
    ClusterFile cluster;
    cluster.index = in.at("index").get<std::string>();
    cluster.pid = in.at("pid").get<int>();
    cluster.control = in.at("control").get<std::string>();
    cluster.partitions = in.at("partitions").get<std::size_t>();
    cluster.replicas = in.at("replicas").get<std::size_t>();
    cluster.root = member_from(in.at("root"));
    for (const json& leaf : in.at("leaves")) cluster.leaves.push_back(member_from(leaf));
    return cluster;
  } catch (const json::exception& problem) {
    return Error{Errc::corrupt, path.string() + ": " + problem.what()};
  }
}

std::string topology_json(const ClusterFile& cluster) {
  ordered_json leaves = ordered_json::array();
  for (const auto& leaf : cluster.leaves) {
    leaves.push_back({{"name", leaf.name}, {"address", leaf.address}, {"partitions", numbers_of(leaf.partitions)}});
    if (leaf.spelling) leaves.back()["spelling"] = true;
  }
  return ordered_json{{"leaves", std::move(leaves)}}.dump(2) + "\n";
}

std::string last_lines(const std::filesystem::path& path, std::size_t lines) {
  constexpr std::streamoff most = 16 << 10;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const std::streamoff size = file.tellg();
  file.seekg(std::max<std::streamoff>(0, size - most));
  std::vector<std::string> all;
  for (std::string line; std::getline(file, line);) all.push_back("  | " + line + "\n");
  std::string text;
  for (std::size_t i = all.size() - std::min(all.size(), lines); i < all.size(); ++i) text += all[i];
  return text;
}

}  // namespace hedgerow::lab
