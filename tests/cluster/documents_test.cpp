// One document by its id, and what is like it, through a real root and real leaves.
#include <doctest/doctest.h>

#include <cstdio>

#include "cluster_fixture.hpp"
#include "index/partition_of.hpp"
#include "waiting.hpp"

using namespace hedgerow;
using namespace hedgerow::test;
using namespace std::chrono_literals;

namespace {

using nlohmann::json;

// RFC 3986: everything but what never needs it.
std::string percent_encoded(const std::string& text, const std::string& kept = "") {
  std::string out;
  for (const unsigned char c : text) {
    char code[4];
    std::snprintf(code, sizeof code, "%%%02X", c);
    const bool plain = std::isalnum(c) != 0 || kept.find(static_cast<char>(c)) != std::string::npos;
    out += plain ? std::string(1, static_cast<char>(c)) : code;
  }
  return out;
}

std::string document_target(const std::string& id) { return "/v1/documents/" + percent_encoded(id); }

}  // namespace

TEST_CASE("a document is found by its id, whatever stands in it, with its text, facets and partition") {
  TestCluster cluster({.index = shelf_index().directory, .replicas = 2});
  for (const std::size_t number : {0, 7, 13, 14, 15, 239}) {
    const std::string id = shelf_id(number);
    CAPTURE(id);
    const auto reply = cluster.ask("GET", document_target(id) + "?deadline=20s");
    REQUIRE_MESSAGE(reply.status == 200, reply.body);
    const auto document = reply.json();
    CHECK(document["id"] == id);
    CHECK(document["title"] == "Volume " + std::to_string(number) + " of the library");
    CHECK(document["text"] == "common " + shelf_section(number) + " word" + std::to_string(number) + " <script>alert(\"" +
                                  std::to_string(number) + "\")</script> & more");
    CHECK(document["facets"]["section"] == json{shelf_section(number)});
    CHECK(document["facets"]["year"] == json{std::to_string(1900 + number % 10)});
    CHECK(document["partition"] == partition_of(id, 8).value);
  }
  // Slashes need no code.
  CHECK(cluster.ask("GET", "/v1/documents/" + percent_encoded(shelf_id(14), "/")).json()["id"] == shelf_id(14));
  for (const std::string id : {"shelf/240", "shelf", "shelf/7/", " shelf/7", "Shelf/7", "\xff\xfe"}) {
    CAPTURE(id);
    const auto reply = cluster.ask("GET", document_target(id) + "?deadline=20s");
    CHECK(reply.status == 404);
    CHECK(reply.json()["type"] == "urn:hedgerow:problem:unknown-document");
  }
}

TEST_CASE("a document outlives a replica of its partition, and where none is left the error says why") {
  TestCluster cluster({.index = shelf_index().directory, .replicas = 2, .allow_faults = true, .root_arguments = {"--link-idle-time=1h"}});
  cluster.set_faults("leaf-0", {{{"kind", "error"}, {"work", {"lookup"}}}});
  for (std::size_t i = 0; i < 40; ++i) CHECK(cluster.ask("GET", document_target(shelf_id(i)) + "?deadline=20s").status == 200);
  for (const auto& leaf : cluster.leaves()) cluster.set_faults(leaf, {{{"kind", "error"}, {"work", {"lookup"}}}});
  CHECK(cluster.ask("GET", document_target(shelf_id(1)) + "?deadline=20s").status == 503);
  for (const auto& leaf : cluster.leaves()) cluster.set_faults(leaf, {{{"kind", "late"}, {"delay", "30s"}, {"work", {"lookup"}}}});
  const auto late = cluster.ask("GET", document_target(shelf_id(1)) + "?deadline=100ms");
  CHECK(late.status == 504);
  CHECK(late.json()["type"] == "urn:hedgerow:problem:nothing-in-time");
  CHECK(late.took() >= 100ms);
  CHECK(late.took() < 10s);
}

TEST_CASE("what is like a document shares its words, and is never the document itself") {
  TestCluster cluster({.index = shelf_index().directory, .replicas = 2, .allow_faults = true});
  const auto like = [&](const std::string& id, const lab::SearchParameters& more = {}) {
    std::string target = "/v1/search?like=" + percent_encoded(id) + "&deadline=20s&grace=20s&k=240";
    for (const auto& [name, value] : more) target += "&" + name + "=" + value;
    return cluster.ask("GET", target);
  };
  for (const std::size_t number : {0, 1, 13, 14, 15}) {
    const auto reply = like(shelf_id(number));
    REQUIRE_MESSAGE(reply.status == 200, reply.body);
    const auto answer = reply.json();
    CHECK(answer["finished"] == "complete");
    REQUIRE(answer["hits"].size() >= 79);
    for (const auto& hit : answer["hits"]) CHECK(hit["id"] != shelf_id(number));
    // Those of its section, 79 others, come before all that only share what all have.
    for (std::size_t i = 0; i < 79; ++i) {
      CHECK(answer["hits"][i]["snippet"].get<std::string>().find(shelf_section(number)) != std::string::npos);
    }
    CHECK(answer["subsystems"]["spelling"]["status"] == "ok");
  }
  const auto posted = cluster.ask("POST", "/v1/search", R"({"like": "shelf/1", "deadline": "20s", "facets": "section", "grace": "20s"})");
  REQUIRE(posted.status == 200);
  CHECK(posted.json()["facets"]["section"]["partial"] == false);
  CHECK(like("shelf/240").status == 404);

  cluster.set_faults("leaf-0", {{{"kind", "error"}, {"work", {"lookup"}}}});
  for (std::size_t i = 0; i < 20; ++i) CHECK(like(shelf_id(i)).status == 200);
  for (const auto& leaf : cluster.leaves()) cluster.set_faults(leaf, {{{"kind", "late"}, {"delay", "30s"}, {"work", {"lookup"}}}});
  CHECK(cluster.ask("GET", "/v1/search?like=shelf/1&deadline=100ms").status == 504);
}
