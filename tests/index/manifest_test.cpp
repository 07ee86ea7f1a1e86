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
  manifest.spelling_file = "generation-7/spelling";
  manifest.spelling_sha256 = std::string(64, 'b');
  manifest.bm25 = {.k1 = 1.25, .k3 = 7, .b = 0.1, .min_normalised_length = 0.3};
  manifest.title_weight = 5;
  manifest.facets = {{"née", fields::ValueKind::date, 7},
                     {"section", fields::ValueKind::category, 6},
                     {"year", fields::ValueKind::number, 1}};
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
  CHECK(read->spelling_file == "generation-7/spelling");
  CHECK(read->spelling_sha256 == std::string(64, 'b'));
  CHECK(read->bm25.k1 == 1.25);
  CHECK(read->bm25.k3 == 7);
  CHECK(read->bm25.b == 0.1);
  CHECK(read->bm25.min_normalised_length == 0.3);
  CHECK(read->title_weight == 5);
  REQUIRE(read->facets.size() == 3);
  CHECK(read->facets[0].name == "née");
  CHECK(read->facets[0].kind == fields::ValueKind::date);
  CHECK(read->facets[0].documents == 7);
  CHECK(read->facets[1].kind == fields::ValueKind::category);
  CHECK(read->facets[2].kind == fields::ValueKind::number);
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
                      {"/spelling", nullptr, "spelling"},
                      {"/spelling/file", "/etc/passwd", "file"},
                      {"/spelling/file", "generation-7/../../elsewhere", "file"},
                      {"/spelling/sha256", "", "sha256"},
                      {"/title_weight", 0, "title_weight"},
                      {"/title_weight", 101, "title_weight"},
                      {"/title_weight", 1.5, "title_weight"},
                      {"/title_weight", "5", "title_weight"},
                      {"/bm25", nlohmann::json::array(), "bm25"},
                      {"/bm25", {{"k1", 1}, {"k3", 1}, {"b", 0.5}}, "min_normalised_length"},
                      {"/bm25/k1", -0.5, "k1"},
                      {"/bm25/k1", nullptr, "k1"},  // what a NaN is written as
                      {"/bm25/k1", 1e300, "k1"},
                      {"/bm25/k3", "1", "k3"},
                      {"/bm25/k3", -1, "k3"},
                      {"/bm25/b", 1.01, "b"},
                      {"/bm25/b", true, "b"},
                      {"/bm25/min_normalised_length", -1e-9, "min_normalised_length"},
                      {"/facets", nlohmann::json::object(), "facets"},
                      {"/facets", nlohmann::json::array_t(257, {{"name", "x"}, {"kind", "date"}, {"documents", 1}}),
                       "facets"},
                      {"/facets/1", "section", "facet 1"},
                      {"/facets/1/name", "", "name"},
                      {"/facets/1/name", std::string(65, 's'), "name"},
                      {"/facets/1/name", "year", "name"},  // twice
                      {"/facets/1/name", "z", "name"},     // out of order
                      {"/facets/1/name", 1, "name"},
                      {"/facets/1/kind", "colour", "kind"},
                      {"/facets/1/kind", 0, "kind"},
                      {"/facets/1/documents", 0, "documents"},
                      {"/facets/1/documents", 8, "documents"},
                      {"/facets/1/documents", -1, "documents"},
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
  for (const int version : {1, 2, 4}) {
    other["format_version"] = version;
    const auto read = manifest_from_json(other.dump());
    REQUIRE(!read);
    CHECK(read.error().code == Errc::unsupported);
    CHECK(read.error().context.find("format version " + std::to_string(version)) != std::string::npos);
    CHECK(read.error().context.find("build the index anew") != std::string::npos);
  }
}

TEST_CASE("A folder without an index is not_found") {
  const TemporaryDirectory directory;
  CHECK(read_manifest(directory.path()).error().code == Errc::not_found);
  CHECK(read_manifest(directory.path() / "nowhere").error().code == Errc::not_found);
}

}  // namespace hedgerow::test
