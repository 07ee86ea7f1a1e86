// `hedgerow-lab load` as a user's script calls it, against a real cluster.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lab/latency_file.hpp"
#include "tests/cluster/cluster_fixture.hpp"
#include "tests/cluster/program.hpp"
#include "tests/corpus/files.hpp"

using namespace hedgerow;
using namespace hedgerow::test;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

using LoadArguments = std::vector<std::string>;

// "solo0" to "solo399" find one document each, "common" all of them.
std::string animal_queries() {
  std::string lines = "common\notter\nbadger\n";
  for (int i = 0; i < 47; ++i) lines += "solo" + std::to_string(8 * i) + "\n";
  return lines;
}

struct LoadBench {
  TemporaryFolder folder;
  std::string queries = folder.write("queries", animal_queries());
  TestCluster cluster{{.index = animal_index().directory, .leaves = 4, .replicas = 1}};

  ProgramRun load(LoadArguments more) const {
    LoadArguments arguments{"load", "--target", "http://" + cluster.root_address(), "--deadline", "30s"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(built_program("hedgerow-lab"), std::move(arguments));
  }
  json report(LoadArguments more, int status = 0) const {
    more.push_back("--json");
    const auto run = load(std::move(more));
    CAPTURE(run.output);
    REQUIRE(run.status == status);
    return json::parse(run.output);
  }
};

lab::LatencyFile read_latencies(const std::string& path) {
  auto file = lab::read_latency_file(path);
  REQUIRE_MESSAGE(file.has_value(), to_string(file.error()));
  return std::move(*file);
}

}  // namespace

TEST_CASE("of a whole cluster every answer holds the whole reference, of the index and of the root alike") {
  const LoadBench bench;
  for (const std::string& reference : {animal_index().directory.string(), "http://" + bench.cluster.root_address()}) {
    CAPTURE(reference);
    const auto report = bench.report({"--queries", bench.queries, "--rate", "200", "--duration", "500ms", "--reference", reference, "-k", "5"});
    CHECK(report["recall"]["k"] == 5);
    CHECK(report["recall"]["answers"] == report["status"]["200"]);
    CHECK(report["recall"]["mean"] == 1.0);
    CHECK(report["recall"]["min"] == 1.0);
    CHECK(report["recall"]["complete_but_less"] == 0);
    CHECK(report["estimated_recall"]["mean"] == 1.0);
    CHECK(report["attempts"]["primary"].get<std::uint64_t>() >= 8 * report["status"]["200"].get<std::uint64_t>());
  }
}

TEST_CASE("without a leaf, recall is the share of the reference that the answers still hold, and such a root is no reference") {
  LoadBench bench;
  bench.cluster.act("leaf-1", "kill");
  REQUIRE(bench.cluster.stops_serving("leaf-1", 10s));
  // The 47 queries of one document: its own is there, or it is not.
  const auto lost = bench.cluster.partitions_of("leaf-1");
  const auto report = bench.report({"--queries", bench.queries, "--clients", "2", "--count", "100", "--reference", animal_index().directory.string()});
  // Each of the 50 queries was asked twice; the same once more, by hand.
  double sum = 0;
  for (int i = 0; i < 47; ++i) sum += bench.cluster.search("solo" + std::to_string(8 * i), {{"deadline", "30s"}}).json()["hits"].size() == 1 ? 1 : 0;
  const double of_all = report["recall"]["mean"].get<double>() * 50;
  // "common", "otter" and "badger" each hold between nothing and all of their top ten.
  CHECK(of_all >= sum);
  CHECK(of_all <= sum + 3);
  CHECK(report["recall"]["mean"].get<double>() < 1);
  CHECK(report["recall"]["answers"] == 100);
  CHECK(report["completeness"]["mean"].get<double>() == doctest::Approx(animal_index().fraction_without(lost)));

  CHECK(bench.load({"--queries", bench.queries, "--clients", "1", "--count", "1", "--reference", "http://" + bench.cluster.root_address()}).status == 2);
}

TEST_CASE("nDCG of a load is that of evaluate") {
  const LoadBench bench;
  const std::string queries = bench.folder.write("queries.tsv", "q1\tsolo8\nq2\totter\nq3\tunjudged\n");
  // Document 8 is the only one of its word. Of the even ones, number 8 is somewhere or nowhere among the first ten.
  const std::string qrels = bench.folder.write("qrels", "q1 0 animal-8 1\nq1 0 animal-9 1\nq2 0 animal-8 2\n");
  const auto report = bench.report({"--queries", queries, "--qrels", qrels, "--clients", "1", "--count", "20"});
  const auto evaluated = run_program(built_program("hedgerow-lab"), {"evaluate", "--index", animal_index().directory.string(), "--queries", queries,
                                                                     "--qrels", qrels, "-k", "10", "--json"});
  REQUIRE(evaluated.status == 0);
  CHECK(report["ndcg"]["queries"] == 20);
  CHECK(report["ndcg"]["mean"].get<double>() == doctest::Approx(json::parse(evaluated.output)["measures"]["ndcg_10"].get<double>()).epsilon(1e-4));
}

TEST_CASE("the files of a load hold what its report says, queries and attempts alike") {
  const LoadBench bench;
  const auto path = [&](const char* name) { return bench.folder.path(name); };
  const auto report = bench.report({"--queries", bench.queries, "--rate", "200", "--duration", "1s", "--hgrm", path("hgrm"), "--hlog", path("hlog"),
                                    "--samples", path("samples.csv"), "--attempts", path("attempts.hlog"), "--interval", "100ms"});
  const auto answers = report["status"]["200"].get<std::uint64_t>();
  REQUIRE(answers > 100);
  for (const char* name : {"hgrm", "hlog", "samples.csv"}) {
    CAPTURE(name);
    const auto file = read_latencies(path(name));
    CHECK(file.latencies.count() == answers);
    // A percentiles file is as fine as its lines.
    CHECK(to_milliseconds(file.latencies.at_quantile(0.5)) == doctest::Approx(report["latency_ms"]["p50"].get<double>()).epsilon(0.02));
    CHECK(to_milliseconds(file.latencies.longest()) == doctest::Approx(report["latency_ms"]["max"].get<double>()).epsilon(0.002));
  }
  // Eight partitions a query, no replica to hedge with: every attempt was answered.
  const auto attempts = read_latencies(path("attempts.hlog"));
  CHECK(attempts.latencies.count() == report["attempts"]["primary"].get<std::uint64_t>() + report["attempts"]["retry"].get<std::uint64_t>());
  CHECK(attempts.latencies.longest() <= from_milliseconds(1.01 * report["took_ms"]["max"].get<double>()));
}

TEST_CASE("more connections than the system gives descriptors are refused before anything is sent") {
  const TemporaryFolder folder;
  const std::string command = "exec " + built_program("hedgerow-lab").string() + " load --target http://127.0.0.1:9 --queries " +
                              folder.write("queries", "one\n") + " --rate 10 --duration 100ms --connections ";
  // A soft limit is raised, a hard one is one.
  CHECK(run_program("/bin/sh", {"-c", "ulimit -n 128; " + command + "100"}).status == 2);
  CHECK(run_program("/bin/sh", {"-c", "ulimit -S -n 128; " + command + "100"}).status == 1);  // nobody listens there
}

TEST_CASE("load that can ask nothing ends with 2, and one that is not answered with 1") {
  const TemporaryFolder folder;
  const std::string queries = folder.write("queries", "one\n");
  const auto status = [&](LoadArguments more) {
    LoadArguments arguments{"load", "--target", "http://127.0.0.1:9", "--queries", queries};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(built_program("hedgerow-lab"), std::move(arguments)).status;
  };
  CHECK(status({"--clients", "1", "--count", "3", "--json"}) == 1);
  CHECK(status({}) == 2);
  CHECK(status({"--rate", "10"}) == 2);
  CHECK(status({"--rate", "10", "--duration", "1s", "--clients", "1", "--count", "1"}) == 2);
  CHECK(status({"--clients", "1", "--count", "1", "--hlog", folder.path("nowhere/log")}) == 2);
  CHECK(status({"--clients", "1", "--count", "1", "--param", "novalue"}) == 2);
  CHECK(status({"--clients", "1", "--count", "1", "--as-typed"}) == 2);
  CHECK(status({"--clients", "1", "--count", "1", "--qrels", folder.path("nowhere")}) == 2);
}
