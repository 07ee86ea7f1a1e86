#include "lab/cluster_file.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace hedgerow;
using namespace hedgerow::lab;
namespace fs = std::filesystem;

namespace {

struct TemporaryDirectory {
  TemporaryDirectory() {
    std::string name = (fs::temp_directory_path() / "hedgerow-test-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~TemporaryDirectory() { fs::remove_all(path); }
  fs::path path;
};

ClusterFile two_leaves() {
  return {"/data/index", "127.0.0.1:7081", 100, 3, 2,
          {"root", "127.0.0.1:7080", 103, {}, "/s/root.log"},
          {{"leaf-0", "127.0.0.1:9001", 101, {PartitionId{0}, PartitionId{2}}, "/s/leaf-0.log", true},
           {"leaf-1", "127.0.0.1:9002", 102, {PartitionId{1}}, "/s/leaf-1.log"}}};
}

}  // namespace

TEST_CASE("a cluster file is read back as it was written, by its name or its directory's") {
  const TemporaryDirectory directory;
  REQUIRE(write_cluster_file(directory.path / "cluster.json", two_leaves()).has_value());
  for (const auto& path : {directory.path, directory.path / "cluster.json"}) {
    const auto read = read_cluster_file(path);
    REQUIRE(read.has_value());
    CHECK(read->control == "127.0.0.1:7081");
    CHECK(read->pid == 100);
    CHECK(read->partitions == 3);
    CHECK(read->replicas == 2);
    CHECK(read->root.address == "127.0.0.1:7080");
    CHECK(read->root.pid == 103);
    REQUIRE(read->leaves.size() == 2);
    CHECK(read->leaves[0].name == "leaf-0");
    CHECK(read->leaves[0].partitions == std::vector{PartitionId{0}, PartitionId{2}});
    CHECK(read->leaves[1].log == "/s/leaf-1.log");
    CHECK(read->leaves[0].spelling);
    CHECK(!read->leaves[1].spelling);
  }
}

TEST_CASE("a cluster file that is missing, cut or foreign is an error that names it") {
  const TemporaryDirectory directory;
  const auto file = directory.path / "cluster.json";
  CHECK(read_cluster_file(directory.path).error().code == Errc::not_found);
  for (const char* content : {"", "{\"format\":1", "[]", "{\"format\":1}", "{\"format\":\"1\"}"}) {
    std::ofstream(file) << content;
    const auto read = read_cluster_file(file);
    REQUIRE(read.has_error());
    CHECK(read.error().code == Errc::corrupt);
    CHECK(read.error().context.find(file.string()) != std::string::npos);
  }
  std::ofstream(file) << "{\"format\":2}";
  CHECK(read_cluster_file(file).error().code == Errc::unsupported);
}

TEST_CASE("the topology names every leaf with its address and partitions, and nothing of the laboratory") {
  const auto topology = nlohmann::json::parse(topology_json(two_leaves()));
  const auto expected = nlohmann::json::parse(R"({"leaves":[
    {"name":"leaf-0","address":"127.0.0.1:9001","partitions":[0,2],"spelling":true},
    {"name":"leaf-1","address":"127.0.0.1:9002","partitions":[1]}]})");
  CHECK(topology == expected);
}

TEST_CASE("the last lines of a log are the last ones, also of a long log, and none of a missing one") {
  const TemporaryDirectory directory;
  const auto log = directory.path / "log";
  CHECK(last_lines(log, 3).empty());
  {
    std::ofstream file(log);
    for (int i = 0; i < 5000; ++i) file << "line " << i << "\n";
  }
  CHECK(last_lines(log, 2) == "  | line 4998\n  | line 4999\n");
  std::ofstream(log) << "only";
  CHECK(last_lines(log, 2) == "  | only\n");
}
