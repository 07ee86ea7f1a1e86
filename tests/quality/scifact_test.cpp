// The quality that the project promises, on SciFact: measured as a user would, with the defaults of every program.
#include <doctest/doctest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "lab/evaluate.hpp"
#include "tests/cluster/cluster_fixture.hpp"
#include "tests/cluster/program.hpp"
#include "tests/index/temporary_directory.hpp"
#include "tests/places.hpp"

using namespace hedgerow;
using namespace hedgerow::lab;
using namespace hedgerow::test;
namespace asio = boost::asio;

namespace {

const std::string folder = test::source_path("../shared/collections/scifact/");

bool is_missing() {
  if (std::filesystem::exists(folder + "corpus.jsonl")) return false;
  std::puts("SKIPPED: the SciFact collection is not here");
  return true;
}

void build(const std::filesystem::path& directory) {
  const auto built = run_program(built_program("hedgerow-index"),
                                 {"build", "--corpus", "jsonl:" + folder + "corpus.jsonl", "--out", directory.string()});
  REQUIRE(built.status == 0);
}

std::vector<TestQuery> queries(bool words_alone) {
  auto read = read_test_queries(folder + "queries.tsv");
  REQUIRE(read.has_value());
  REQUIRE(read->size() == 300);
  if (words_alone) {
    for (TestQuery& query : *read) query.text = plain_words(query.text);
  }
  return *read;
}

Evaluation evaluation_of(const std::vector<TestQuery>& asked, const std::vector<QueryOutcome>& outcomes) {
  const auto qrels = read_qrels(folder + "qrels.txt");
  REQUIRE(qrels.has_value());
  REQUIRE(outcomes.size() == asked.size());
  Evaluation evaluation("SciFact", 100);
  for (std::size_t i = 0; i < asked.size(); ++i) evaluation.record(asked[i], outcomes[i], *qrels);
  return evaluation;
}

std::vector<QueryOutcome> ask(const EvaluateSettings& settings, const std::vector<TestQuery>& asked) {
  asio::io_context context(1);
  std::optional<result<std::vector<QueryOutcome>>> end;
  asio::co_spawn(context, ask_root(settings, asked),
                 [&](std::exception_ptr problem, result<std::vector<QueryOutcome>> value) {
                   if (problem) std::rethrow_exception(problem);
                   end = std::move(value);
                 });
  context.run();
  REQUIRE(end);
  REQUIRE(end->has_value());
  return std::move(**end);
}

}  // namespace

TEST_CASE("on SciFact, nDCG@10 is at least 0.69 and recall@100 at least 0.914, with the defaults") {
  if (is_missing()) return;
  const TemporaryDirectory directory;
  build(directory.path());
  const auto plain = queries(true);
  const auto outcomes = ask_index(directory.path(), plain, 100);
  REQUIRE(outcomes.has_value());
  const Evaluation words = evaluation_of(plain, *outcomes);
  MESSAGE(words.to_text());
  CHECK(words.judged() == 300);
  CHECK(words.failed() == 0);
  CHECK(words.mean().ndcg_10 >= 0.69);
  CHECK(words.mean().recall_100 >= 0.914);

  // As they are typed: hyphens make phrases, and everything else is read as a person's query is.
  const auto typed = queries(false);
  const auto typed_outcomes = ask_index(directory.path(), typed, 100);
  REQUIRE(typed_outcomes.has_value());
  const Evaluation sentences = evaluation_of(typed, *typed_outcomes);
  MESSAGE(sentences.to_text());
  CHECK(sentences.failed() == 0);
  CHECK(sentences.mean().ndcg_10 >= 0.69);
  CHECK(sentences.mean().recall_100 >= 0.90);
}

TEST_CASE("a cluster's answers are as good as the index's, and half of the partitions cost what evaluate shows") {
  if (is_missing()) return;
  const TemporaryDirectory directory;
  build(directory.path());
  const auto plain = queries(true);
  const auto local_outcomes = ask_index(directory.path(), plain, 100);
  REQUIRE(local_outcomes.has_value());
  const Evaluation local = evaluation_of(plain, *local_outcomes);

  ClusterOptions options;
  options.index = directory.path();
  options.leaves = 2;
  const TestCluster cluster(options);
  EvaluateSettings settings;
  settings.target = cluster.root_address();
  // Time enough on any machine: how late answers are is not the question here.
  settings.parameters = {{"deadline", "50s"}};
  const Evaluation whole = evaluation_of(plain, ask(settings, plain));
  CHECK(whole.failed() == 0);
  CHECK(whole.mean() == local.mean());
  CHECK(whole.to_json()["completeness"]["min"] == 1.0);

  settings.parameters.emplace_back("fanout", "8");
  const Evaluation half = evaluation_of(plain, ask(settings, plain));
  CHECK(half.failed() == 0);
  const double completeness = half.to_json()["completeness"]["mean"];
  CHECK(completeness > 0.45);
  CHECK(completeness < 0.55);
  // Documents lie in partitions by the hash of their ids, so half of the partitions hold about half of the judged ones.
  CHECK(half.mean().recall_100 > 0.3 * whole.mean().recall_100);
  CHECK(half.mean().recall_100 < 0.7 * whole.mean().recall_100);
}
