#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>

#include "tests/corpus/files.hpp"
#include "tests/places.hpp"

using namespace hedgerow;
using namespace hedgerow::test;

namespace {

// A machine as scripts/fetch-apt-lists sees it: apt's configuration, a source of its own made of files, and list
// folders, all below one folder.
class Machine {
 public:
  Machine() {
    for (const char* name : {"lists", "repository/dists/stable/main/binary-all", "repository/dists/stable/main/i18n"}) {
      std::filesystem::create_directories(folder_.path(name));
    }
    const std::string lists = R"sh(
      cd "$M/repository/dists/stable"
      arch=$(dpkg --print-architecture); mkdir -p "main/binary-$arch"
      md5=0123456789abcdef0123456789abcdef
      { printf 'Package: tree\nVersion: 2\nArchitecture: all\nMaintainer: x\nDescription: lists folders\n'
        printf 'Description-md5: %s\nFilename: x\nSize: 1\nSHA256: 0\n\n' $md5; } > "main/binary-$arch/Packages"
      printf 'Package: tree\nDescription-md5: %s\nDescription-en: lists folders\n Long words about it.\n\n' $md5 \
        > main/i18n/Translation-en
      { echo "Suite: stable"; echo "Codename: stable"; echo "Architectures: $arch all"; echo "Components: main"
        echo "Date: $(date -uR)"; echo "SHA256:"
        for f in "main/binary-$arch/Packages" main/i18n/Translation-en; do
          echo " $(sha256sum < $f | cut -d' ' -f1) $(stat -c %s $f) $f"; done; } > Release
      echo "deb [trusted=yes] file:$M/repository stable main" > "$M/sources.list"
    )sh";
    CHECK(shell(lists) == 0);
    folder_.write("apt.conf", "Dir::Etc::parts \"/dev/null\"; Dir::Etc::main \"/dev/null\";\n"
                              "Dir::Etc::sourcelist \"" + folder_.path("sources.list") + "\";\n"
                              "Dir::Etc::sourceparts \"/dev/null\";\n"
                              "Dir::State::lists \"" + folder_.path("lists") + "\";\n"
                              "Acquire::Languages { \"none\"; };\n"
                              "APT::Update::Post-Invoke { \"touch " + folder_.path("hook-ran") + "\"; };\n");
  }

  // Runs the script; its messages go to the file "messages". Returns its exit status.
  int fetch(const std::string& options = "") const {
    return shell("'" + test::source_path("scripts/fetch-apt-lists") + "' --into \"$M/private\" " + options);
  }
  std::string messages() const { return contents(folder_.path("messages")); }
  const TemporaryFolder& folder() const { return folder_; }

 private:
  int shell(const std::string& commands) const {
    folder_.write("commands", commands);
    const std::string line = "M='" + folder_.path().substr(0, folder_.path().size() - 1) +
                             "'; export M; APT_CONFIG=\"$M/apt.conf\" bash -e \"$M/commands\" > \"$M/messages\" 2>&1";
    const int status = std::system(line.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  TemporaryFolder folder_;
};

bool has_apt() {
  if (std::filesystem::exists("/usr/bin/apt-get") && std::filesystem::exists("/usr/bin/dpkg")) return true;
  std::puts("SKIPPED: there is no apt-get here");
  return false;
}

}  // namespace

TEST_CASE("long descriptions that the machine lacks are fetched into a private folder, and its own stay as they are") {
  if (!has_apt()) return;
  const Machine machine;
  const int status = machine.fetch();
  CAPTURE(machine.messages());
  REQUIRE(status == 0);
  const Everything all = read_all("debian:" + machine.folder().path("private"));
  REQUIRE(all.documents.size() == 1);
  CHECK(all.documents[0].title == "tree - lists folders");
  CHECK(all.documents[0].text == "Long words about it.");
  CHECK(std::filesystem::is_empty(machine.folder().path("lists")));
  CHECK_FALSE(std::filesystem::exists(machine.folder().path("hook-ran")));

  SUBCASE("a second call does nothing, even where the source is gone") {
    std::filesystem::remove_all(machine.folder().path("repository"));
    CHECK(machine.fetch() == 0);
    CHECK(machine.messages().find("nothing to fetch") != std::string::npos);
    SUBCASE("but --refresh asks again, and fails without a source; the old lists stay") {
      CHECK(machine.fetch("--refresh") == 1);
      CHECK(machine.messages().find("some sources failed") != std::string::npos);
      CHECK(read_all("debian:" + machine.folder().path("private")).documents.size() == 1);
    }
    SUBCASE("and once their age has passed, lists that cannot be renewed are still good enough") {
      CHECK(machine.fetch("--max-age 0") == 0);
      CHECK(machine.messages().find("some sources failed") != std::string::npos);
      CHECK(machine.fetch() == 0);
      CHECK(machine.messages().find("nothing to fetch") != std::string::npos);
    }
  }
}

TEST_CASE("where the machine's own lists hold long descriptions, nothing is fetched") {
  if (!has_apt()) return;
  const Machine machine;
  machine.folder().write("lists/x_Packages.lz4", "something");
  machine.folder().write("lists/x_Translation-en.lz4", "something");
  CHECK(machine.fetch() == 0);
  CHECK(machine.messages().find("nothing to fetch") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(machine.folder().path("private")));
}

TEST_CASE("a wrong option is refused with the usage") {
  if (!has_apt()) return;
  const Machine machine;
  CHECK(machine.fetch("--nonsense") == 2);
  CHECK(machine.messages().find("unknown option '--nonsense'") != std::string::npos);
  CHECK(machine.messages().find("--into FOLDER") != std::string::npos);
  CHECK(machine.fetch("--max-age soon") == 1);
}
