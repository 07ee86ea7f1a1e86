#include <doctest/doctest.h>

#include <fstream>

#include "base/random.hpp"
#include "tests/corpus/laws.hpp"
#include "tests/places.hpp"

using namespace std::string_literals;
using namespace hedgerow;
using namespace hedgerow::test;

namespace {

using Texts = std::vector<std::string>;

const std::string sample_path = test::source_path("tests/corpus/data/mini-wiki.xml");

const Document hedgerow_page{"12",
                             "Hedgerow",
                             "https://garden.example/wiki/Hedgerow",
                             "A hedge or hedgerow is a line of closely spaced shrubs and sometimes trees, planted and "
                             "trained to form a barrier. "
                             "See the survey of 1994 for caf\xc3\xa9 gardens & lanes.\n"
                             "\n"
                             "History\n"
                             "\n"
                             "The word hedge occurs in English place names. Kategorie:Farming tells more.\n"
                             "Roman farms\n"
                             "Saxon farms\n"
                             "Devon banks\n"
                             "and ditches\n"
                             "\n"
                             "Lengths\n"
                             "\n"
                             "Lengths of hedges\n"
                             "Country Kilometres\n"
                             "England 402000\n"
                             "Wales\n"
                             "88000\n"
                             "\n"
                             "The mark '''three apostrophes''' is bold.",
                             {{"category", {"Hedges", "Farming"}}, {"modified", {"2024-03-05T17:40:12Z"}}}};

const Document german_page{"16",
                           "C&A: \xc3\x84mter \"?\" #1/2",
                           "https://garden.example/wiki/C%26A:_%C3%84mter_%22%3F%22_%231/2",
                           "Zweite Fassung f\xc3\xbcr \xe7\x94\x9f\xe5\x9e\xa3.",
                           {{"modified", {"2021-05-06T07:08:09Z"}}}};

// A page with a title, an id and a text, and whatever else is put before its revision.
std::string page(const std::string& title, const std::string& id, const std::string& text,
                 const std::string& more = "") {
  return "<page><title>" + title + "</title>" + more + "<id>" + id + "</id><revision><text>" + text +
         "</text></revision></page>\n";
}
std::string dump(const std::string& inside) { return "<mediawiki>\n" + inside + "</mediawiki>\n"; }

Everything read_dump(const TemporaryFolder& folder, std::string_view bytes, const CorpusSettings& settings = {}) {
  Everything all = read_all("wikipedia:" + folder.write("f", bytes), settings);
  check_promises(all);
  return all;
}

std::uint64_t peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
  }
  return 0;
}

}  // namespace

TEST_CASE("the articles of a dump are its documents: number, title, address, text, categories, time, plain or packed") {
  const TemporaryFolder folder;
  const std::string bytes = contents(sample_path);
  for (const std::string filter : {"none", "bzip2", "gzip", "xz", "zstd"}) {
    CAPTURE(filter);
    const Everything all = read_dump(folder, packed(bytes, filter));
    REQUIRE(all.documents.size() == 2);
    CHECK(all.documents[0] == hedgerow_page);
    CHECK(all.documents[1] == german_page);
    CHECK(all.errors.empty());
    CHECK(all.progress.repaired == 0);
    CHECK(all.progress.fraction == 1.0);
    CHECK(all.notes == Texts{"redirects passed over: 1",
                             "pages of other namespaces (talk, files, templates) passed over: 2"});
  }
  // As Wikimedia's multistream dumps are: one bz2 behind the other.
  const std::size_t half = bytes.size() / 2;
  CHECK(read_dump(folder, packed(bytes.substr(0, half), "bzip2") + packed(bytes.substr(half), "bzip2"))
            .documents.size() == 2);
}

TEST_CASE(
    "where a dump ends early, in whatever compression, the articles before are read and the end is a fatal error") {
  const TemporaryFolder folder;
  const std::string bytes = contents(sample_path);
  const std::size_t first_page_end = bytes.find("</page>") + 7;
  for (std::size_t size = 0; size < bytes.rfind("</mediawiki>") + 11; size += size < 200 ? 1 : 97) {
    CAPTURE(size);
    const Everything all = read_dump(folder, bytes.substr(0, size));
    REQUIRE(all.errors.size() == 1);
    CHECK(all.errors[0].fatal);
    CHECK(all.documents.size() == (size < first_page_end ? 0 : size < bytes.rfind("</page>") + 7 ? 1 : 2));
  }
  for (const std::string filter : {"bzip2", "gzip", "xz"}) {
    const std::string whole = packed(bytes, filter);
    for (const std::size_t size : {whole.size() - 1, whole.size() / 2, std::size_t{40}}) {
      CAPTURE(filter);
      CAPTURE(size);
      const Everything all = read_dump(folder, whole.substr(0, size));
      REQUIRE(all.errors.size() == 1);
      CHECK(all.errors[0].fatal);
      CHECK(all.errors[0].what.starts_with("cannot be read beyond this line: "));
    }
  }
  std::string damaged = packed(bytes, "bzip2");
  for (std::size_t i = damaged.size() / 2; i < damaged.size() / 2 + 16; ++i)
    damaged[i] = static_cast<char>(~damaged[i]);
  CHECK(read_dump(folder, damaged).errors.at(0).fatal);
}

TEST_CASE("what is no MediaWiki export is a fatal error that says what it is") {
  const TemporaryFolder folder;
  struct Row {
    std::string bytes;
    std::string what;  // how it begins
  };
  const Row rows[] = {
      {"", "f:1: not well-formed XML, and cannot be read beyond this line: "},
      {"   \n", "f:2: not well-formed XML"},
      {"just text\n", "f:1: not well-formed XML"},
      {"{\"id\": 1}\n", "f:1: not well-formed XML"},
      {"<html><body><p>x</body></html>",
       "f:1: is XML, but no MediaWiki export: its root is <html> and not <mediawiki>"},
      {"<?xml version='1.0'?>\n<feed xmlns='http://www.w3.org/2005/Atom'><entry/></feed>",
       "f:2: is XML, but no MediaWiki export: its root is <feed>"},
      {"\xff\xfe<\0m\0"s, "f:1: is UTF-16, and UTF-8 is expected"},
      {dump(page("A", "1", "x")) + "more", "f:4: not well-formed XML"},
      {dump("<page><title>A</titel></page>"), "f:2: not well-formed XML"},
      {dump("<page><title>A &nosuch; B</title></page>"), "f:2: not well-formed XML"},
      {"\x7f"
       "ELF\1\1\1\0\0\0\0"s,
       "f:1: not well-formed XML"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.bytes);
    const Everything all = read_dump(folder, row.bytes);
    REQUIRE(all.errors.size() == 1);
    CHECK(all.errors[0].fatal);
    CAPTURE(all.error_texts(folder.path())[0]);
    CHECK(all.error_texts(folder.path())[0].starts_with(row.what));
  }
  const Everything empty = read_dump(folder, dump(""));
  CHECK(empty.documents.empty());
  CHECK(empty.errors.empty());
}

TEST_CASE("entities, bombs of them and files outside are not even looked at: a document type is a fatal error") {
  const TemporaryFolder folder;
  std::string bomb = "<?xml version=\"1.0\"?>\n<!DOCTYPE mediawiki [\n<!ENTITY a0 \"lol\">\n";
  for (int i = 1; i < 10; ++i) {
    bomb += "<!ENTITY a" + std::to_string(i) + " \"";
    for (int j = 0; j < 10; ++j) bomb += "&a" + std::to_string(i - 1) + ";";
    bomb += "\">\n";
  }
  bomb += "]>\n" + dump(page("&a9;", "1", "&a9;"));
  const std::string outside = "<!DOCTYPE mediawiki [<!ENTITY x SYSTEM \"file://" + folder.write("secret", "secret") +
                              "\">]>\n" + dump(page("A", "1", "&x;"));
  const std::string remote = "<!DOCTYPE mediawiki SYSTEM \"http://127.0.0.1:1/x.dtd\">\n" + dump(page("A", "1", "x"));
  for (const std::string& bytes : {bomb, outside, remote}) {
    const Everything all = read_dump(folder, bytes);
    CHECK(all.documents.empty());
    REQUIRE(all.errors.size() == 1);
    CHECK(all.errors[0].fatal);
    CHECK(all.errors[0].what == "declares a document type, which no MediaWiki export does");
  }
}

TEST_CASE("pages that are none are errors with their line, and the pages around them are read") {
  const TemporaryFolder folder;
  const Everything all = read_dump(
      folder, dump(page("A", "1", "one") +                                                   // line 2
                   "<page><id>2</id><revision><text>x</text></revision></page>\n" +          // 3
                   page(" ", "3", "x") +                                                     // 4
                   "<page><title>D</title><id>4</id><revision></revision></page>\n" +        // 5
                   "<page><title>E</title><id>5</id></page>\n" +                             // 6
                   "<page><title>F</title><revision><text>x</text></revision></page>\n" +    // 7
                   page("G", "1", "again") +                                                 // 8
                   page("A", "9", "the same title, another page") +                          // 9
                   "<page><title>H</title><id>8</id><revision><text bytes='0' /></revision></page>\n" +
                   "<other><page>not a page of ours</page></other>\n" + page("I", "10", "last")));
  CHECK(all.ids() == Texts{"1", "9", "8", "10"});
  CHECK(all.documents[2].text == "");
  CHECK(all.error_texts(folder.path()) ==
        Texts{"f:3: a page without title", "f:4: a page without title", "f:5: page 'D' has no text",
              "f:6: page 'E' has no text", "f:7: missing id", "f:8: duplicate id '1'"});
  for (const ReadError& error : all.errors) CHECK_FALSE(error.fatal);
}

TEST_CASE("bytes that are not UTF-8, and characters that XML forbids, are replaced, whatever the declaration says") {
  const TemporaryFolder folder;
  const std::string filler(70'000, 'x');  // so that pieces end inside of characters
  std::string umlauts;
  for (int i = 0; i < 40'000; ++i) umlauts += "\xc3\xbc\xe7\x94\x9f";
  const Everything all = read_dump(
      folder, "<?xml version='1.0' encoding='iso-8859-1'?>\n" +
                  dump(page("A", "1", "caf\xe9 \x01 \xef\xbf\xbf \xed\xa0\x80.") + page("B", "2", umlauts) +
                       page("C", "3", filler + umlauts) + page("D", "4", "x" + filler + umlauts)));
  REQUIRE(all.documents.size() == 4);
  CHECK(all.documents[0].text == "caf\xef\xbf\xbd \xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd.");
  CHECK(all.documents[1].text == umlauts);
  CHECK(all.documents[2].text == filler + umlauts);
  CHECK(all.documents[3].text == "x" + filler + umlauts);
  CHECK(all.progress.repaired == 1);
  CHECK(all.errors.empty());
}

TEST_CASE("a page longer than allowed is an error of its own, passed over in bounded memory") {
  const TemporaryFolder folder;
  const std::string path = folder.path("f");
  {
    std::ofstream file(path, std::ios::binary);
    file << "<mediawiki>\n" << page("A", "1", "one") << "<page><title>B</title><id>2</id><revision><text>";
    const std::string megabyte(1 << 20, 'x');
    for (int i = 0; i < 100; ++i) file << megabyte;
    file << "</text></revision></page>\n" << page("C", "3", "three") << "</mediawiki>";
    REQUIRE(file.flush());
  }
  CorpusSettings settings;
  settings.longest_record_bytes = 4 << 20;
  const std::uint64_t before = peak_resident_bytes();
  const Everything all = read_all("wikipedia:" + path, settings);
  CHECK(all.ids() == Texts{"1", "3"});
  CHECK(all.error_texts(folder.path()) ==
        Texts{"f:3: page 'B' of 104857602 bytes is longer than the 4194304 allowed"});
#ifdef __SANITIZE_THREAD__
  constexpr std::uint64_t shadow = 4;  // the sanitizer keeps several bytes for each of ours
#else
  constexpr std::uint64_t shadow = 1;
#endif
#ifndef __SANITIZE_ADDRESS__  // which keeps what was freed
  CHECK(peak_resident_bytes() - before < shadow * (48 << 20));
#else
  static_cast<void>(before + shadow);
#endif

  // What fits to the byte is read; tags as long as that are not.
  settings.longest_record_bytes = 10;
  CHECK(read_dump(folder, dump(page("A", "1", "12345678")), settings).documents.size() == 1);
  CHECK(read_dump(folder, dump(page("A", "1", "123456789")), settings).errors.size() == 1);
  const Everything tag = read_dump(folder, dump("<page x='" + std::string(12 << 20, 'x') + "'/>"), {});
  REQUIRE(tag.errors.size() == 1);
  CHECK(tag.errors[0].fatal);
}

TEST_CASE(
    "redirects and other namespaces are passed over in old exports as well, and models other than wikitext stay") {
  const TemporaryFolder folder;
  const std::string head =
      "<siteinfo><base>http://x.example/w/index.php?title=Main</base><namespaces><namespace key='0'/>"
      "<namespace key='1'>Talk</namespace><namespace key='14'>Kategorie</namespace></namespaces></siteinfo>";
  const Everything all = read_dump(
      folder,
      dump(head + page("A", "1", "#redirect [[B]]") + page("Talk:A", "2", "x") + page("2001: A film", "3", "x") +
           page("K", "4", "[[Kategorie:c]]y", "<ns>0</ns>") + page("L", "5", "x", "<ns>100</ns>") +
           "<page><title>M</title><ns>0</ns><id>6</id><revision><model>json</model><text>{\"a\": [[1]]}</text>"
           "</revision></page>"));
  CHECK(all.ids() == Texts{"3", "4", "6"});
  CHECK(all.documents[0].url == "http://x.example/w/index.php?title=2001:_A_film");
  CHECK(all.documents[1].facets.at("category") == Texts{"C"});
  CHECK(all.documents[2].text == "{\"a\": [[1]]}");
  CHECK(read_dump(folder, dump("<siteinfo><base>javascript:alert(1)/</base></siteinfo>" + page("A", "1", "x")))
            .documents[0].url == "");
}

TEST_CASE("dumps broken at random never crash, hang, or break a promise") {
  const TemporaryFolder folder;
  const std::string bytes = contents(sample_path);
  Random random(23);
  for (int round = 0; round < 1500; ++round) {
    CAPTURE(round);
    std::string broken =
        mutated(bytes, random, {"<", ">", "</page>", "<page>", "&amp;", "&", "]]>", "<![CDATA[", "<?", "<!--"});
    if (round % 4 == 0) broken = mutated(packed(bytes, "bzip2"), random, {"BZh9"});
    read_dump(folder, broken);
  }
}
