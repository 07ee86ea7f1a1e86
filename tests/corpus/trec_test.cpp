#include <doctest/doctest.h>

#include <filesystem>

#include "corpus/trec_record.hpp"
#include "tests/corpus/files.hpp"

using namespace hedgerow;
using namespace hedgerow::test;

namespace {

using Texts = std::vector<std::string>;

Everything read_trec(const TemporaryFolder& folder, std::string_view bytes, const CorpusSettings& settings = {}) {
  return read_all("trec:" + folder.write("f", bytes), settings);
}

Document parsed(std::string_view record) {
  const auto document = parse_trec_record(record);
  if (!document) FAIL(to_string(document.error()));
  return *document;
}

}  // namespace

TEST_CASE("a newspaper's record: the headline is the title, numbers of files are left out, the rest is text") {
  const Document document = parsed(R"(
<DOCNO> LA010189-0001 </DOCNO>
<DOCID> 1 </DOCID>
<DATE>
<P>
January 1, 1989, Sunday
</P>
</DATE>
<HEADLINE>
<P>
NEW YEAR&apos;S   DAY: A &amp; B
</P>
</HEADLINE>
<TEXT>
<P>
The first paragraph,
of two lines.
</P>
<P>
The <B>sec</B>ond; 1 &lt; 2.
</P>
</TEXT>
)");
  CHECK(document.id == "LA010189-0001");
  CHECK(document.title == "NEW YEAR'S DAY: A & B");
  CHECK(document.text == "January 1, 1989, Sunday\nThe first paragraph,\nof two lines.\nThe second; 1 < 2.");
  CHECK(document.url == "");
}

TEST_CASE("a web record: title and url of the page, without scripts, styles and comments") {
  const Document document = parsed(R"(<DOCNO>GX000-00-0000000</DOCNO>
<DOCHDR>
http://example.gov/a?b=c
HTTP/1.1 200 OK
Content-Type: text/html
</DOCHDR>
<html><head><title>A page</title><style>b {color: red}</style>
<script type="text/javascript">if (1 < 2) document.write("<p>no</p>");</script></head>
<body bgcolor=white>Hello<br>there<!-- not > this --><a href="x">w</a>orld<hr/>end</body></html>
)");
  CHECK(document.id == "GX000-00-0000000");
  CHECK(document.title == "A page");
  CHECK(document.url == "http://example.gov/a?b=c");
  CHECK(document.text == "Hello\nthereworld\nend");
}

TEST_CASE("of several titles the preferred one counts, and no word of the others is lost") {
  CHECK(parsed("<DOCNO>1</DOCNO><HEAD>First head</HEAD><HEAD>Second head</HEAD><TEXT>t</TEXT>").title == "First head");
  CHECK(parsed("<DOCNO>1</DOCNO><HEAD>First head</HEAD><HEAD>Second head</HEAD><TEXT>t</TEXT>").text ==
        "Second head\nt");
  const Document both = parsed("<DOCNO>1</DOCNO><HL>head line</HL><TITLE>title</TITLE><TEXT>t</TEXT>");
  CHECK(both.title == "title");
  CHECK(both.text == "head line\nt");
  CHECK(parsed("<DOCNO>1</DOCNO><H3><TI>Of FBIS</TI></H3><URL>http://x/</URL><TEXT>t").title == "Of FBIS");
  CHECK(parsed("<DOCNO>1</DOCNO><URL> http://x/ </URL><TEXT>t").url == "http://x/");
}

TEST_CASE("elements that are not closed end with the next section, and a lone < is text") {
  const Document open = parsed("<DOCNO> 1\n<HEADLINE>Never closed\n<TEXT>a < b, x <3, <> </ and <unended");
  CHECK(open.id == "1");
  CHECK(open.title == "Never closed");
  CHECK(open.text == "a < b, x <3, <> </ and <unended");
  CHECK(parsed("<DOCNO>1</DOCNO><DOCNO>2</DOCNO><TEXT>t</TEXT>").id == "1");
  CHECK(parsed("<docno>1</docno><text>lower</text>").text == "lower");
  CHECK(parsed("<DOCNO>1</DOCNO>x<script>never closed").text == "x");
  CHECK(parsed("<DOCNO>1</DOCNO></B></TEXT></TITLE>x").text == "x");
  CHECK(parse_trec_record("<TEXT>t</TEXT>").has_error());
}

TEST_CASE("records follow one another, however lines cut them") {
  const TemporaryFolder folder;
  const Everything all = read_trec(folder, "<?xml version=\"1.0\"?>\n<!DOCTYPE x>\n<DOCS>\n"
                                           "<DOC><DOCNO>1</DOCNO><TEXT>one</TEXT></DOC><doc id=\"x\">\r\n"
                                           "<DOCNO>2</DOCNO>two\r\n</doc> <DOC>\n<DOCNO>3</DOCNO>\nthree </DOC>\n"
                                           "</DOCS>\n");
  CHECK(all.error_texts(folder.path()) == Texts{});
  REQUIRE(all.ids() == Texts{"1", "2", "3"});
  CHECK(all.documents[1].text == "two");
  CHECK(all.documents[2].text == "three");
  CHECK(all.progress.fraction == 1.0);
}

TEST_CASE("every malformed record has its error, with its line, and the good ones around it are read") {
  const TemporaryFolder folder;
  const Everything all = read_trec(folder, "words before\n"                               // 1
                                           "<DOC>\n<DOCNO>1</DOCNO>\none\n</DOC>\n"       // 2-5
                                           "<DOC>\n<TEXT>no number</TEXT>\n</DOC>\n"      // 6-8
                                           "<DOC>\n<DOCNO> </DOCNO>\nblank\n</DOC>\n"     // 9-12
                                           "<DOC>\n<DOCNO>open</DOCNO>\nx\n"              // 13-15
                                           "<DOC>\n<DOCNO>2</DOCNO>\ntwo\n</DOC>\n"       // 16-19
                                           "</DOC>\n"                                     // 20
                                           "words between\nand more\n"                    // 21-22
                                           "<DOC><DOCNO>1</DOCNO>again</DOC>\n"           // 23
                                           "<DOC><DOCNO>3</DOCNO><TEXT> </TEXT></DOC>\n"  // 24
                                           "words at the end\n"                           // 25
                                           "<DOC>\n<DOCNO>cut</DOCNO>\nthe end");         // 26-28
  CHECK(all.ids() == Texts{"1", "2"});
  CHECK(all.error_texts(folder.path()) ==
        Texts{"f:1: text outside of any <DOC>", "f:6: no <DOCNO>", "f:9: missing id",
              "f:13: no </DOC> before the next <DOC>, in line 16", "f:20: </DOC> without <DOC>",
              "f:21: text outside of any <DOC>", "f:23: duplicate id '1'",
              "f:24: empty document '3': neither title nor text", "f:25: text outside of any <DOC>",
              "f:26: no </DOC> before the end of the file"});
  for (const ReadError& error : all.errors) CHECK_FALSE(error.fatal);
}

TEST_CASE("a record in a record costs the outer one, which says so") {
  const TemporaryFolder folder;
  const Everything all =
      read_trec(folder, "<DOC><DOCNO>outer</DOCNO>a<DOC><DOCNO>inner</DOCNO>b</DOC>\n</DOC>\n<DOC><DOCNO>2</DOCNO>c</DOC>");
  CHECK(all.ids() == Texts{"inner", "2"});
  CHECK(all.error_texts(folder.path()) ==
        Texts{"f:1: no </DOC> before the next <DOC>, in line 1", "f:2: </DOC> without <DOC>"});
}

TEST_CASE("a record or line beyond the bound is one error, and reading goes on behind it") {
  const TemporaryFolder folder;
  CorpusSettings settings;
  settings.longest_record_bytes = 100;
  std::string many_lines = "<DOC>\n<DOCNO>1</DOCNO>\n";
  for (int i = 0; i < 20; ++i) many_lines += "eight or\n";
  const Everything all = read_trec(folder, many_lines + "</DOC>\n<DOC>\n<DOCNO>2</DOCNO>\n" + std::string(101, 'x') +
                                               "\nlost as well\n</DOC>\n<DOC>\n<DOCNO>3</DOCNO>three\n</DOC>\n",
                                   settings);
  CHECK(all.ids() == Texts{"3"});
  // The newline behind <DOC>, the 17 bytes of the line with the id, and 20 lines of 9.
  CHECK(all.error_texts(folder.path()) == Texts{"f:1: a record of 198 bytes is longer than the 100 allowed",
                                                "f:26: a line of 101 bytes is longer than the 100 allowed"});
}

TEST_CASE("what is not in TREC's form is one error, and an empty file none") {
  const TemporaryFolder folder;
  using namespace std::string_literals;
  std::string noise;
  for (int i = 0; i < 5000; ++i) noise += static_cast<char>(i * 37 % 251);
  for (const std::string& bytes : {"\x7f""ELF\0\0\1\2 and <tags> \n\0\n"s, "{\"id\": 1}\n"s, noise}) {
    const Everything all = read_trec(folder, bytes);
    CHECK(all.documents.empty());
    CHECK(all.error_texts(folder.path()) == Texts{"f: no <DOC> in it: not in TREC's form"});
  }
  CHECK(read_trec(folder, "").errors.empty());
  CHECK(read_trec(folder, "\n\n").errors.empty());
}

TEST_CASE("compressed files read like plain ones, and one that breaks off is a fatal error") {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 3000; ++i) {
    text += "<DOC>\n<DOCNO>" + std::to_string(i) + "</DOCNO>\n<TEXT>" + std::to_string(i * 7919LL * i) + "</TEXT>\n</DOC>\n";
  }
  for (const std::string filter : {"gzip", "compress", "bzip2"}) {
    CAPTURE(filter);
    const std::string bytes = packed(text, filter);
    CHECK(read_trec(folder, bytes).documents.size() == 3000);
  }
  const std::string bytes = packed(text, "gzip");
  const Everything cut = read_trec(folder, bytes.substr(0, bytes.size() / 2));
  CHECK(cut.documents.size() < 3000);
  REQUIRE(cut.errors.size() == 1);
  CHECK(cut.errors[0].fatal);
}

TEST_CASE("a folder is read file by file in the order of names, and a damaged file costs only its own rest") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path("b"));
  const auto record = [](const std::string& id) { return "<DOC><DOCNO>" + id + "</DOCNO>text</DOC>\n"; };
  folder.write("c", record("4") + record("1"));
  folder.write("b/x", record("2"));
  folder.write("b/y.gz", packed(record("3"), "gzip"));
  folder.write("a", record("1"));
  folder.write("b/damaged.gz", packed(record("lost"), "gzip").substr(0, 20));
  folder.write("readme", "Of the collection.\n");
  folder.write(".hidden", record("hidden"));
  const Everything all = read_all("trec:" + folder.path());
  CHECK(all.ids() == Texts{"1", "2", "3", "4"});
  REQUIRE(all.errors.size() == 3);
  const Texts errors = all.error_texts(folder.path());
  CHECK(errors[0].starts_with("b/damaged.gz:1: cannot be read beyond this line: "));
  CHECK(errors[1] == "c:2: duplicate id '1'");
  CHECK(errors[2] == "readme: no <DOC> in it: not in TREC's form");
  for (const ReadError& error : all.errors) CHECK_FALSE(error.fatal);
  CHECK(std::is_sorted(all.fractions.begin(), all.fractions.end()));
  CHECK(all.progress.fraction == 1.0);
}

TEST_CASE("what trec cannot open says why") {
  const TemporaryFolder folder;
  const auto refused = [](const std::string& name) {
    const auto opened = open_corpus(name, {});
    REQUIRE(opened.has_error());
    return to_string(opened.error());
  };
  CHECK(refused("trec") == "invalid_argument: 'trec' needs a file or folder: trec:PATH");
  CHECK(refused("trec:" + folder.path("none")) == "not_found: " + folder.path("none") + ": No such file or directory");
  CHECK(refused("trec:" + folder.path()) == "invalid_argument: " + folder.path() + ": holds no files");
}
