// What scripts/check-instructions says of counts. Counting itself needs no test of its own: the check runs it.
#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "tests/index/temporary_directory.hpp"
#include "tests/places.hpp"

namespace hedgerow::micro {

namespace {

// The script over two files of counts.
class Check {
 public:
  // Written down, on this machine and with another Xapian.
  void written_down(const std::string& counts) const { write("before", "# xapian\n" + here() + counts); }
  void written_down_elsewhere(const std::string& counts) const {
    std::string versions = here();
    const auto at = versions.find("libxapian30 ");
    REQUIRE(at != std::string::npos);
    write("before", versions.insert(at + std::string("libxapian30 ").size(), "0.") + counts);
  }

  // "fine" or "fails", and what was said.
  std::string of(const std::string& counts) const {
    write("now", counts);
    std::string said;
    const int status = run("", said);
    return (status == 0 ? "fine\n" : status == 1 ? "fails\n" : "is broken\n") + said;
  }

 private:
  std::string path(const char* name) const { return (directory_.path() / name).string(); }
  void write(const char* name, const std::string& text) const { std::ofstream(path(name)) << text; }

  // The head that the script writes on this machine.
  std::string here() const {
    write("now", "");
    std::string said;
    REQUIRE(run("--update", said) == 0);
    std::ifstream file(path("before"));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  int run(const std::string& options, std::string& said) const {
    const std::string command = "'" + test::source_path("scripts/check-instructions") + "' " + options + " --baseline '" +
                                path("before") + "' --counts '" + path("now") + "' 2>&1";
    std::FILE* pipe = ::popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) said.push_back(static_cast<char>(c));
    const int status = ::pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  test::TemporaryDirectory directory_;
};

}  // namespace

TEST_CASE("a count that rose by over a twentieth fails the check, one that fell is told, others pass") {
  struct Row {
    const char* now;
    const char* verdict;
    const char* says;  // of that benchmark, at the end of its line
  };
  const Row rows[] = {
      {"1000", "fine", "+0.00%\n"},
      {"1050", "fine", "+5.00%\n"},
      {"1051", "fails", "+5.10%  ROSE\n"},
      {"3000", "fails", "+200.00%  ROSE\n"},
      {"950", "fine", "-5.00%\n"},
      {"949", "fine", "-5.10%  fell: write it down: --update\n"},
  };
  const Check check;
  check.written_down("codec/a\t1000\nmerge/b\t70\n");
  for (const Row& row : rows) {
    CAPTURE(row.now);
    const std::string said = check.of("codec/a\t" + std::string(row.now) + "\nmerge/b\t70\n");
    CAPTURE(said);
    CHECK(said.starts_with(row.verdict));
    CHECK(said.find(row.says) != std::string::npos);
    CHECK(said.find("merge/b") != std::string::npos);
  }
}

TEST_CASE("a benchmark of which no count is written down fails the check, and so does a count without its benchmark") {
  const Check check;
  check.written_down("codec/a\t1000\nmerge/b\t70\n");
  const std::string more = check.of("codec/a\t1000\nmerge/b\t70\nmerge/c\t7\n");
  CAPTURE(more);
  CHECK(more.starts_with("fails"));
  CHECK(more.find("not written down: --update") != std::string::npos);
  const std::string fewer = check.of("codec/a\t1000\n");
  CAPTURE(fewer);
  CHECK(fewer.starts_with("fails"));
  CHECK(fewer.find("gone: --update") != std::string::npos);
  CHECK(check.of("").starts_with("fails"));
}

TEST_CASE("where libraries are others than those written down, the difference is told and no count fails") {
  const Check check;
  check.written_down_elsewhere("codec/a\t1000\n");
  const std::string said = check.of("codec/a\t2000\n");
  CAPTURE(said);
  CHECK(said.starts_with("fine"));
  CHECK(said.find("libraries differ: compare by hand") != std::string::npos);
  CHECK(said.find("< # libxapian30 0.") != std::string::npos);
  CHECK(said.find("ROSE") != std::string::npos);
  CHECK(check.of("codec/a\t1000\nmerge/b\t7\n").starts_with("fails"));
}

}  // namespace hedgerow::micro
