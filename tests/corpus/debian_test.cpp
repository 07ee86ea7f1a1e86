#include <doctest/doctest.h>

#include <cstdio>

#include "corpus/control_file.hpp"
#include "tests/corpus/files.hpp"
#include "tests/places.hpp"

using namespace hedgerow;
using namespace hedgerow::test;

namespace {

using Texts = std::vector<std::string>;

const std::string vim_stanza =
    "Package: vim\n"
    "Version: 2:9.0.1378-2\n"
    "Installed-Size: 3738\n"
    "Description: Vi IMproved - enhanced vi editor\n"
    "Homepage: https://www.vim.org/\n"
    "Description-md5: 59e8b8f7757db8b53566d5d119872de8\n"
    "Tag: devel::editor, implemented-in::c, interface::commandline,\n"
    " interface::text-mode, role::program,\n"
    " works-with::text\n"
    "Section: editors\n"
    "Priority: optional\n"
    "\n";

const std::string vim_translation =
    "Package: vim\n"
    "Description-md5: 59e8b8f7757db8b53566d5d119872de8\n"
    "Description-en: Vi IMproved - enhanced vi editor\n"
    " Vim is an almost compatible version of the UNIX editor Vi.\n"
    " .\n"
    " Many new features have been added: multi level undo, syntax\n"
    " highlighting:\n"
    "  * folding\n"
    "    and unfolding\n"
    "  * Unicode support\n"
    " .\n"
    " .\n"
    " This package contains a version of vim.\n"
    "\n";

const Document vim{"vim",
                   "vim - Vi IMproved - enhanced vi editor",
                   "https://www.vim.org/",
                   "Vim is an almost compatible version of the UNIX editor Vi.\n"
                   "\n"
                   "Many new features have been added: multi level undo, syntax highlighting:\n"
                   "* folding\n"
                   "and unfolding\n"
                   "* Unicode support\n"
                   "\n"
                   "This package contains a version of vim.",
                   {{"implemented-in", {"c"}},
                    {"installed_size", {"3738"}},
                    {"interface", {"commandline", "text-mode"}},
                    {"priority", {"optional"}},
                    {"role", {"program"}},
                    {"section", {"editors"}}}};

std::string package(const std::string& name, const std::string& version, const std::string& summary) {
  return "Package: " + name + "\nVersion: " + version + "\nDescription: " + summary + "\n\n";
}

Texts titles(const Everything& all) {
  Texts titles;
  for (const Document& document : all.documents) titles.push_back(document.title);
  return titles;
}

}  // namespace

TEST_CASE("a package is a document: name and short description, long description set anew, homepage, facets") {
  const TemporaryFolder folder;
  folder.write("mirror_dists_stable_main_binary-amd64_Packages", vim_stanza);
  folder.write("mirror_dists_stable_main_i18n_Translation-en", vim_translation);
  const Everything all = read_all("debian:" + folder.path());
  REQUIRE(all.documents.size() == 1);
  CHECK(all.documents[0] == vim);
  CHECK(all.errors.empty());
  CHECK(all.notes.empty());
}

TEST_CASE("the lists read alike plain, as gz, xz, lz4 and others, under the names that apt gives them") {
  struct Row {
    std::string filter;
    std::string ending;
  };
  const Row rows[] = {{"gzip", ".gz"}, {"xz", ".xz"}, {"lz4", ".lz4"}, {"zstd", ".zst"}, {"bzip2", ".bz2"}};
  for (const Row& row : rows) {
    CAPTURE(row.ending);
    const TemporaryFolder folder;
    folder.write("a_main_binary-amd64_Packages" + row.ending, packed(vim_stanza, row.filter));
    folder.write("a_main_i18n_Translation-en" + row.ending, packed(vim_translation, row.filter));
    const Everything all = read_all("debian:" + folder.path());
    REQUIRE(all.documents.size() == 1);
    CHECK(all.documents[0] == vim);
  }
}

TEST_CASE("of a package in several lists and versions, the newest is the document, and no error is made of it") {
  const TemporaryFolder folder;
  folder.write("a_main_Packages", package("bash", "5.2.15-2", "old") + package("only-here", "1", "x") +
                                      package("bash", "5.2.9-1", "older") + package("same", "1.0-1", "first"));
  folder.write("b_security_Packages", package("bash", "5.2.15-2+b10", "newest") +
                                          package("bash", "5.2.15-2+b9", "less") + package("same", "1.0-1", "second"));
  const Everything all = read_all("debian:" + folder.path());
  CHECK(titles(all) == Texts{"only-here - x", "same - first", "bash - newest"});
  CHECK(all.errors.empty());
}

TEST_CASE("a description that stands in Packages itself needs no translation list") {
  const TemporaryFolder folder;
  folder.write("Packages",
               "package: old\nversion: 1\nInstalled-Size: unknown\nDESCRIPTION: Short\n Long one.\n Goes on.\n"
               "Tag: role::{program,plugin}, interface::x11\n\n"
               "Package: bare\nVersion: 1\n\n");
  const Everything all = read_all("debian:" + folder.path());
  CHECK(titles(all) == Texts{"old - Short", "bare"});
  CHECK(all.documents[0].text == "Long one. Goes on.");
  CHECK(all.documents[0].facets ==
        std::map<std::string, Texts>{{"role", {"program", "plugin"}}, {"interface", {"x11"}}});
  CHECK(all.documents[1].text == "");
  CHECK(all.notes == Texts{"1 of 2 packages have no long description: there is no Translation-en list; "
                           "scripts/fetch-apt-lists fetches it"});
}

TEST_CASE("the first folder with a package list wins, and long descriptions may come from any folder") {
  const TemporaryFolder empty;
  const TemporaryFolder first;
  const TemporaryFolder second;
  empty.write("notes_Packages.txt", "no list\n");
  empty.write("lists_Packages.diff_Index", "no list\n");
  first.write("x_Packages", vim_stanza);
  second.write("y_Packages", package("other", "1", "x"));
  second.write("y_Translation-en", vim_translation);
  second.write("y_Translation-en_GB", "Description-md5: 59e8b8f7757db8b53566d5d119872de8\nDescription-en: x\n no\n\n");
  CorpusSettings settings;
  settings.apt_list_folders = {empty.path("none"), empty.path(), first.path(), second.path()};
  const Everything all = read_all("debian", settings);
  REQUIRE(all.ids() == Texts{"vim"});
  CHECK(all.documents[0] == vim);

  settings.apt_list_folders = {empty.path("none"), empty.path()};
  const auto none = open_corpus("debian", settings);
  REQUIRE(none.has_error());
  CHECK(none.error().code == Errc::not_found);
  CHECK(none.error().context.find(empty.path("none") + ", " + empty.path()) != std::string::npos);
  CHECK(none.error().context.find("scripts/fetch-apt-lists") != std::string::npos);
}

TEST_CASE("a list that lies there plain and compressed is taken once") {
  const TemporaryFolder folder;
  folder.write("a_Packages", package("a", "1", "plain"));
  folder.write("a_Packages.gz", packed(package("a", "2", "stale"), "gzip"));
  CHECK(titles(read_all("debian:" + folder.path())) == Texts{"a - plain"});
}

TEST_CASE("stanzas that are none are errors with their line, and the packages around them are read") {
  const TemporaryFolder folder;
  CorpusSettings settings;
  settings.longest_record_bytes = 200;
  const std::string long_field = "Package: long\nDepends: " + std::string(300, 'x') + "\n\n";
  const std::string hundred(100, 'x');
  const std::string long_stanza = "Package: wide\nA: " + hundred + "\nB: " + hundred + "\n\n";
  folder.write("Packages", package("a", "1", "x") +             // lines 1 to 4
                               "Version: 1\nSection: x\n\n" +   // 5
                               "Package: b\nno field here\n\n"  // 8, 9
                               "\n\n Package: c\n\n" +          // 13
                               long_field + long_stanza +       // 15, 16; 18 to 20
                               package("d\xe9", "1", "x") + "Package: e\r\nVersion: 1\r\nDescription: e\r\n");
  const Everything all = read_all("debian:" + folder.path(), settings);
  CHECK(all.ids() == Texts{"a", "d\xef\xbf\xbd", "e"});
  CHECK(all.progress.repaired == 1);
  CHECK(all.error_texts(folder.path()) ==
        Texts{"Packages:5: a record without the field 'Package'", "Packages:9: a line without the name of a field",
              "Packages:13: a continuation line without a field before it",
              "Packages:16: a line of 309 bytes is longer than the 200 allowed",
              "Packages:20: a record is longer than the 200 bytes allowed"});
}

TEST_CASE("a list that breaks off is a fatal error after the packages that were whole, never a silent end") {
  std::string list;
  for (int i = 0; i < 5000; ++i) list += package("p" + std::to_string(i), std::to_string(i * 7919LL % 5000), "x");
  for (const std::string filter : {"gzip", "xz", "lz4"}) {
    CAPTURE(filter);
    const TemporaryFolder folder;
    const std::string bytes = packed(list, filter);
    folder.write("a_Packages", bytes.substr(0, bytes.size() / 2));
    const Everything all = read_all("debian:" + folder.path());
    CHECK(all.documents.size() < 5000);
    REQUIRE(all.errors.size() == 1);
    CHECK(all.errors[0].fatal);

    folder.write("a_Packages", bytes);
    folder.write("a_Translation-en", bytes.substr(0, bytes.size() / 2));
    const Everything translation = read_all("debian:" + folder.path());
    REQUIRE(translation.errors.size() == 1);
    CHECK(translation.errors[0].fatal);
    CHECK(translation.errors[0].file == folder.path("a_Translation-en"));
  }
}

TEST_CASE("lists that are replaced while they are read are a fatal error: no package goes missing unnoticed") {
  const TemporaryFolder folder;
  folder.write("a_Packages", package("a", "1", "x") + package("b", "1", "x"));
  auto reader = open_corpus("debian:" + folder.path(), {});
  REQUIRE(reader.has_value());
  folder.write("a_Packages", package("a", "1", "x") + "\n" + package("b", "1", "x"));
  CHECK(std::get<Document>((*reader)->next()).id == "a");
  const ReadError error = std::get<ReadError>((*reader)->next());
  CHECK(error.fatal);
  CHECK(error.what == "1 of 2 packages were not found again: the lists changed while they were read");
  CHECK(std::holds_alternative<EndOfCorpus>((*reader)->next()));
}

TEST_CASE("faults of a translation list are reported, and its sound descriptions are used") {
  const TemporaryFolder folder;
  folder.write("a_Packages", vim_stanza);
  folder.write("a_Translation-en", "nonsense\n\n" + vim_translation + "more nonsense\n");
  const Everything all = read_all("debian:" + folder.path());
  CHECK(all.documents == std::vector<Document>{vim});
  CHECK(all.error_texts(folder.path()) == Texts{"a_Translation-en:1: a line without the name of a field",
                                                "a_Translation-en:17: a line without the name of a field"});
}

TEST_CASE("an empty list is a catalogue without packages, and the fraction rises to 1 by packages") {
  const TemporaryFolder folder;
  folder.write("Packages", "");
  CHECK(read_all("debian:" + folder.path()).progress.fraction == 1.0);
  folder.write("Packages", package("a", "1", "x") + package("b", "1", "x") + package("c", "1", "x") +
                               package("d", "1", "x"));
  CHECK(read_all("debian:" + folder.path()).fractions == std::vector<double>{0.25, 0.5, 0.75, 1, 1});
}

// Counted apart from the code under test by `grep -c ^Package:` and the like: Debian 12 has some 63,700 packages.
TEST_CASE("the catalogue of Debian 12 is read whole, with its long descriptions") {
  CorpusSettings settings;
  settings.apt_list_folders = {test::source_path("data/apt-lists"), "/var/lib/apt/lists"};
  if (!std::filesystem::exists(settings.apt_list_folders[0])) {
    std::puts("SKIPPED: scripts/fetch-apt-lists was not run");
    return;
  }
  const Everything all = read_all("debian", settings);
  CHECK(all.documents.size() > 60'000);
  CHECK(all.errors.empty());
  CHECK(all.progress.repaired == 0);
  std::size_t with_text = 0;
  std::size_t with_size = 0;
  for (const Document& document : all.documents) {
    with_text += document.text.empty() ? 0 : 1;
    with_size += document.facets.contains("installed_size") ? 1 : 0;
    if (document.id != "vim") continue;
    CHECK(document.title == "vim - Vi IMproved - enhanced vi editor");
    CHECK(document.text.starts_with("Vim is an almost compatible version of the UNIX editor Vi.\n\nMany new"));
    CHECK(document.facets.at("section") == Texts{"editors"});
  }
  CHECK(static_cast<double>(with_text) > 0.999 * static_cast<double>(all.documents.size()));
  // The main list has 63,314 Installed-Size in 63,440 stanzas.
  CHECK(static_cast<double>(with_size) > 0.99 * static_cast<double>(all.documents.size()));
}
