// The root's answer over all partitions is the answer of `hedgerow-index search`: a sample over real processes. (The
// whole comparison, with the engine itself as the reference, is in tests/index.)
#include <doctest/doctest.h>

#include <cmath>
#include <sstream>

#include "cluster_fixture.hpp"
#include "corpus/synthetic.hpp"
#include "program.hpp"
#include "tests/index/query_mixture.hpp"
#include "waiting.hpp"

using namespace hedgerow;
using namespace hedgerow::test;

namespace {

// Common words of the synthetic collection, and words that stand side by side in its documents.
QueryMaterial synthetic_material() {
  QueryMaterial material;
  for (std::uint64_t number = 1; number <= 40; ++number) {
    std::istringstream text(synthetic_document(1, number).text);
    std::string before, word;
    while (text >> word) {
      for (auto& letter : word) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
      if (word.ends_with('.')) word.pop_back();
      material.words.push_back(word);
      if (!before.empty()) material.neighbours.emplace_back(before, word);
      before = word;
    }
  }
  return material;
}

}  // namespace

TEST_CASE("a cluster's hits are those of one process over the same index: documents, order and scores") {
  const std::size_t queries = count_from_environment("HEDGEROW_EXACT_QUERIES", under_sanitizer ? 60 : 150);
  TestCluster cluster({.replicas = 2});
  QueryMixture mixture(synthetic_material(), 20'260'217);
  constexpr std::uint32_t ks[] = {1, 3, 10, 30};
  std::size_t hits = 0, refused = 0;
  for (std::size_t i = 0; i < queries; ++i) {
    const std::string query = mixture.next();
    const std::string k = std::to_string(ks[i % 4]);
    const std::string offset = std::to_string(i % 5 == 4 ? 7 * (i % 3) : 0);
    CAPTURE(query);
    CAPTURE(k);
    CAPTURE(offset);
    const auto reply = cluster.search(query, {{"k", k}, {"offset", offset}, {"deadline", "30s"}});
    const auto expected = run_program(built_program("hedgerow-index"),
                                      {"search", "--json", "-k", k, "--offset", offset, "--",
                                       synthetic_index().directory.string(), query});
    if (expected.status != 0) {
      ++refused;
      CHECK(reply.status == 400);
      continue;
    }
    REQUIRE(reply.status == 200);
    const auto answer = reply.json(), reference = nlohmann::json::parse(expected.output);
    CHECK(answer["finished"] == "complete");
    REQUIRE(answer["hits"].size() == reference["hits"].size());
    for (std::size_t rank = 0; rank < answer["hits"].size(); ++rank) {
      const auto &ours = answer["hits"][rank], &theirs = reference["hits"][rank];
      REQUIRE(ours["id"] == theirs["id"]);
      REQUIRE(ours["rank"] == theirs["rank"]);
      REQUIRE(ours["title"] == theirs["title"]);
      REQUIRE(ours["url"] == theirs["url"]);
      const double score = ours["score"], wanted = theirs["score"];
      REQUIRE(std::abs(score - wanted) <= 1e-9 * std::abs(wanted));
      ++hits;
    }
  }
  MESSAGE(queries, " queries, ", refused, " refused by both, ", hits, " hits compared");
  CHECK(hits >= queries);
  CHECK(refused <= queries / 5);
}
