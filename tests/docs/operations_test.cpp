// docs/operations.md and the programs' --help name the same settings.

#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <string>

#include "tests/places.hpp"

namespace {

std::string output_of(const std::string& command) {
  std::string text;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  REQUIRE(pipe);
  std::array<char, 4096> buffer;
  while (const auto size = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) text.append(buffer.data(), size);
  return text;
}

std::set<std::string> found_in(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::set<std::string> out;
  for (std::sregex_iterator match(text.begin(), text.end(), expression), end; match != end; ++match) {
    out.insert((*match)[1].str());
  }
  return out;
}

std::string help_of(const std::string& program) {
  return output_of(hedgerow::test::built_program(program).string() + " --help");
}

// The settings of a program and of its subcommands, from their help: lines that begin with dashes.
std::set<std::string> settings_of(const std::string& program, std::initializer_list<const char*> subcommands) {
  std::string help = help_of(program);
  for (const char* subcommand : subcommands) help += help_of(program + " " + subcommand);
  auto settings = found_in(help, "\n +(?:-[a-z],)?(--?[a-z][a-z0-9-]*)");
  settings.erase("--help");
  return settings;
}

// The first column of the tables below a heading of operations.md.
std::set<std::string> settings_in(const std::string& document, const std::string& heading) {
  const auto begin = document.find("\n## " + heading + "\n");
  REQUIRE(begin != std::string::npos);
  const auto end = document.find("\n## ", begin + 1);
  const std::string section = document.substr(begin, end - begin);
  std::set<std::string> settings;
  for (const auto& row : found_in(section, "\n\\| ([^|]*) \\|")) {
    settings.merge(found_in(row, "`(--?[a-z][a-z0-9-]*)`"));
  }
  return settings;
}

}  // namespace

TEST_CASE("operations.md and the programs' help name the same settings") {
  std::ifstream file(hedgerow::test::source_path("docs/operations.md"));
  const std::string document{std::istreambuf_iterator<char>(file), {}};

  const std::map<std::string, std::set<std::string>> programs{
      {"hedgerow-index", settings_of("hedgerow-index", {"build", "search", "verify", "stats"})},
      {"hedgerow-leaf", settings_of("hedgerow-leaf", {})},
      {"hedgerow-root", settings_of("hedgerow-root", {})},
      {"hedgerow-lab", settings_of("hedgerow-lab", {"up", "faults", "load", "evaluate", "ps", "restart", "simulate", "experiment", "sweep", "advise"})}};
  for (const auto& [program, in_help] : programs) {
    CAPTURE(program);
    CHECK(in_help.size() > 5);
    const auto in_document = settings_in(document, program);
    for (const auto& setting : in_help) {
      CAPTURE(setting);
      CHECK_MESSAGE(in_document.contains(setting), "in the help, not in operations.md");
    }
    for (const auto& setting : in_document) {
      CAPTURE(setting);
      CHECK_MESSAGE(in_help.contains(setting), "in operations.md, not in the help");
    }
  }
}
