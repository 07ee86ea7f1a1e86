#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>

#include "corpus/json_record.hpp"
#include "tests/corpus/files.hpp"
#include "tests/places.hpp"

using namespace std::string_literals;
using namespace hedgerow;
using namespace hedgerow::test;

namespace {

using Texts = std::vector<std::string>;

Everything read_jsonl(const TemporaryFolder& folder, std::string_view bytes, const CorpusSettings& settings = {}) {
  return read_all("jsonl:" + folder.write("f", bytes), settings);
}

}  // namespace

TEST_CASE("id, title, text and url are the document, and every other field is a facet as it is written") {
  const auto record = parse_json_record(
      R"({"id": "a1", "title": "T", "text": "x\ny \u00e9", "url": "u", "year": 1999, "score": 1.50, "big": )"
      R"(123456789012345678901234567890, "low": -7, "free": true, "tags": ["b", "a", 3, false, null], "none": null})");
  REQUIRE(record.has_value());
  const Document expected{"a1",
                          "T",
                          "u",
                          "x\ny \xc3\xa9",
                          {{"year", {"1999"}},
                           {"score", {"1.50"}},
                           {"big", {"123456789012345678901234567890"}},
                           {"low", {"-7"}},
                           {"free", {"true"}},
                           {"tags", {"b", "a", "3", "false"}}}};
  CHECK(record->document == expected);
  CHECK(record->nested_field == "");
}

TEST_CASE("objects, and arrays in arrays, are no facets: they are left out and named, and hide nothing else") {
  const auto record = parse_json_record(
      R"({"meta": {"id": "inner", "tags": ["x"]}, "id": "a", "list": ["p", ["q"], {"title": "inner"}, "r"], )"
      R"("text": "t"})");
  REQUIRE(record.has_value());
  CHECK(record->document == Document{"a", "", "", "t", {{"list", {"p", "r"}}}});
  CHECK(record->nested_field == "meta");
}

TEST_CASE("whole numbers are ids, null is absent, and of a field that comes twice the last counts") {
  CHECK(parse_json_record(R"({"id": 4983, "title": null})")->document == Document{"4983", "", "", "", {}});
  CHECK(parse_json_record(R"({"id": -3})")->document.id == "-3");
  CHECK(parse_json_record(R"({"id": "a", "id": "b", "f": ["x", "y"], "f": "z"})")->document ==
        Document{"b", "", "", "", {{"f", {"z"}}}});
}

TEST_CASE("_id is the id where there is no id, and a facet beside one") {
  CHECK(parse_json_record(R"({"_id": "b", "text": "t", "metadata": {}})")->document == Document{"b", "", "", "t", {}});
  CHECK(parse_json_record(R"({"text": "t", "_id": 31715818})")->document == Document{"31715818", "", "", "t", {}});
  for (const char* line : {R"({"_id": "b", "id": "a"})", R"({"id": "a", "_id": "b"})"}) {
    CHECK(parse_json_record(line)->document == Document{"a", "", "", "", {{"_id", {"b"}}}});
  }
  CHECK(parse_json_record(R"({"_id": {"$oid": "5f"}, "id": "a"})")->document == Document{"a", "", "", "", {}});
  CHECK(parse_json_record(R"({"_id": ["a", "b"]})")->document.id == "");
}

TEST_CASE("a line that is no such object is an error that says why") {
  struct Row {
    std::string line;
    std::string what;
  };
  const Row rows[] = {
      {R"([1])", "a JSON object is expected"},
      {R"("x")", "a JSON object is expected"},
      {R"(null)", "a JSON object is expected"},
      {R"({"id": 1.5})", "'id' is a number, and a string or a whole number is expected"},
      {R"({"id": true})", "'id' is true or false, and a string or a whole number is expected"},
      {R"({"id": ["a"]})", "'id' is an array, and a string or a whole number is expected"},
      {R"({"id": "a", "title": 7})", "'title' is a whole number, and a string is expected"},
      {R"({"id": "a", "text": ["x"]})", "'text' is an array, and a string is expected"},
      {R"({"id": "a", "url": {}})", "'url' is an object, and a string is expected"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.line);
    const auto record = parse_json_record(row.line);
    REQUIRE(record.has_error());
    CHECK(record.error().code == Errc::input);
    CHECK(record.error().context == row.what);
  }
  for (const std::string line : {R"({"id": "a")", R"({"id": "a"} {"id": "b"})", R"({id: "a"})", R"({"id": "a\)", "nul",
                                 "{\"id\": \"a\tb\"}", R"({"id": "\ud800"})", R"({"n": 1e999, "id": "a"})"}) {
    CAPTURE(line);
    const auto record = parse_json_record(line);
    REQUIRE(record.has_error());
    CHECK(record.error().context.starts_with("not JSON at byte "));
    CHECK(record.error().context.size() < 200);
  }
}

TEST_CASE("a record nested without end costs no memory beyond its line, and a bad long token no long message") {
  const std::string deep = R"({"id": "a", "text": "t", "x": )" + std::string(1'000'000, '[') +
                           std::string(1'000'000, ']') + "}";
  const auto record = parse_json_record(deep);
  REQUIRE(record.has_value());
  CHECK(record->document == Document{"a", "", "", "t", {}});
  CHECK(parse_json_record("{\"id\": \"" + std::string(1'000'000, 'x') + "\x01\"}").error().context.size() < 200);
}

TEST_CASE("bad records name file and line, and the good ones around them are read") {
  const TemporaryFolder folder;
  const Everything all = read_jsonl(folder,
                                    "{\"id\": \"a\", \"text\": \"one\"}\n"
                                    "{\"id\": \"a\", \"text\": \"again\"}\n"
                                    "\n"
                                    "{\"id\": \"b\", \"title\": \" \", \"text\": \"\\n\"}\n"
                                    "{\"text\": \"no id\"}\r\n"
                                    "{\"id\": \"\", \"text\": \"x\"}\n"
                                    "{\"id\": \"a\\u0000b\", \"text\": \"x\"}\n"
                                    "{\"id\": \"c\", \"text\": 3}\n"
                                    "{\"id\": \"d\", \"title\": \"two\"}\n"
                                    "{\"id\": \"e\", \"text\": \"cut o");
  CHECK(all.ids() == Texts{"a", "d"});
  CHECK(all.documents[0].text == "one");
  CHECK(all.error_texts(folder.path()) ==
        Texts{"f:2: duplicate id 'a'", "f:4: empty document 'b': neither title nor text", "f:5: missing id",
              "f:6: missing id", "f:7: the id holds a control character",
              "f:8: 'text' is a whole number, and a string is expected",
              "f:10: not JSON at byte 27: invalid string: missing closing quote (the file ends inside this line)"});
  for (const ReadError& error : all.errors) CHECK_FALSE(error.fatal);
}

TEST_CASE("bytes that are not UTF-8 are replaced and counted, and NUL and its like become spaces") {
  const TemporaryFolder folder;
  const Everything all = read_jsonl(
      folder,
      "{\"id\": \"a\", \"title\": \"caf\xe9\", \"text\": \"\xff\xfe\", \"f\": \"x\xe9\"}\n"
      "{\"id\": \"b\", \"text\": \"gr\xc3\xbcn\\u0000\\u001b[1m\\ttab\", \"f\": \"x\\u0007y\"}\n");
  REQUIRE(all.ids() == Texts{"a", "b"});
  CHECK(all.documents[0].title == "caf\xef\xbf\xbd");
  CHECK(all.documents[0].text == "\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(all.documents[0].facets.at("f") == Texts{"x\xef\xbf\xbd"});
  CHECK(all.documents[1].text == "gr\xc3\xbcn  [1m\ttab");
  CHECK(all.documents[1].facets.at("f") == Texts{"x y"});
  CHECK(all.progress.repaired == 1);
  CHECK(all.notes == Texts{"text that was not valid UTF-8 was replaced by U+FFFD in 1 record"});

  // A NUL that stands in the line as such is no JSON.
  const Everything raw = read_jsonl(folder, "{\"id\": \"a\", \"text\": \"x\0y\"}\n"s);
  CHECK(raw.documents.empty());
  CHECK(raw.errors.size() == 1);
}

TEST_CASE("facet values are kept once, without empty ones, and what is too long for a facet is left out and noted") {
  const TemporaryFolder folder;
  const Everything all = read_jsonl(
      folder, "{\"id\": \"a\", \"text\": \"t\", \"f\": [\"x\", \"y\", \"x\", \"\"], \"none\": [], \"long\": \"" +
                  std::string(161, 'z') + "\", \"fits\": \"" + std::string(160, 'z') + "\", \"\": 1, \"" +
                  std::string(65, 'n') + "\": 1, \"deep\": {\"a\": 1}}\n");
  REQUIRE(all.documents.size() == 1);
  CHECK(all.documents[0].facets ==
        std::map<std::string, Texts>{{"f", {"x", "y"}}, {"fits", {std::string(160, 'z')}}});
  REQUIRE(all.notes.size() == 2);
  CHECK(all.notes[0] ==
        "field 'deep' holds an object or nested arrays in 1 record and is no facet there; it was left out");
  CHECK(all.notes[1].starts_with("3 values are no facets"));
}

TEST_CASE("an id has a longest length") {
  const TemporaryFolder folder;
  const auto line = [](std::size_t size) { return "{\"id\": \"" + std::string(size, 'a') + "\", \"text\": \"t\"}\n"; };
  const Everything all = read_jsonl(folder, line(1024) + line(1025));
  CHECK(all.documents.size() == 1);
  CHECK(all.error_texts(folder.path()) == Texts{"f:2: an id of 1025 bytes is longer than the 1024 allowed"});
}

TEST_CASE("a byte order mark, CR LF, an empty file and one of empty lines are ordinary") {
  const TemporaryFolder folder;
  const std::string records = "{\"id\": \"a\", \"text\": \"t\"}\r\n\r\n{\"id\": \"b\", \"text\": \"t\"}";
  CHECK(read_jsonl(folder, "\xef\xbb\xbf" + records).ids() == Texts{"a", "b"});
  CHECK(read_jsonl(folder, "").progress.fraction == 1.0);
  CHECK(read_jsonl(folder, "\n \n\t\r\n").errors.empty());
}

TEST_CASE("a compressed file reads like the plain one, and one that breaks off is a fatal error, not a silent end") {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    text += "{\"id\": \"" + std::to_string(i) + "\", \"text\": \"" + std::to_string(i * i * 7919LL) + "\"}\n";
  }
  for (const std::string filter : {"gzip", "xz", "zstd", "lz4", "bzip2"}) {
    CAPTURE(filter);
    const std::string bytes = packed(text, filter);
    CHECK(read_jsonl(folder, bytes).documents.size() == 5000);
    const Everything cut = read_jsonl(folder, bytes.substr(0, bytes.size() / 2));
    CHECK(cut.documents.size() < 5000);
    REQUIRE(cut.errors.size() == 1);
    CHECK(cut.errors[0].fatal);
  }
}

namespace {

std::uint64_t peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
  }
  return 0;
}

}  // namespace

TEST_CASE("a line of 100 MB is an error of its own, passed over in bounded memory") {
  const TemporaryFolder folder;
  const std::string path = folder.path("f");
  {
    std::ofstream file(path, std::ios::binary);
    const std::string megabyte(1 << 20, 'x');
    file << "{\"id\": \"a\", \"text\": \"t\"}\n{\"id\": \"b\", \"text\": \"";
    for (int i = 0; i < 100; ++i) file << megabyte;
    file << "\"}\n{\"id\": \"c\", \"text\": \"t\"}\n";
    REQUIRE(file.flush());
  }
  CorpusSettings settings;
  settings.longest_record_bytes = 4 << 20;
  const std::uint64_t before = peak_resident_bytes();
  REQUIRE(before > 0);
  const Everything all = read_all("jsonl:" + path, settings);
  CHECK(all.ids() == Texts{"a", "c"});
  CHECK(all.error_texts(folder.path()) ==
        Texts{"f:2: a line of 104857623 bytes is longer than the 4194304 allowed"});
#ifdef __SANITIZE_THREAD__
  constexpr std::uint64_t shadow = 4;  // the sanitizer keeps several bytes for each of ours
#else
  constexpr std::uint64_t shadow = 1;
#endif
  CHECK(peak_resident_bytes() - before < shadow * (32 << 20));
  // By the setting's default it is too long as well.
  CHECK(read_all("jsonl:" + path).errors.size() == 1);
}

TEST_CASE("the SciFact collection is read whole") {
  const std::string path = test::source_path("../shared/collections/scifact/corpus.jsonl");
  if (!std::filesystem::exists(path)) {
    std::puts("SKIPPED: the SciFact collection is not here");
    return;
  }
  const Everything all = read_all("jsonl:" + path);
  // As the collection's authors give it: 5,183 abstracts.
  CHECK(all.documents.size() == 5183);
  CHECK(all.errors.empty());
  CHECK(all.documents[0].id == "4983");
  CHECK(all.documents[0].title.starts_with("Microstructural development of human newborn cerebral white matter"));
}
