// The program hedgerow-index, as a user's script calls it.
#include <doctest/doctest.h>

#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "temporary_directory.hpp"
#include "tests/places.hpp"

namespace hedgerow::test {

namespace {

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string error;
};

std::string contents_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

struct Shell {
  TemporaryDirectory directory;

  Outcome run(const std::string& arguments) const {
    const std::string errors = (directory.path() / "stderr").string();
    const std::string command = "cd '" + directory.path().string() + "' && '" + test::built_program("hedgerow-index").string() + "' " +
                                arguments + " 2>'" + errors + "'";
    std::FILE* pipe = ::popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    Outcome outcome;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) outcome.out.push_back(static_cast<char>(c));
    outcome.exit_code = WEXITSTATUS(::pclose(pipe));
    outcome.error = contents_of(errors);
    return outcome;
  }

  void write(const std::string& name, const std::string& text) const { std::ofstream(directory.path() / name) << text; }
};

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

constexpr const char* three_documents =
    R"({"id":"one","title":"Green tea","url":"https://example.org/1","text":"tea from the green hills"}
{"id":"two","title":"Black tea","text":"strong tea"}
{"id":"one","title":"again","text":"a duplicate"}
{"id":"three","title":"Coffee","text":"beans"}
)";

}  // namespace

TEST_CASE("An index is built, searched, checked and described from the command line") {
  const Shell shell;
  shell.write("c.jsonl", three_documents);
  const Outcome built = shell.run("build --corpus jsonl:c.jsonl --partitions 2 --out index");
  REQUIRE(built.exit_code == 0);
  const auto summary = nlohmann::json::parse(built.out);
  CHECK(summary["documents"] == 3);
  CHECK(summary["skipped"] == 1);
  CHECK(summary["generation"] == 1);
  CHECK(built.error.find("c.jsonl:3") != std::string::npos);
  CHECK(built.error.find("duplicate") != std::string::npos);

  const Outcome found = shell.run("search index 'green tea' -k 5");
  REQUIRE(found.exit_code == 0);
  const auto answer = nlohmann::json::parse(found.out);
  REQUIRE(answer["hits"].size() == 2);
  CHECK(answer["hits"][0]["rank"] == 1);
  CHECK(answer["hits"][0]["id"] == "one");
  CHECK(answer["hits"][0]["title"] == "Green tea");
  CHECK(answer["hits"][0]["url"] == "https://example.org/1");
  CHECK(answer["hits"][0]["score"].get<double>() > answer["hits"][1]["score"].get<double>());
  CHECK(answer["hits"][1]["id"] == "two");
  CHECK(answer["total"] == nlohmann::json{{"value", 2}, {"relation", "exact"}});
  CHECK(answer["finished"] == "complete");
  CHECK(answer["completeness"]["fraction"] == 1.0);
  CHECK(answer["completeness"]["partitions"] == nlohmann::json{{"total", 2}, {"asked", 2}, {"answered", 2}});
  CHECK(answer["completeness"]["documents"] == nlohmann::json{{"total", 3}, {"searched", 3}});
  CHECK(answer["completeness"]["missing"].empty());
  CHECK(answer["took_ms"].is_number());

  const auto second = nlohmann::json::parse(shell.run("search index 'green tea' -k 5 --offset 1").out);
  REQUIRE(second["hits"].size() == 1);
  CHECK(second["hits"][0]["rank"] == 2);
  CHECK(second["hits"][0]["id"] == "two");

  const Outcome described = shell.run("stats index");
  CHECK(described.exit_code == 0);
  CHECK(nlohmann::json::parse(described.out)["partitions"].size() == 2);
  const auto description = nlohmann::json::parse(described.out);
  CHECK(description["title_weight"] == 3);
  CHECK(description["facets"].empty());
  CHECK(description["spelling_bytes"].get<std::uint64_t>() > 0);
  const Outcome checked = shell.run("verify index");
  CHECK(checked.exit_code == 0);
  CHECK(nlohmann::json::parse(checked.out)["whole"] == true);
}

TEST_CASE("A search from the command line takes synonyms, finds what is like a document, and tells notes") {
  const Shell shell;
  shell.write("corpus.jsonl", three_documents);
  shell.write("synonyms.txt", "espresso, coffee\n");
  shell.write("wrong.txt", "espresso, coffee\nalone\n");
  REQUIRE(shell.run("build --corpus jsonl:corpus.jsonl --out index --partitions 2").exit_code == 0);
  const auto ids = [&](const std::string& arguments) {
    std::string found;
    const auto answer = nlohmann::json::parse(shell.run("search index " + arguments).out);
    for (const auto& hit : answer["hits"]) {
      found += hit["id"].get<std::string>() + " ";
    }
    return found;
  };
  CHECK(ids("espresso").empty());
  CHECK(ids("espresso --synonyms synonyms.txt") == "three ");
  CHECK(ids("--like one") == "two ");
  CHECK(shell.run("search index 'nowhe* tea'").error == "note: no word begins with nowhe\n");
  const Outcome wrong = shell.run("search index tea --synonyms wrong.txt");
  CHECK(wrong.exit_code == 1);
  CHECK(wrong.error.find("wrong.txt:2: ") != std::string::npos);
  CHECK(shell.run("search index --like nobody").exit_code == 1);
  CHECK(shell.run("search index tea --like one").exit_code == 2);
}

TEST_CASE("A search from the command line shows snippets and counts facets where it is asked to") {
  const Shell shell;
  shell.write("c.jsonl", R"({"id":"1","text":"Tea & <i>coffee</i>","section":["drinks","hot"],"year":"2001"}
{"id":"2","text":"Cold tea","section":"drinks","year":"2002"}
)");
  REQUIRE(shell.run("build --corpus jsonl:c.jsonl --partitions 2 --out index").exit_code == 0);
  const auto plain = nlohmann::json::parse(shell.run("search index coffee").out);
  CHECK(!plain["hits"][0].contains("snippet"));
  CHECK(!plain.contains("facets"));

  const auto answer = nlohmann::json::parse(shell.run("search index 'coffee OR tea' -k 1 --snippets --facets auto").out);
  REQUIRE(answer["hits"].size() == 1);
  CHECK(answer["hits"][0]["snippet"] == "<b>Tea</b> &amp; &lt;i&gt;<b>coffee</b>&lt;/i&gt;");
  const nlohmann::json sections = {{"counts", {{{"value", "drinks"}, {"count", 2}}, {{"value", "hot"}, {"count", 1}}}},
                                   {"values", 2},
                                   {"partial", false},
                                   {"cut", false}};
  CHECK(answer["facets"] == nlohmann::json{{"section", sections}});

  const auto named = nlohmann::json::parse(shell.run("search index --facets year,section tea -k 0").out);
  CHECK(named["facets"].size() == 2);
  CHECK(named["facets"]["year"]["values"] == 2);
}

TEST_CASE("Title weight and BM25's parameters change the scores, and stats tells them and the facets") {
  const Shell shell;
  shell.write("c.jsonl", R"({"id":"title","title":"good tea","text":"leaves in water","year":"2001","kind":["drink"]}
{"id":"text","title":"water","text":"tea and tea leaves","year":"1999"}
)");
  const auto first_hit = [&](const std::string& settings, const std::string& out) {
    REQUIRE(shell.run("build --corpus jsonl:c.jsonl --partitions 1 --out " + out + " " + settings).exit_code == 0);
    const Outcome found = shell.run("search " + out + " tea");
    REQUIRE(found.exit_code == 0);
    return nlohmann::json::parse(found.out)["hits"][0]["id"].get<std::string>();
  };
  CHECK(first_hit("--title-weight 1", "a") == "text");
  CHECK(first_hit("--title-weight 9 --k1 1.5 --b 0.25", "b") == "title");
  const auto described = nlohmann::json::parse(shell.run("stats b").out);
  CHECK(described["title_weight"] == 9);
  CHECK(described["bm25"]["k1"] == 1.5);
  CHECK(described["bm25"]["b"] == 0.25);
  CHECK(described["facets"] ==
        nlohmann::json::parse(R"([{"name":"kind","kind":"category","documents":1},
                                  {"name":"year","kind":"number","documents":2}])"));
  // With k1 = 0 only whether a word stands there counts, not how often.
  REQUIRE(shell.run("build --corpus jsonl:c.jsonl --partitions 1 --out c --k1 0").exit_code == 0);
  const auto hits = nlohmann::json::parse(shell.run("search c tea").out)["hits"];
  REQUIRE(hits.size() == 2);
  CHECK(hits[0]["score"] == hits[1]["score"]);
  CHECK(hits[0]["score"].get<double>() > 0);
}

TEST_CASE("A failure is exit code 1 and one line, bad arguments are exit code 2") {
  const Shell shell;
  shell.write("c.jsonl", three_documents);
  REQUIRE(shell.run("build --corpus jsonl:c.jsonl --partitions 1 --out index").exit_code == 0);
  struct Row {
    const char* arguments;
    int exit_code;
  };
  const Row rows[] = {{"search nowhere tea", 1},
                      {"verify nowhere", 1},
                      {"stats nowhere", 1},
                      {"build --corpus jsonl:missing --out other", 1},
                      {"search index ''", 2},
                      {"search index -- -tea", 2},
                      {"search index tea -k -1", 2},
                      {"search index", 2},
                      {"build --corpus nonsense --out other", 2},
                      {"build --corpus jsonl:c.jsonl --out other --partitions 0", 2},
                      {"build --corpus jsonl:c.jsonl --out other --stemmer klingon", 2},
                      {"build --corpus jsonl:c.jsonl --out other --on-error perhaps", 2},
                      {"build --corpus jsonl:c.jsonl --out other --memory 1KiB", 2},
                      {"build --corpus jsonl:c.jsonl --out other --title-weight 0", 2},
                      {"build --corpus jsonl:c.jsonl --out other --title-weight 101", 2},
                      {"build --corpus jsonl:c.jsonl --out other --title-weight 1.5", 2},
                      {"build --corpus jsonl:c.jsonl --out other --k1 -1", 2},
                      {"build --corpus jsonl:c.jsonl --out other --k1 nan", 2},
                      {"build --corpus jsonl:c.jsonl --out other --k1 inf", 2},
                      {"build --corpus jsonl:c.jsonl --out other --b 1.1", 2},
                      {"build --corpus jsonl:c.jsonl --out other --b x", 2},
                      {"frobnicate", 2},
                      {"", 2}};
  for (const Row& row : rows) {
    CAPTURE(row.arguments);
    const Outcome outcome = shell.run(row.arguments);
    CHECK(outcome.exit_code == row.exit_code);
    CHECK(outcome.out.empty());
    CHECK(!outcome.error.empty());
    if (row.exit_code == 1) CHECK(lines_of(outcome.error) == 1);
  }
  const Outcome strict = shell.run("build --corpus jsonl:c.jsonl --out other --on-error stop");
  CHECK(strict.exit_code == 1);
  CHECK(strict.error.find("c.jsonl:3") != std::string::npos);
  CHECK(shell.run("--help").exit_code == 0);
  CHECK(shell.run("build --help").exit_code == 0);
}

TEST_CASE("verify names the damaged file and fails") {
  const Shell shell;
  shell.write("c.jsonl", three_documents);
  REQUIRE(shell.run("build --corpus jsonl:c.jsonl --partitions 1 --out index").exit_code == 0);
  std::filesystem::resize_file(shell.directory.path() / "index/generation-1/partition-0000", 5000);
  const Outcome outcome = shell.run("verify index");
  CHECK(outcome.exit_code == 1);
  CHECK(nlohmann::json::parse(outcome.out)["whole"] == false);
  CHECK(outcome.error.find("generation-1/partition-0000") != std::string::npos);
}

}  // namespace hedgerow::test
