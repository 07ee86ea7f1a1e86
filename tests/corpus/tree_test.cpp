#include <archive.h>
#include <archive_entry.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

#include "base/random.hpp"
#include "tests/corpus/laws.hpp"
#include "tests/places.hpp"

using namespace std::string_literals;
using namespace hedgerow;
using namespace hedgerow::test;

namespace {

using Texts = std::vector<std::string>;

const std::string sample_path = test::source_path("tests/corpus/data/tree");

struct Entry {
  std::string path;
  std::string bytes;
  unsigned kind = AE_IFREG;
  std::string link;
};

// An archive as libarchive's writer of that format ("ustar", "pax", "zip", …) and filter makes it.
std::string archive_of(const std::vector<Entry>& entries, const std::string& format,
                       const std::string& filter = "none") {
  std::size_t bytes = 100'000;
  for (const Entry& entry : entries) bytes += 2 * entry.bytes.size() + 4096;
  std::string out(bytes, '\0');
  std::size_t used = 0;
  archive* writer = archive_write_new();
  REQUIRE(archive_write_set_format_by_name(writer, format.c_str()) == ARCHIVE_OK);
  if (filter != "none") REQUIRE(archive_write_add_filter_by_name(writer, filter.c_str()) == ARCHIVE_OK);
  REQUIRE(archive_write_open_memory(writer, out.data(), out.size(), &used) == ARCHIVE_OK);
  for (const Entry& entry : entries) {
    archive_entry* header = archive_entry_new();
    archive_entry_set_pathname(header, entry.path.c_str());
    archive_entry_set_filetype(header, entry.kind);
    archive_entry_set_perm(header, 0644);
    archive_entry_set_mtime(header, 1'709'164'800, 0);  // 2024-02-29
    if (entry.kind == AE_IFLNK) archive_entry_set_symlink(header, entry.link.c_str());
    archive_entry_set_size(header, static_cast<la_int64_t>(entry.bytes.size()));
    REQUIRE(archive_write_header(writer, header) == ARCHIVE_OK);
    archive_write_data(writer, entry.bytes.data(), entry.bytes.size());
    archive_entry_free(header);
  }
  REQUIRE(archive_write_close(writer) == ARCHIVE_OK);
  archive_write_free(writer);
  out.resize(used);
  return out;
}

std::vector<Entry> sample_entries() {
  std::vector<Entry> entries;
  for (const auto& file : std::filesystem::recursive_directory_iterator(sample_path)) {
    if (!file.is_regular_file()) continue;
    entries.push_back(
        {std::filesystem::relative(file.path(), sample_path).string(), contents(file.path().string()), AE_IFREG, {}});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.path < b.path; });
  return entries;
}

Everything read_tree(const std::string& path, const CorpusSettings& settings = {}) {
  Everything all = read_all("tree:" + path, settings);
  check_promises(all);
  return all;
}

// Titles and texts only: what the same files give, wherever they lie.
std::map<std::string, std::pair<std::string, std::string>> contents_by_id(const Everything& all) {
  std::map<std::string, std::pair<std::string, std::string>> contents;
  for (const Document& document : all.documents) contents[document.id] = {document.title, document.text};
  return contents;
}

void set_time(const std::string& path, std::int64_t seconds) {
  const timespec times[2] = {{seconds, 0}, {seconds, 0}};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

}  // namespace

TEST_CASE("a folder's files are documents: path, title and text of their content, address, and what they are") {
  const Everything all = read_tree(sample_path);
  CHECK(all.ids() == Texts{"manual/README.md", "manual/guide.rst", "manual/page.html", "notes/hazel.txt"});
  CHECK(all.errors.empty());
  CHECK(all.notes.empty());
  const auto& markdown = all.documents[0];
  CHECK(markdown.title == "Hedges by hand");
  CHECK(markdown.text ==
        "Hedges, by hand\n\nA short manual with code_spans, a link) and a picture.\n\ncut\nbend\nstake\n\n"
        "Quoted words.\n\nTree   Good\nHazel   yes\n\nint *p = &a[0];  /* <b> kept */");
  const auto& rst = all.documents[1];
  CHECK(rst.title == "The guide");
  CHECK(rst.text ==
        "The guide\n\nAuthor: A. Gardener\n\nStakes\n\nDrive stakes as in the manual or on the web:\n\n"
        "    stake --every 18\n\nWear gloves.\n\none\ntwo");
  const auto& html = all.documents[2];
  CHECK(html.title == "Laying a hedge \xe2\x80\x94 a manual");
  CHECK(html.text ==
        "Laying a hedge\n\nCut each stem almost through and bend it \xe2\x80\x94 it is now a pleacher.\n\nClear the "
        "ditch.\n"
        "Drive in stakes, 18\xe2\x80\xb3 apart.\n\ntools:\n    billhook   1\n    gloves     2\n\nTree Good\nHazel yes");
  CHECK(html.url == "file://" + std::filesystem::canonical(sample_path).string() + "/manual/page.html");
  CHECK(html.facets.at("type") == Texts{"html"});
  CHECK(html.facets.at("folder") == Texts{"manual"});
  CHECK(html.facets.at("size") == Texts{std::to_string(std::filesystem::file_size(sample_path + "/manual/page.html"))});
  CHECK(all.documents[3] == Document{"notes/hazel.txt", "Notes on hedges", all.documents[3].url,
                                     "Notes on hedges\n===============\n\nHazel grows fast.\n",
                                     {{"folder", {"notes"}},
                                      {"modified", all.documents[3].facets.at("modified")},
                                      {"size", {"51"}},
                                      {"type", {"text"}}}});
}

TEST_CASE("the order is that of the paths' bytes, and the fraction rises to 1 with it") {
  const TemporaryFolder folder;
  for (const std::string name : {"a", "a-b", "a.d", "b"}) std::filesystem::create_directory(folder.path(name));
  for (const std::string name : {"a/z", "a/B", "a-b/x", "a.d/y", "b/1", "b/2", "Z", "a b", "a0"})
    folder.write(name, "text");
  const Everything all = read_tree(folder.path());
  Texts sorted = all.ids();
  std::sort(sorted.begin(), sorted.end());
  CHECK(all.ids() == sorted);
  CHECK(all.ids() == Texts{"Z", "a b", "a-b/x", "a.d/y", "a/B", "a/z", "a0", "b/1", "b/2"});
  // Seven entries at the root; a and b have two files each.
  const std::vector<double> expected{0, 1 / 7., 2 / 7., 3 / 7., 4 / 7., 4.5 / 7, 5 / 7., 6 / 7., 6.5 / 7, 1};
  REQUIRE(all.fractions.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(all.fractions[i] == doctest::Approx(expected[i]));
}

TEST_CASE("links, hidden files, devices and binary files are passed over and counted, and nothing outside is read") {
  const TemporaryFolder outside;
  outside.write("secret.txt", "secret");
  const TemporaryFolder folder;
  folder.write("a.txt", "text");
  folder.write(".hidden", "hidden");
  folder.write("picture.txt", "\x89PNG\r\n\x1a\n\0\0"s);
  folder.write("packed.gz", packed("\x7f" "ELF\0\0"s, "gzip"));
  folder.write("empty", "");
  folder.write("blank.html", "<html> <script>x</script> </html>");
  std::filesystem::create_directory(folder.path("sub"));
  folder.write("sub/b", "text");
  std::filesystem::create_directory(folder.path(".git"));
  folder.write(".git/config", "hidden");
  std::filesystem::create_symlink(outside.path(), folder.path("out"));
  std::filesystem::create_symlink(outside.path("secret.txt"), folder.path("out.txt"));
  std::filesystem::create_symlink("..", folder.path("sub/loop"));
  std::filesystem::create_symlink("a.txt", folder.path("again.txt"));
  std::filesystem::create_symlink("nowhere", folder.path("broken"));
  REQUIRE(::mkfifo(folder.path("pipe").c_str(), 0644) == 0);
  const Everything all = read_tree(folder.path());
  CHECK(all.ids() == Texts{"a.txt", "sub/b"});
  CHECK(all.errors.empty());
  CHECK(all.notes == Texts{"binary files passed over: 2", "files without any text passed over: 2",
                           "devices, pipes and sockets passed over: 1", "hidden files and folders passed over: 2",
                           "symbolic links passed over: 5"});
  // The folder itself may be named through a link.
  std::filesystem::create_symlink(folder.path("sub"), outside.path("link"));
  CHECK(read_tree(outside.path("link")).ids() == Texts{"b"});
  CHECK(read_tree(outside.path("link") + "/").ids() == Texts{"b"});
}

TEST_CASE("files and folders that cannot be read are errors, and the others are read") {
  const TemporaryFolder folder;
  folder.write("a", "text");
  folder.write("b", "text");
  std::filesystem::create_directory(folder.path("c"));
  folder.write("d", "text");
  std::filesystem::permissions(folder.path("b"), std::filesystem::perms::none);
  std::filesystem::permissions(folder.path("c"), std::filesystem::perms::none);
  const Everything all = read_tree(folder.path());
  std::filesystem::permissions(folder.path("c"), std::filesystem::perms::all);
  if (::geteuid() == 0) {
    CHECK(all.ids() == Texts{"a", "b", "d"});  // root may read everything
  } else {
    CHECK(all.ids() == Texts{"a", "d"});
    CHECK(all.error_texts(folder.path()) == Texts{"b: Permission denied", "c: Permission denied"});
  }
  // What vanishes between listing and reading is an error as well, whoever reads.
  auto reader = open_corpus("tree:" + folder.path(), {});
  REQUIRE(reader.has_value());
  CHECK(std::get<Document>((*reader)->next()).id == "a");
  std::filesystem::remove(folder.path("b"));
  std::filesystem::remove(folder.path("c"));
  const auto b = std::get<ReadError>((*reader)->next());
  CHECK(to_string(b) == folder.path("b") + ": No such file or directory");
  CHECK(to_string(std::get<ReadError>((*reader)->next())) == folder.path("c") + ": No such file or directory");
  CHECK(std::get<Document>((*reader)->next()).id == "d");
  CHECK_FALSE(b.fatal);
}

TEST_CASE("single files may be packed, and a file longer than allowed is an error, packed or unpacked") {
  const TemporaryFolder folder;
  const std::string notes = "Hazel notes\n\nHazel grows fast.\n";
  folder.write("a.gz", packed(notes, "gzip"));
  folder.write("b.md.xz", packed("# A *title*\n\ntext", "xz"));
  folder.write("c", packed(notes, "zstd"));
  folder.write("d.gz", notes);  // not packed at all
  folder.write("e.gz", packed(notes, "gzip").substr(0, 30));
  folder.write("f.bz2", packed(std::string(300'000, 'x') + "\n", "bzip2"));
  folder.write("g", std::string(100'001, 'x'));
  folder.write("h", std::string(100'000, 'x'));
  folder.write("i", std::string(200'000, '\0'));  // no text, so its length is nobody's concern
  folder.write("j.gz", packed(packed(notes, "gzip"), "gzip"));
  CorpusSettings settings;
  settings.longest_record_bytes = 100'000;
  const Everything all = read_tree(folder.path(), settings);
  CHECK(all.ids() == Texts{"a.gz", "b.md.xz", "c", "d.gz", "h", "j.gz"});
  CHECK(all.documents[0].title == "Hazel notes");
  CHECK(all.documents[0].text == notes);
  CHECK(all.documents[1].title == "A title");
  CHECK(all.documents[1].facets.at("type") == Texts{"markdown"});
  CHECK(all.documents[2].text == notes);
  CHECK(all.documents[3].text == notes);
  // libarchive undoes both.
  CHECK(all.documents[5].text == notes);
  CHECK(all.error_texts(folder.path()) ==
        Texts{"e.gz: cannot be unpacked: truncated gzip input", "f.bz2: holds more than the 100000 bytes allowed",
              "g: holds more than the 100000 bytes allowed"});
  CHECK(all.notes == Texts{"binary files passed over: 1"});
  for (const ReadError& error : all.errors) CHECK_FALSE(error.fatal);
}

TEST_CASE("titles come from the path where the content names none, the day from the file's time") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path("doc/bash"));
  folder.write("doc/bash/changelog.Debian.gz", packed("bash (5.2-1) unstable; urgency=low\n\n  * x\n", "gzip"));
  folder.write("notes.txt", "some words that go on\nand on");
  folder.write("odd \xe9 #%.html", "<h1> " + std::string(400, 'x') + "</h1>");
  set_time(folder.path("notes.txt"), 1'709'251'199);  // the last second of 2024-02-29
  set_time(folder.path("odd \xe9 #%.html"), -86'400);
  const Everything all = read_tree(folder.path());
  REQUIRE(all.documents.size() == 3);
  CHECK(all.documents[0].title == "bash/changelog.Debian");
  CHECK(all.documents[0].facets.at("folder") == Texts{"doc"});
  CHECK(all.documents[1].title == "notes.txt");
  CHECK(all.documents[1].facets.at("modified") == Texts{"2024-02-29"});
  CHECK_FALSE(all.documents[1].facets.contains("folder"));
  CHECK(all.documents[2].id == "odd \xef\xbf\xbd #%.html");
  CHECK(all.documents[2].title == std::string(300, 'x'));
  CHECK(all.documents[2].facets.at("modified") == Texts{"1969-12-31"});
  CHECK(all.documents[2].url.ends_with("/odd%20%E9%20%23%25.html"));
}

TEST_CASE("an archive gives what its folder would, in every format and compression, without addresses") {
  const TemporaryFolder folder;
  const auto expected = contents_by_id(read_tree(sample_path));
  REQUIRE(expected.size() == 4);
  struct Row {
    std::string format;
    std::string filter;
  };
  for (const Row& row : {Row{"ustar", "none"}, Row{"pax", "gzip"}, Row{"gnutar", "xz"}, Row{"ustar", "bzip2"},
                         Row{"ustar", "zstd"}, Row{"cpio", "none"}, Row{"zip", "none"}, Row{"7zip", "none"}}) {
    CAPTURE(row.format);
    CAPTURE(row.filter);
    const Everything all = read_tree(folder.write("archive", archive_of(sample_entries(), row.format, row.filter)));
    CHECK(contents_by_id(all) == expected);
    CHECK(all.errors.empty());
    for (const Document& document : all.documents) {
      CHECK(document.url == "");
      CHECK(document.facets.at("modified") == Texts{"2024-02-29"});
      CHECK(document.facets.at("folder").size() == 1);
      CHECK(std::filesystem::file_size(sample_path + "/" + document.id) == std::stoull(document.facets.at("size")[0]));
    }
    CHECK(std::is_sorted(all.fractions.begin(), all.fractions.end()));
    CHECK(all.fractions.back() == 1.0);
  }
}

TEST_CASE("an archive's paths are names and no places, and what is no file in it is passed over") {
  const TemporaryFolder folder;
  const std::vector<Entry> entries{{"./a.txt", "one", AE_IFREG, {}},
                                   {"/etc/passwd", "two", AE_IFREG, {}},
                                   {"../../b//c/./d", "three", AE_IFREG, {}},
                                   {"dir/", "", AE_IFDIR, {}},
                                   {"link", "", AE_IFLNK, "/etc/passwd"},
                                   {"pipe", "", AE_IFIFO, {}},
                                   {".git/config", "no", AE_IFREG, {}},
                                   {"x/.hidden", "no", AE_IFREG, {}},
                                   {"caf\xc3\xa9", "four", AE_IFREG, {}},
                                   {"bad\xe9", "five", AE_IFREG, {}},
                                   {"a.txt", "again", AE_IFREG, {}},
                                   {"inner.gz", packed("six\n", "gzip"), AE_IFREG, {}},
                                   {"new\nline", "seven", AE_IFREG, {}}};
  const std::string path = folder.write("f", archive_of(entries, "gnutar", "gzip"));
  const Everything all = read_tree(path);
  CHECK(all.ids() ==
        Texts{"a.txt", "etc/passwd", "b/c/d", "caf\xc3\xa9", "bad\xef\xbf\xbd", "inner.gz"});
  CHECK(all.documents[1].text == "two");
  CHECK(all.documents[5].text == "six\n");
  CHECK(all.error_texts(folder.path()) ==
        Texts{"f:a.txt: duplicate id 'a.txt'", "f:new\nline: the id holds a control character"});
  CHECK(all.notes.size() >= 3);
  CHECK(all.notes[0] == "devices, pipes and sockets passed over: 1");
  CHECK(all.notes[1] == "hidden files and folders passed over: 2");
  CHECK(all.notes[2] == "links passed over: 1");
}

// Made by Python's zipfile, which marks names beyond ASCII as UTF-8.
TEST_CASE("names beyond ASCII are read from a zip, though the program runs in the locale C, and that stays as it was") {
  const Everything all = read_tree(test::source_path("tests/corpus/data/names.zip"));
  CHECK(all.ids() == Texts{"ordner/\xe7\x94\x9f\xe5\x9e\xa3-\xc3\xa9.txt", "plain.txt"});
  CHECK(all.errors.empty());
  CHECK(all.documents[0].title == "Hecke");
  CHECK(std::mblen("\xc3\xa9", 2) == -1);
}

TEST_CASE("an archive that breaks off is a fatal error after the files that were whole, never a silent end") {
  const TemporaryFolder folder;
  std::vector<Entry> entries;
  Random random(5);
  for (int i = 0; i < 400; ++i) {
    std::string text;
    for (int word = 0; word < 400; ++word)
      text += std::to_string(random.below(1'000'000)) + (word % 9 == 8 ? "\n" : " ");
    entries.push_back({"file-" + std::to_string(100 + i), text, AE_IFREG, {}});
  }
  for (const std::string filter : {"none", "gzip", "xz", "zstd"}) {
    const std::string whole = archive_of(entries, "ustar", filter);
    for (const double share : {0.3, 0.5, 0.9}) {
      CAPTURE(filter);
      CAPTURE(share);
      const auto size = static_cast<std::size_t>(share * static_cast<double>(whole.size()));
      const Everything all = read_tree(folder.write("f", whole.substr(0, size)));
      CHECK(all.documents.size() < 400);
      CHECK(!all.documents.empty());
      REQUIRE(!all.errors.empty());
      CHECK(all.errors.back().fatal);
      CHECK(all.errors.back().what.starts_with("cannot be read beyond this point: "));
      for (std::size_t i = 0; i < all.documents.size(); ++i) CHECK(all.documents[i].text == entries[i].bytes);
    }
  }
}

TEST_CASE("a file in an archive that is longer than allowed is an error, and the others are read in bounded memory") {
  const TemporaryFolder folder;
  const std::string large(3'000'000, 'x');
  const std::string path = folder.write("f", archive_of({{"a", "one", AE_IFREG, {}},
                                                         {"b", large, AE_IFREG, {}},
                                                         {"bomb.gz", packed(large, "gzip"), AE_IFREG, {}},
                                                         {"c", "three", AE_IFREG, {}}},
                                                        "ustar", "gzip"));
  CorpusSettings settings;
  settings.longest_record_bytes = 1'000'000;
  const Everything all = read_tree(path, settings);
  CHECK(all.ids() == Texts{"a", "c"});
  CHECK(all.error_texts(folder.path()) == Texts{"f:b: holds more than the 1000000 bytes allowed",
                                                "f:bomb.gz: holds more than the 1000000 bytes allowed"});
}

TEST_CASE("what is no tree is refused when opened, with the reason") {
  const TemporaryFolder folder;
  struct Row {
    std::string path;
    Errc code;
    std::string context;  // how it begins
  };
  const Row rows[] = {
      {"", Errc::invalid_argument, "'tree' needs a folder or an archive: tree:PATH"},
      {folder.path("none"), Errc::not_found, folder.path("none") + ": No such file or directory"},
      {folder.write("text", "just text"), Errc::input,
       folder.path("text") + ": neither a folder nor a tar, cpio, zip or 7zip archive: "},
      {folder.write("empty", ""), Errc::input, folder.path("empty") + ": neither"},
      {folder.write("one.gz", packed("just text", "gzip")), Errc::input, folder.path("one.gz") + ": neither"},
      // mtree is a list of other files of the machine.
      {folder.write("mtree", "#mtree\n./x contents=/etc/passwd type=file mode=644\n"), Errc::input,
       folder.path("mtree") + ": neither"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.path);
    const auto opened = open_corpus("tree:" + row.path, {});
    REQUIRE(opened.has_error());
    CHECK(opened.error().code == row.code);
    CAPTURE(opened.error().context);
    CHECK(opened.error().context.starts_with(row.context));
  }
  std::filesystem::create_directory(folder.path("folder"));
  CHECK(read_tree(folder.path("folder")).documents.empty());
}

TEST_CASE("archives broken at random never crash, hang, or break a promise") {
  const TemporaryFolder folder;
  Random random(24);
  struct Row {
    std::string format;
    std::string filter;
  };
  for (const Row& row :
       {Row{"pax", "none"}, Row{"zip", "none"}, Row{"7zip", "none"}, Row{"cpio", "none"}, Row{"ustar", "gzip"}}) {
    CAPTURE(row.format);
    const std::string whole = archive_of(sample_entries(), row.format, row.filter);
    for (int round = 0; round < 200; ++round) {
      CAPTURE(round);
      const std::string path =
          folder.write("f", mutated(whole, random, {"\0\0\0\0", "PK\3\4", "\xff\xff\xff\xff", "ustar"}));
      if (auto opened = open_corpus("tree:" + path, {}); opened.has_value()) read_tree(path);
    }
  }
}

// Of the machine that the tests run on: whatever packages it has, in whatever state.
TEST_CASE("/usr/share/doc is read whole, and every file of it is a document, an error, or counted as passed over") {
  const std::string root = "/usr/share/doc";
  if (!std::filesystem::exists(root + "/libc6/copyright") || !std::filesystem::exists(root + "/dpkg/copyright")) {
    std::puts("SKIPPED: this is no Debian with its documentation");
    return;
  }
  // Where it is big, a part of it: each package whose name begins like this, through a folder of their copies.
  const TemporaryFolder folder;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  for (const auto& package : std::filesystem::directory_iterator(root)) {
    const std::string name = package.path().filename().string();
    if (package.is_symlink() || !package.is_directory()) continue;
    if (name != "dpkg" && name != "libc6" && (bytes > 20'000'000 || name[0] < 'b' || name[0] > 'p')) continue;
    for (const auto& file : std::filesystem::recursive_directory_iterator(package.path())) {
      if (!file.is_regular_file() || file.is_symlink()) continue;
      const std::string to = folder.path(std::filesystem::relative(file.path(), root).string());
      std::filesystem::create_directories(std::filesystem::path(to).parent_path());
      std::filesystem::copy_file(file.path(), to);
      ++files;
      bytes += file.file_size();
    }
  }
  const Everything all = read_tree(folder.path());
  std::uint64_t passed_over = 0;
  for (const std::string& note : all.notes) {
    const std::size_t count = note.rfind(" passed over: ");
    if (count != std::string::npos) passed_over += std::stoull(note.substr(count + 14));
  }
  MESSAGE(all.documents.size() << " documents of " << files << " files, " << passed_over << " passed over");
  CHECK(all.documents.size() + all.errors.size() + passed_over == files);
  CHECK(all.errors.size() <= files / 100);
  CHECK(all.documents.size() >= files * 8 / 10);
  CHECK(all.documents.size() >= 10);
  const Texts ids = all.ids();
  CHECK(std::find(ids.begin(), ids.end(), "dpkg/copyright") != ids.end());
  const auto copyright = std::find(ids.begin(), ids.end(), "libc6/copyright");
  REQUIRE(copyright != ids.end());
  CHECK(all.documents[static_cast<std::size_t>(copyright - ids.begin())].text.find("GNU C Library") !=
        std::string::npos);
  for (const Document& document : all.documents) {
    CAPTURE(document.id);
    REQUIRE(document.title.find_first_not_of(" \t\r\n") != std::string::npos);
    REQUIRE(document.facets.contains("modified"));
    REQUIRE(document.facets.contains("type"));
  }
}
