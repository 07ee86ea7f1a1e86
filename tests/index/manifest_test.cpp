#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "index/manifest.hpp"
#include "temporary_directory.hpp"

namespace hedgerow::test {

namespace {

Manifest two_partitions() {
  Manifest manifest;
  manifest.collection = "jsonl:\"odd\" näme";
  manifest.generation = Generation{7};
  manifest.stemmer = "english";
  manifest.statistics_file = "generation-7/statistics";
  manifest.statistics_sha256 = std::string(64, 'a');
  manifest.partitions = {{"generation-7/partition-0000", 3, 300, std::string(64, '0')},
                         {"generation-7/partition-0001", 4, 500, std::string(64, 'f')}};
  manifest.documents = 7;
  manifest.total_length = 800;
  return manifest;
}

}  // namespace

TEST_CASE("A manifest reads back as it was written") {
  const Manifest written = two_partitions();
  const auto read = manifest_from_json(manifest_to_json(written));
  REQUIRE(read.has_value());
  CHECK(read->collection == written.collection);
  CHECK(read->generation == written.generation);
  CHECK(read->stemmer == written.stemmer);
  CHECK(read->statistics_file == written.statistics_file);
  CHECK(read->statistics_sha256 == written.statistics_sha256);
  CHECK(read->documents == 7);
  CHECK(read->total_length == 800);
  CHECK(read->average_length() == doctest::Approx(800.0 / 7));
  REQUIRE(read->partitions.size() == 2);
  CHECK(read->partitions[1].file == "generation-7/partition-0001");
  CHECK(read->partitions[1].documents == 4);
  CHECK(read->partitions[1].total_length == 500);
  CHECK(read->partitions[1].sha256 == std::string(64, 'f'));
}

TEST_CASE("A manifest that does not hold together is corrupt, and the error names the field") {
  const nlohmann::json good = nlohmann::json::parse(manifest_to_json(two_partitions()));
  struct Row {
    const char* pointer;
    nlohmann::json value;
    const char* named;
  };
  const Row rows[] = {{"/generation", "seven", "generation"},
                      {"/generation", -1, "generation"},
                      {"/documents", 8, "totals"},
                      {"/total_length", 1, "totals"},
                      {"/statistics", 5, "statistics"},
                      {"/statistics/file", "/etc/passwd", "file"},
                      {"/statistics/file", "../elsewhere", "file"},
                      {"/statistics/sha256", "short", "sha256"},
                      {"/partitions", nlohmann::json::array(), "partitions"},
                      {"/partitions", 3, "partitions"},
                      {"/partitions/1/documents", 4294967296, "documents"},
                      {"/partitions/1/documents", 4.5, "documents"},
                      {"/partitions/1/sha256", std::string(64, 'G'), "sha256"},
                      {"/partitions/0", "x", "partition 0"},
                      {"/stemmer", nullptr, "stemmer"},
                      {"/stemmer", "klingon", "stemmer"}};
  for (const Row& row : rows) {
    CAPTURE(row.pointer);
    nlohmann::json bad = good;
    bad[nlohmann::json::json_pointer(row.pointer)] = row.value;
    const auto read = manifest_from_json(bad.dump());
    REQUIRE(!read);
    CHECK(read.error().code == Errc::corrupt);
    CHECK(read.error().context.find(row.named) != std::string::npos);
  }
  for (const auto& field : good.items()) {
    CAPTURE(field.key());
    nlohmann::json bad = good;
    bad.erase(field.key());
    const auto read = manifest_from_json(bad.dump());
    REQUIRE(!read);
    CHECK(read.error().code == Errc::corrupt);
    CHECK(read.error().context.find(field.key()) != std::string::npos);
  }
  CHECK(manifest_from_json("").error().code == Errc::corrupt);
  CHECK(manifest_from_json("[]").error().code == Errc::corrupt);
  CHECK(manifest_from_json("{\"format_version\":").error().code == Errc::corrupt);
}

TEST_CASE("Another format version is told apart from damage") {
  nlohmann::json other = nlohmann::json::parse(manifest_to_json(two_partitions()));
  other["format_version"] = Manifest::format_version + 1;
  CHECK(manifest_from_json(other.dump()).error().code == Errc::unsupported);
}

TEST_CASE("A folder without an index is not_found") {
  const TemporaryDirectory directory;
  CHECK(read_manifest(directory.path()).error().code == Errc::not_found);
  CHECK(read_manifest(directory.path() / "nowhere").error().code == Errc::not_found);
}

}  // namespace hedgerow::test
