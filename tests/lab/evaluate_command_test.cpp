// `hedgerow-lab evaluate` as a user's script calls it, over an index in its own process.
#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cluster/program.hpp"
#include "tests/corpus/files.hpp"

using namespace hedgerow::test;
using nlohmann::json;

namespace {

using EvaluateArguments = std::vector<std::string>;

// Four documents, of which "tea" finds two, and "coffee" one.
struct Collection {
  TemporaryFolder folder;
  std::string index = folder.path("index");

  Collection() {
    const std::string corpus = folder.write("corpus.tsv",
                                            "1\tgreen tea, and tea again\n2\tblack tea from the hills\n"
                                            "3\tcoffee\n4\tcocoa\n");
    const auto build = run_program(built_program("hedgerow-index"),
                                   {"build", "--corpus", "tsv:" + corpus, "--partitions", "2", "--out", index});
    REQUIRE(build.status == 0);
  }

  ProgramRun evaluate(const std::string& queries, const std::string& qrels, EvaluateArguments more = {}) const {
    EvaluateArguments arguments{"evaluate", "--queries", folder.write("queries", queries),
                        "--qrels",  folder.write("qrels", qrels),
                        "--index",  index};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(built_program("hedgerow-lab"), std::move(arguments));
  }
};

}  // namespace

TEST_CASE("evaluate prints the measures, writes the run, and ends with 0") {
  const Collection collection;
  const std::string run = collection.folder.path("run");
  const auto evaluated =
      collection.evaluate("q1\ttea\nq2\tcoffee\nq3\tnowhere\nq4\tcocoa\n", "q1 0 2 1\nq2 0 3 1\nq3 0 4 1\nq5 0 1 1\n",
                          {"--json", "--run", run, "--tag", "test"});
  CHECK(evaluated.status == 0);
  const json report = json::parse(evaluated.output);
  CAPTURE(evaluated.output);
  CHECK(report["queries"] == json({{"judged", 3},
                                   {"answered", 3},
                                   {"failed", 0},
                                   {"without_hits", 1},
                                   {"without_judgements", 1},
                                   {"judged_without_text", 1}}));
  // Document 1 holds tea twice and comes first, so q1 finds its document at rank 2.
  CHECK(report["measures"]["mrr"].get<double>() == doctest::Approx(0.5));
  CHECK(report["measures"]["recall_100"].get<double>() == doctest::Approx(2.0 / 3).epsilon(1e-5));
  CHECK(report["completeness"]["mean"] == 1.0);

  std::string lines = contents(run);
  CHECK(lines.starts_with("q1 Q0 1 1 "));
  CHECK(lines.find("\nq1 Q0 2 2 ") != std::string::npos);
  CHECK(lines.find("\nq2 Q0 3 1 ") != std::string::npos);
  CHECK(lines.ends_with(" test\n"));
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 3);

  const auto table = collection.evaluate("q1\ttea\n", "q1 0 1 1\n");
  CHECK(table.output.find("\nnDCG@10       1.0000\n") != std::string::npos);
}

TEST_CASE("a query that cannot be answered counts 0, and evaluate ends with 1") {
  const Collection collection;
  std::string long_query;
  for (int i = 0; i < 3000; ++i) long_query += "tea ";
  const auto evaluated = collection.evaluate("q1\ttea\nq2\t" + long_query + "\n", "q1 0 1 1\nq2 0 1 1\n", {"--json"});
  CHECK(evaluated.status == 1);
  const json report = json::parse(evaluated.output);
  CHECK(report["failures"] == json({{"too_large", 1}}));
  CHECK(report["measures"]["mrr"] == 0.5);
  // A run that cannot be written is a failure, too.
  CHECK(collection.evaluate("q1\ttea\n", "q1 0 1 1\n", {"--run", collection.folder.path("none/run")}).status == 1);
}

TEST_CASE("only the words of a query are asked, and operators are operators where it is asked as typed") {
  const Collection collection;
  const auto found = [&](const EvaluateArguments& more) {
    EvaluateArguments arguments{"--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json::parse(collection.evaluate("q1\tcoffee -tea AND (tea)\n", "q1 0 3 1\n", arguments).output)["measures"]
                      ["recall_100"];
  };
  CHECK(found({}) == 1.0);
  CHECK(found({"--as-typed"}) == 0.0);
}

TEST_CASE("evaluate ends with 2 where nothing can be measured") {
  const Collection collection;
  CHECK(collection.evaluate("q1\ttea\n", "other 0 1 1\n").status == 2);
  CHECK(collection.evaluate("q1 tea\n", "q1 0 1 1\n").status == 2);
  CHECK(collection.evaluate("q1\ttea\n", "q1 0 1\n").status == 2);
  CHECK(collection.evaluate("q1\ttea\n", "q1 0 1 1\n", {"--target", "http://127.0.0.1:1"}).status == 2);
  CHECK(collection.evaluate("q1\ttea\n", "q1 0 1 1\n", {"--clients", "2"}).status == 2);
  CHECK(collection.evaluate("q1\ttea\n", "q1 0 1 1\n", {"-k", "0"}).status == 2);
  const auto program = built_program("hedgerow-lab");
  const std::string queries = collection.folder.write("queries", "q1\ttea\n");
  const std::string qrels = collection.folder.write("qrels", "q1 0 1 1\n");
  CHECK(run_program(program, {"evaluate", "--queries", queries, "--qrels", qrels}).status == 2);
  CHECK(run_program(program, {"evaluate", "--queries", queries, "--qrels", qrels, "--index",
                              collection.folder.path("none")}).status == 2);
  CHECK(run_program(program, {"evaluate", "--queries", collection.folder.path("none"), "--qrels", qrels, "--index",
                              collection.index}).status == 2);
}
