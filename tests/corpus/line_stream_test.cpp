#include "corpus/line_stream.hpp"

#include <doctest/doctest.h>

#include "base/random.hpp"
#include "tests/corpus/files.hpp"

using namespace std::string_literals;
using namespace hedgerow;
using namespace hedgerow::test;

namespace {

struct Lines {
  std::vector<std::string> texts;
  std::vector<ReadError> errors;
  std::vector<double> fractions;
  bool last_ended = true;
};

Lines read_lines(const std::string& path, std::uint64_t longest = 1 << 20) {
  auto stream = LineStream::open(path, longest);
  if (!stream) FAIL(path << ": " << to_string(stream.error()));
  Lines lines;
  for (;;) {
    auto outcome = stream->next();
    lines.fractions.push_back(stream->fraction().value_or(-1));
    if (const auto* line = std::get_if<Line>(&outcome)) {
      lines.texts.emplace_back(line->text);
      lines.last_ended = line->ended;
    }
    if (const auto* error = std::get_if<ReadError>(&outcome)) lines.errors.push_back(*error);
    if (std::holds_alternative<EndOfCorpus>(outcome)) return lines;
  }
}

using Texts = std::vector<std::string>;
const std::string filters[] = {"gzip", "bzip2", "xz", "lzma", "lzip", "zstd", "lz4", "compress"};

// Some thousand lines of words that compress neither to nothing nor not at all.
std::string many_lines() {
  Random random(7);
  std::string text;
  for (int line = 0; line < 20'000; ++line) {
    for (int word = 0; word < 8; ++word) text += std::to_string(random.below(5000)) + " ";
    text += "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("lines come without LF or CR LF, a last one without its end as well, and the rest is left as it is") {
  struct Row {
    std::string bytes;
    Texts lines;
    bool last_ended;
  };
  const Row rows[] = {
      {"", {}, true},
      {"\n", {""}, true},
      {"a\nb\n", {"a", "b"}, true},
      {"a\r\n\r\nb\r\n", {"a", "", "b"}, true},
      {"a\nb", {"a", "b"}, false},
      {"a\rb\n", {"a\rb"}, true},
      {"a\0b\nc\n"s, {"a\0b"s, "c"}, true},
      {"\xef\xbb\xbf{}\n\xef\xbb\xbfx\n", {"{}", "\xef\xbb\xbfx"}, true},
      {"\xef\xbb\xbf", {""}, false},
  };
  const TemporaryFolder folder;
  for (const Row& row : rows) {
    CAPTURE(row.bytes);
    const Lines lines = read_lines(folder.write("lines", row.bytes));
    CHECK(lines.texts == row.lines);
    CHECK(lines.last_ended == row.last_ended);
    CHECK(lines.errors.empty());
  }
}

TEST_CASE("every compression gives the same lines as the plain file, whatever the file's name") {
  const TemporaryFolder folder;
  const std::string text = many_lines();
  const Lines plain = read_lines(folder.write("plain", text));
  REQUIRE(plain.texts.size() == 20'000);
  for (const std::string& filter : filters) {
    CAPTURE(filter);
    const Lines lines = read_lines(folder.write("file.txt", packed(text, filter)));
    CHECK(lines.errors.empty());
    CHECK(lines.texts == plain.texts);
  }
}

TEST_CASE("an empty file is empty in every compression") {
  const TemporaryFolder folder;
  std::vector<std::string> files;
  for (const std::string filter : {"gzip", "bzip2", "xz", "lzma", "lzip", "zstd"}) files.push_back(packed("", filter));
  // As the tool lz4 writes it: libarchive's writers of lz4 and compress crash on nothing.
  files.push_back("\x04\x22\x4d\x18\x64\x40\xa7\0\0\0\0\x05\x5d\xcc\x02"s);
  for (const std::string& bytes : files) {
    const Lines lines = read_lines(folder.write("empty", bytes));
    CHECK(lines.texts.empty());
    CHECK(lines.errors.empty());
    CHECK(lines.fractions.back() == 1.0);
  }
}

TEST_CASE("compressed files put one behind the other read as one") {
  const TemporaryFolder folder;
  for (const std::string filter : {"gzip", "bzip2", "xz", "zstd", "lz4"}) {
    CAPTURE(filter);
    const Lines lines = read_lines(folder.write("two", packed("a\nb\n", filter) + packed("c\nd\n", filter)));
    CHECK(lines.errors.empty());
    CHECK(lines.texts == Texts{"a", "b", "c", "d"});
  }
}

TEST_CASE("compressed data that breaks off anywhere is a fatal error after the lines that were whole") {
  const TemporaryFolder folder;
  const std::string text = many_lines();
  for (const std::string filter : {"gzip", "bzip2", "xz", "lzma", "lzip", "zstd", "lz4"}) {
    const std::string whole = packed(text, filter);
    // Ends near the beginning, in the middle, and each of the last 16 bytes; what is shorter than a header is not
    // known for compressed data by anyone.
    std::vector<std::size_t> sizes{40, 100, whole.size() / 3, whole.size() / 2};
    for (std::size_t missing = 1; missing <= 16; ++missing) sizes.push_back(whole.size() - missing);
    for (const std::size_t size : sizes) {
      CAPTURE(filter);
      CAPTURE(size);
      CAPTURE(whole.size());
      const Lines lines = read_lines(folder.write("cut", whole.substr(0, size)));
      REQUIRE(lines.errors.size() == 1);
      CHECK(lines.errors[0].fatal);
      CHECK(lines.errors[0].file == folder.path("cut"));
      CHECK(lines.errors[0].line >= lines.texts.size());
      CHECK(lines.errors[0].line <= lines.texts.size() + 1);
    }
  }
  // A short file as well, all of which fits into one block.
  for (const std::string filter : {"gzip", "bzip2", "xz", "zstd", "lz4"}) {
    const std::string whole = packed("some words\n", filter);
    for (std::size_t missing = 1; missing + 18 < whole.size(); ++missing) {
      CAPTURE(filter);
      CAPTURE(missing);
      const Lines lines = read_lines(folder.write("cut", whole.substr(0, whole.size() - missing)));
      REQUIRE(lines.errors.size() == 1);
      CHECK(lines.errors[0].fatal);
    }
  }
}

// Not gzip, whose checksum libarchive does not compare, and not its own zstd, which it writes without one.
TEST_CASE("damaged compressed data is a fatal error") {
  const TemporaryFolder folder;
  for (const std::string filter : {"bzip2", "xz", "lz4"}) {
    CAPTURE(filter);
    std::string bytes = packed(many_lines(), filter);
    for (std::size_t i = bytes.size() / 2; i < bytes.size() / 2 + 64; ++i) bytes[i] = static_cast<char>(~bytes[i]);
    const Lines lines = read_lines(folder.write("damaged", bytes));
    REQUIRE(lines.errors.size() == 1);
    CHECK(lines.errors[0].fatal);
  }
}

TEST_CASE("a line longer than allowed is an error of its own, and the lines around it are read") {
  const TemporaryFolder folder;
  const std::string text = "before\n" + std::string(300'000, 'x') + "\n" + std::string(100'000, 'y') + "\nafter\n";
  for (const std::string filter : {"none", "gzip", "lz4"}) {
    CAPTURE(filter);
    const Lines lines = read_lines(folder.write("long", packed(text, filter)), 100'000);
    CHECK(lines.texts == Texts{"before", std::string(100'000, 'y'), "after"});
    REQUIRE(lines.errors.size() == 1);
    CHECK(to_string(lines.errors[0]) ==
          folder.path("long") + ":2: a line of 300000 bytes is longer than the 100000 allowed");
    CHECK_FALSE(lines.errors[0].fatal);
  }
  const Lines last = read_lines(folder.write("long", "a\n" + std::string(11, 'x')), 10);
  CHECK(last.texts == Texts{"a"});
  CHECK(last.errors.size() == 1);
}

TEST_CASE("UTF-16 is named as what it is") {
  const TemporaryFolder folder;
  for (const std::string& bytes : {"\xff\xfe{\0}\0\n\0"s, "\xfe\xff\0{\0}\0\n"s}) {
    const Lines lines = read_lines(folder.write("wide", bytes));
    REQUIRE(lines.errors.size() == 1);
    CHECK(lines.errors[0].fatal);
    CHECK(lines.errors[0].what == "is UTF-16, and UTF-8 is expected");
  }
}

TEST_CASE("the fraction is of the bytes on the disk, compressed or not: it rises evenly, never falls, and ends at 1") {
  const TemporaryFolder folder;
  const std::string text = many_lines();
  for (const std::string filter : {"none", "gzip", "zstd", "lz4"}) {
    CAPTURE(filter);
    const std::string bytes = packed(text, filter);
    REQUIRE(bytes.size() > 300'000);
    const Lines lines = read_lines(folder.write("file", bytes));
    // All lines are alike, so after a share of the lines the same share of the file is read, to within what is read at
    // once: 64 kB, or one block of lz4, which may hold 4 MB of text.
    const double block = filter == "lz4" ? 1.0 : 2.0 * 65536 / static_cast<double>(bytes.size());
    for (std::size_t i = 0; i < lines.fractions.size(); ++i) {
      const double share = static_cast<double>(i + 1) / static_cast<double>(lines.fractions.size());
      REQUIRE(lines.fractions[i] > share - block);
      REQUIRE(lines.fractions[i] < share + block);
      REQUIRE((i == 0 || lines.fractions[i] >= lines.fractions[i - 1]));
    }
    CHECK(lines.fractions.back() == 1.0);
  }
}

TEST_CASE("a missing file, a folder, and a file that may not be read are told apart when opened") {
  const TemporaryFolder folder;
  CHECK(LineStream::open(folder.path("none"), 10).error().code == Errc::not_found);
  CHECK(LineStream::open(folder.path(), 10).error().code == Errc::invalid_argument);
  const std::string file = folder.write("file", "x\n");
  CHECK(LineStream::open(file + "/below", 10).error().code == Errc::not_found);
  std::filesystem::permissions(file, std::filesystem::perms::none);
  // Root may read everything.
  const auto opened = LineStream::open(file, 10);
  if (!opened) CHECK(opened.error().code == Errc::io);
}
