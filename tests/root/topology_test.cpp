#include "root/topology.hpp"

#include <doctest/doctest.h>

#include <fstream>

namespace hedgerow::root {

TEST_CASE("a topology is its leaves in order, with names, addresses and partitions") {
  const auto topology = parse_topology(R"({"leaves": [
      {"name": "leaf-0", "address": "127.0.0.1:9001", "partitions": [0, 2]},
      {"partitions": [], "address": "[::1]:9002", "name": "spare"}]})", 3);
  REQUIRE(topology.has_value());
  REQUIRE(topology->leaves.size() == 2);
  CHECK(topology->leaves[0] == TopologyLeaf{"leaf-0", "127.0.0.1:9001", {PartitionId{0}, PartitionId{2}}});
  CHECK(topology->leaves[1] == TopologyLeaf{"spare", "[::1]:9002", {}});
}

TEST_CASE("a topology without leaves, and a partition that nobody has, are no errors") {
  CHECK(parse_topology(R"({"leaves": []})", 16).has_value());
  CHECK(parse_topology(R"({"leaves": [{"name": "a", "address": "h:1", "partitions": [5]}]})", 16).has_value());
}

TEST_CASE("every error in a topology names the leaf and the field") {
  struct Row {
    const char* leaf;
    std::vector<const char*> named;
  };
  const Row rows[] = {
      {R"(7)", {"leaf 0", "object"}},
      {R"({"address": "h:1", "partitions": [0]})", {"leaf 0", "'name'", "missing"}},
      {R"({"name": "", "address": "h:1", "partitions": [0]})", {"leaf 0", "'name'"}},
      {R"({"name": 3, "address": "h:1", "partitions": [0]})", {"leaf 0", "'name'"}},
      {R"({"name": "a", "partitions": [0]})", {"leaf 'a'", "'address'", "missing"}},
      {R"({"name": "a", "address": 1, "partitions": [0]})", {"leaf 'a'", "'address'"}},
      {R"({"name": "a", "address": "h", "partitions": [0]})", {"leaf 'a'", "'address'", "'h'", "host:port"}},
      {R"({"name": "a", "address": ":80", "partitions": [0]})", {"leaf 'a'", "'address'"}},
      {R"({"name": "a", "address": "h:", "partitions": [0]})", {"leaf 'a'", "'address'"}},
      {R"({"name": "a", "address": "h:0", "partitions": [0]})", {"leaf 'a'", "'address'"}},
      {R"({"name": "a", "address": "h:70000", "partitions": [0]})", {"leaf 'a'", "'address'"}},
      {R"({"name": "a", "address": "h:1x", "partitions": [0]})", {"leaf 'a'", "'address'"}},
      {R"({"name": "a", "address": "h:1"})", {"leaf 'a'", "'partitions'", "missing"}},
      {R"({"name": "a", "address": "h:1", "partitions": 0})", {"leaf 'a'", "'partitions'"}},
      {R"({"name": "a", "address": "h:1", "partitions": [0, 4]})", {"leaf 'a'", "'partitions'", "4"}},
      {R"({"name": "a", "address": "h:1", "partitions": [-1]})", {"leaf 'a'", "'partitions'", "-1"}},
      {R"({"name": "a", "address": "h:1", "partitions": [1.5]})", {"leaf 'a'", "'partitions'", "1.5"}},
      {R"({"name": "a", "address": "h:1", "partitions": ["0"]})", {"leaf 'a'", "'partitions'", "\"0\""}},
      {R"({"name": "a", "address": "h:1", "partitions": [4294967296]})", {"leaf 'a'", "'partitions'", "4294967296"}},
      {R"({"name": "a", "address": "h:1", "partitions": [1, 1]})", {"leaf 'a'", "'partitions'", "twice"}},
      {R"({"name": "a", "address": "h:1", "partitions": [0], "partition": []})", {"leaf 'a'", "'partition'", "unknown"}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.leaf);
    const auto topology = parse_topology(R"({"leaves": [)" + std::string(row.leaf) + "]}", 4);
    REQUIRE(topology.has_error());
    CHECK(topology.error().code == Errc::invalid_argument);
    for (const char* word : row.named) {
      CAPTURE(word);
      CAPTURE(topology.error().context);
      CHECK(topology.error().context.find(word) != std::string::npos);
    }
  }
}

TEST_CASE("two leaves of one name are an error") {
  const auto topology = parse_topology(R"({"leaves": [{"name": "a", "address": "h:1", "partitions": []},
                                                      {"name": "a", "address": "h:2", "partitions": []}]})", 4);
  REQUIRE(topology.has_error());
  CHECK(topology.error().context.find("'a'") != std::string::npos);
}

TEST_CASE("what is no topology at all is an error") {
  for (const char* text : {"", "{", "[]", "null", "{}", R"({"leaves": {}})", R"({"leaves": [], "more": 1})"}) {
    CAPTURE(text);
    const auto topology = parse_topology(text, 4);
    REQUIRE(topology.has_error());
    CHECK(topology.error().code == Errc::invalid_argument);
  }
}

TEST_CASE("a topology file that is not there is an error that names it") {
  const auto topology = read_topology("/nonexistent/topology.json", 4);
  REQUIRE(topology.has_error());
  CHECK(topology.error().code == Errc::io);
  CHECK(topology.error().context.find("/nonexistent/topology.json") != std::string::npos);
}

TEST_CASE("a leaf offers spelling where the file says so, and not otherwise") {
  const auto topology = parse_topology(
      R"({"leaves": [{"name": "a", "address": "127.0.0.1:1", "partitions": [0], "spelling": true},
                     {"name": "b", "address": "127.0.0.1:2", "partitions": [0], "spelling": false},
                     {"name": "c", "address": "127.0.0.1:3", "partitions": [0]}]})", 1);
  REQUIRE(topology.has_value());
  CHECK(topology->leaves[0].spelling);
  CHECK_FALSE(topology->leaves[1].spelling);
  CHECK_FALSE(topology->leaves[2].spelling);
  const auto wrong = parse_topology(R"({"leaves": [{"name": "a", "address": "127.0.0.1:1", "partitions": [], "spelling": 1}]})", 1);
  REQUIRE(wrong.has_error());
  CHECK(wrong.error().context.find("spelling") != std::string::npos);
}

}  // namespace hedgerow::root
