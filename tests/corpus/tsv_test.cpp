#include <doctest/doctest.h>

#include "tests/corpus/files.hpp"

using namespace hedgerow;
using namespace hedgerow::test;

namespace {

using Texts = std::vector<std::string>;

Everything read_tsv(const TemporaryFolder& folder, std::string_view bytes, const CorpusSettings& settings = {}) {
  return read_all("tsv:" + folder.write("f", bytes), settings);
}

}  // namespace

TEST_CASE("without a heading, the number of columns says what they are") {
  const TemporaryFolder folder;
  struct Row {
    std::string line;
    Document document;
  };
  const Row rows[] = {
      {"7\tThe presence of communication.\n", {"7", "", "", "The presence of communication.", {}}},
      {"7\tA title\tA text\n", {"7", "A title", "", "A text", {}}},
      {"D7\thttps://example.org/\tA title\tA text\n", {"D7", "A title", "https://example.org/", "A text", {}}},
      {"7\t\tonly text\n", {"7", "", "", "only text", {}}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.line);
    const Everything all = read_tsv(folder, row.line);
    REQUIRE(all.documents.size() == 1);
    CHECK(all.documents[0] == row.document);
    CHECK(all.errors.empty());
  }
}

TEST_CASE("a heading names the columns, in any order, and what it does not know are facets") {
  const TemporaryFolder folder;
  const Everything all = read_tsv(folder, "DocID\tyear\tText\tURL\ttitle\t\n"
                                          "a\t1999\twords\thttp://a/\tA\tignored\n"
                                          "b\t\tmore words\t\t\t\n");
  CHECK(all.errors.empty());
  REQUIRE(all.documents.size() == 2);
  CHECK(all.documents[0] == Document{"a", "A", "http://a/", "words", {{"year", {"1999"}}}});
  CHECK(all.documents[1] == Document{"b", "", "", "more words", {}});
  for (const std::string id : {"id", "_id", "docno", "doc_id", "pid"}) {
    CAPTURE(id);
    CHECK(read_tsv(folder, id + "\tcontents\n1\tx\n").ids() == Texts{"1"});
  }
}

TEST_CASE("quotes and backslashes are plain characters") {
  const TemporaryFolder folder;
  const Everything all = read_tsv(folder, "\"1\"\t\"He said \"\"no\"\" \\t and left\n2\t'x\n");
  REQUIRE(all.ids() == Texts{"\"1\"", "2"});
  CHECK(all.documents[0].text == "\"He said \"\"no\"\" \\t and left");
}

TEST_CASE("bad lines name file and line, and the good ones around them are read") {
  const TemporaryFolder folder;
  const Everything all = read_tsv(folder, "1\tone\n"
                                          "2\n"
                                          "3\tthree\tand more\n"
                                          "\n"
                                          "\tno id\n"
                                          "1\tagain\n"
                                          "4\t \n"
                                          "5\tfive");
  CHECK(all.ids() == Texts{"1", "5"});
  CHECK(all.error_texts(folder.path()) ==
        Texts{"f:2: 1 column in place of 2", "f:3: 3 columns in place of 2", "f:5: missing id",
              "f:6: duplicate id '1'", "f:7: empty document '4': neither title nor text"});
  for (const ReadError& error : all.errors) CHECK_FALSE(error.fatal);
}

TEST_CASE("a first line of no known form is a fatal error that says which there are") {
  const TemporaryFolder folder;
  const auto only_error = [&](std::string_view bytes) {
    const Everything all = read_tsv(folder, bytes);
    CHECK(all.documents.empty());
    REQUIRE(all.errors.size() == 1);
    CHECK(all.errors[0].fatal);
    return all.error_texts(folder.path())[0];
  };
  const std::string forms = "; without a heading, there are 2 (id, text), 3 (id, title, text) or 4 (id, url, title, text)";
  CHECK(only_error("id,text\n1,x\n") == "f:1: the first line has 1 column" + forms);
  CHECK(only_error("\n1\t2\t3\t4\t5\n1\tx\n") == "f:2: the first line has 5 columns" + forms);
  CHECK(only_error("id\tyear\n1\t2\n") == "f:1: the heading names neither title nor text");
  CHECK(only_error("id\ttext\tyear\tYear\n") == "f:1: the heading has two columns 'Year'");
  CHECK(only_error("id\ttext\tbody\n") == "f:1: the heading has two columns 'text'");
  CHECK(only_error("1" + std::string(5000, '\t')) == "f:1: the first line has 5001 columns");
}

TEST_CASE("CR LF, a byte order mark, an empty file and a heading alone are ordinary") {
  const TemporaryFolder folder;
  const Everything all = read_tsv(folder, "\xef\xbb\xbfid\ttext\r\n1\tone\r\n");
  REQUIRE(all.ids() == Texts{"1"});
  CHECK(all.documents[0].text == "one");
  for (const std::string bytes : {"", "\n\n", "id\ttext\n"}) {
    CAPTURE(bytes);
    const Everything none = read_tsv(folder, bytes);
    CHECK(none.documents.empty());
    CHECK(none.errors.empty());
    CHECK(none.progress.fraction == 1.0);
  }
}

TEST_CASE("a compressed table reads like the plain one, a cut one ends in a fatal error, and a long line is one error") {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 3000; ++i) text += std::to_string(i) + "\t" + std::to_string(i * 7919LL * i) + "\n";
  const std::string bytes = packed(text, "gzip");
  CHECK(read_tsv(folder, bytes).documents.size() == 3000);
  const Everything cut = read_tsv(folder, bytes.substr(0, bytes.size() / 2));
  REQUIRE(cut.errors.size() == 1);
  CHECK(cut.errors[0].fatal);

  CorpusSettings settings;
  settings.longest_record_bytes = 20;
  const Everything all = read_tsv(folder, "1\tone\n2\t" + std::string(30, 'x') + "\n3\tthree\n", settings);
  CHECK(all.ids() == Texts{"1", "3"});
  CHECK(all.error_texts(folder.path()) == Texts{"f:2: a line of 32 bytes is longer than the 20 allowed"});
}
