// Queries, judgements and runs: the files of test collections.
#include <doctest/doctest.h>

#include <sstream>

#include "lab/qrels.hpp"
#include "lab/queries_file.hpp"
#include "lab/run_file.hpp"
#include "tests/corpus/files.hpp"

using namespace hedgerow;
using namespace hedgerow::lab;
using hedgerow::test::TemporaryFolder;

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs queries_in(const TemporaryFolder& folder, std::string_view bytes) {
  const auto read = read_test_queries(folder.write("f", bytes));
  if (!read) return {{"error", read.error().context.substr(folder.path().size())}};
  Pairs pairs;
  for (const TestQuery& query : *read) pairs.emplace_back(query.id, query.text);
  return pairs;
}

std::string qrels_error(const TemporaryFolder& folder, std::string_view bytes) {
  const auto read = read_qrels(folder.write("f", bytes));
  return read ? "" : read.error().context.substr(folder.path().size());
}

}  // namespace

TEST_CASE("queries are read from columns, from BEIR's JSON lines and from TREC topics") {
  const TemporaryFolder folder;
  const Pairs expected{{"1", "0-dimensional \"biomaterials\""}, {"3", "1,000 genomes"}};
  CHECK(queries_in(folder, "1\t0-dimensional \"biomaterials\"\r\n\n3\t 1,000 genomes ") == expected);
  CHECK(queries_in(folder, "qid\ttext\n1\t0-dimensional \"biomaterials\"\n3\t1,000 genomes\n") == expected);
  CHECK(queries_in(folder, "{\"_id\": \"1\", \"text\": \"0-dimensional \\\"biomaterials\\\"\", \"metadata\": {}}\n"
                           "{\"text\": \"1,000 genomes\", \"id\": 3}\n") == expected);
  CHECK(queries_in(folder, "<top>\n<num> Number: 401\n<title> foreign minorities, Germany\n\n<desc> Description:\n"
                           "What?\n<narr> Narrative:\nMore.\n</top>\n"
                           "<top>\n<num> 402 </num>\n<title>\nbehavioral\ngenetics\n<desc>\nx\n</top>\n"
                           "<top><!-- one line -->\n<num>403</num>\n<title>osteo</title>\n</top>\n") ==
        Pairs{{"401", "foreign minorities, Germany"}, {"402", "behavioral genetics"}, {"403", "osteo"}});
}

TEST_CASE("a query that cannot be read is an error that names its line") {
  const TemporaryFolder folder;
  struct Row {
    std::string bytes, error;
  };
  const Row rows[] = {
      {"1\tone\n2 two\n", "f:2: no tab between id and text"},
      {"1\tone\n1\tagain\n", "f:2: query '1' was there before"},
      {"1\tone\n\ttwo\n", "f:2: a query without id"},
      {"1\t \n", "f:1: query '1' has no text"},
      {"{\"_id\": \"1\", \"text\": \"x\"}\n[1]\n", "f:2: not a JSON object"},
      {"{\"_id\": \"1\", \"text\": \"x\"}\n{\"_id\": \"1\"\n", "f:2: not a JSON object"},
      {"{\"_id\": 1.5, \"text\": \"x\"}\n", "f:1: a query without id"},
      {"{\"_id\": \"1\", \"text\": 7}\n", "f:1: query '1' has no text"},
      {"<top>\n<num>1\n</top>\n", "f:3: query '1' has no text"},
      {"\n", "f: holds no queries"},
      {"id\ttext\n", "f: holds no queries"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.bytes);
    CHECK(queries_in(folder, row.bytes) == Pairs{{"error", row.error}});
  }
  CHECK(read_test_queries(folder.path("none")).error().code == Errc::not_found);
}

TEST_CASE("judgements are read in TREC's four columns and in BEIR's three") {
  const TemporaryFolder folder;
  const auto trec = read_qrels(folder.write("f", "1 0 31715818 1\n1\tQ0\tD-2   0 \r\n\n7 0 D-2 -1\n1 0 31715818 1\n"));
  REQUIRE(trec.has_value());
  CHECK(*trec == Qrels{{"1", {{"31715818", 1}, {"D-2", 0}}}, {"7", {{"D-2", -1}}}});
  const auto beir = read_qrels(folder.write("f", "query-id\tcorpus-id\tscore\n1\t31715818\t2\n2\tx\t1\n"));
  REQUIRE(beir.has_value());
  CHECK(*beir == Qrels{{"1", {{"31715818", 2}}}, {"2", {{"x", 1}}}});
}

TEST_CASE("a judgement that cannot be read is an error that names its line") {
  const TemporaryFolder folder;
  CHECK(qrels_error(folder, "1 0 d 1\n1 0 e\n") == "f:2: 3 columns in place of query, iteration, document, grade");
  CHECK(qrels_error(folder, "1\td\t1\n") == "f:1: 3 columns in place of query, iteration, document, grade");
  CHECK(qrels_error(folder, "query-id corpus-id score\n1 0 d 1\n") ==
        "f:2: 4 columns in place of query, document, grade");
  CHECK(qrels_error(folder, "1 0 d high\n") == "f:1: the grade 'high' is not a whole number");
  CHECK(qrels_error(folder, "1 0 d 0.5\n") == "f:1: the grade '0.5' is not a whole number");
  CHECK(qrels_error(folder, "1 0 d 99999999999\n") == "f:1: the grade '99999999999' is not a whole number");
  CHECK(qrels_error(folder, "1 0 d 1\n1 0 d 2\n") == "f:2: document 'd' was given grade 1 before");
  CHECK(qrels_error(folder, "\n") == "f: holds no judgements");
}

TEST_CASE("a query's words alone hold nothing that is an operator") {
  struct Row {
    std::string text, words;
  };
  const Row rows[] = {{"0-dimensional \"bio\" (x):y* +a -b", "0 dimensional bio x y a b"},
                      {"A NOT b AND c OR d XOR e NEAR f ADJ g", "A not b and c or d xor e near f adj g"},
                      {"ANDROID NOTE", "ANDROID NOTE"},
                      {"na\u00efve caf\u00e9", "na\u00efve caf\u00e9"},
                      {"title:x ~ !", "title x"},
                      {"...", ""}};
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(plain_words(row.text) == row.words);
  }
}

TEST_CASE("a run ranks the same by its scores as by its ranks, whatever the scores were") {
  const std::string lines =
      run_lines("q 1", {{"a", 3.5}, {"b c", 3.5}, {"d", 3.5000000001}, {"e", 7}, {"f", 1}, {"", -1}}, "my tag");
  std::istringstream in(lines);
  std::string query, q0, document, tag;
  double last = 1e9;
  std::size_t rank = 0, expected_rank = 0;
  float score = 0;
  std::vector<std::string> documents;
  while (in >> query >> q0 >> document >> rank >> score >> tag) {
    CHECK(query == "q_1");
    CHECK(q0 == "Q0");
    CHECK(rank == ++expected_rank);
    CHECK(tag == "my_tag");
    CHECK(score < last);
    last = score;
    documents.push_back(document);
  }
  CHECK(documents == std::vector<std::string>{"a", "b_c", "d", "e", "f", "_"});
  CHECK(lines.starts_with("q_1 Q0 a 1 3.5 my_tag\n"));
  CHECK(lines.find(" f 5 1 my_tag\n") != std::string::npos);
  CHECK(run_lines("q", {}, "t") == "");
}
