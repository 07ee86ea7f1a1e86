// Estimated recall against the recall of partial answers, over two thousand of them.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "base/random.hpp"
#include "corpus/synthetic.hpp"
#include "recall_calibration.hpp"
#include "tests/cluster/program.hpp"
#include "tests/index/temporary_directory.hpp"
#include "tests/places.hpp"

using namespace hedgerow;
using namespace hedgerow::test;

namespace {

void build(const std::string& corpus, const std::filesystem::path& directory) {
  const auto built = run_program(built_program("hedgerow-index"),
                                 {"build", "--corpus", corpus, "--partitions", "16", "--out", directory.string()});
  REQUIRE(built.status == 0);
}

// In five bins of the estimate, each bin's mean within 0.03 of what was measured (small bins have chance of their own: a
// standard deviation of a recall@10 is some 0.15), and at least a tenth better than the share of documents.
void check(const RecallCalibration& calibration) {
  INFO(to_text(calibration));
  CHECK(calibration.answers >= 2000);
  for (const RecallBin& bin : calibration.bins) {
    CHECK(bin.answers >= 200);
    CHECK(std::abs(bin.estimated - bin.measured) <= 0.03);
  }
  CHECK(calibration.error <= 0.9 * calibration.error_of_documents);
}

}  // namespace

TEST_CASE("estimated recall is honest, and better than the share of documents, on short queries of SciFact") {
  const std::string corpus = test::source_path("../shared/collections/scifact/corpus.jsonl");
  if (!std::filesystem::exists(corpus)) {
    std::puts("SKIPPED: the SciFact collection is not here");
    return;
  }
  std::vector<std::vector<std::string>> documents;
  std::ifstream file(corpus);
  const std::regex word("[a-z]{2,}");
  for (std::string line; std::getline(file, line);) {
    const auto text = nlohmann::json::parse(line)["text"].get<std::string>();
    documents.emplace_back(std::sregex_token_iterator(text.begin(), text.end(), word), std::sregex_token_iterator());
    if (documents.back().size() < 10) documents.pop_back();
  }
  // One to four words, half of the queries from one document, half from anywhere.
  Random random(9);
  const auto any_word = [&](const std::vector<std::string>& words) { return words[random.below(words.size())]; };
  std::vector<std::string> queries;
  for (int i = 0; i < 1100; ++i) {
    const auto& one = documents[random.below(documents.size())];
    const bool from_one = random.chance(0.5);
    std::string query;
    for (auto words = 1 + random.below(4); words > 0; --words) {
      query += (query.empty() ? "" : " ") + any_word(from_one ? one : documents[random.below(documents.size())]);
    }
    queries.push_back(query);
  }
  const TemporaryDirectory index;
  build("jsonl:" + corpus, index.path());
  check(calibrate_recall(index.path(), queries, 2, 1));
}

TEST_CASE("estimated recall is honest, and better than the share of documents, on made-up words") {
  Random random(4);
  std::vector<std::string> queries;
  for (int i = 0; i < 1100; ++i) {
    std::string query;
    for (auto words = 1 + random.below(4); words > 0; --words) {
      // As many rare words as common ones.
      const auto rank = static_cast<std::uint64_t>(std::exp(std::log(30.0) + random.uniform() * std::log(1000.0)));
      query += (query.empty() ? "" : " ") + synthetic_word(rank);
    }
    queries.push_back(query);
  }
  const TemporaryDirectory index;
  build("synthetic:8000", index.path());
  check(calibrate_recall(index.path(), queries, 2, 1));
}
