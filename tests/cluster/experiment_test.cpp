// `hedgerow-lab experiment --live` and its siblings as programs: they run, say what they found, and leave nothing behind.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "program.hpp"

using namespace hedgerow::test;
namespace fs = std::filesystem;

namespace {

std::size_t left_behind() {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(fs::temp_directory_path())) {
    const auto name = entry.path().filename().string();
    count += name.starts_with("hedgerow-experiment-") || name.starts_with("hedgerow-index-") ? 1 : 0;
  }
  return count;
}

// A directory of this test's own, for what is written.
struct Folder {
  Folder() : path(fs::temp_directory_path() / ("experiment-test-" + std::to_string(::getpid()))) { fs::create_directories(path); }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  fs::path path;
};

std::string content(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("a live experiment measures with real processes, judges, and leaves nothing behind") {
  const std::size_t before = left_behind();
  // Short: what it finds is not judged here, but that it finds it.
  const auto run = run_program(built_program("hedgerow-lab"), {"experiment", "subsystems", "--live", "--time-scale", "0.03", "--json"});
  CAPTURE(run.output);
  CHECK((run.status == 0 || run.status == 1));
  const auto json = nlohmann::json::parse(run.output, nullptr, false);
  REQUIRE(json.is_object());
  CHECK(json["experiment"] == "subsystems");
  CHECK(json["mode"] == "live");
  CHECK(json["agrees"].get<bool>() == (run.status == 0));
  REQUIRE(json["findings"].size() >= 4);
  for (const auto& finding : json["findings"]) CHECK(finding["measured"].is_number());
  CHECK(json["figures"]["spellers of 300 ms"]["queries"].get<int>() > 100);
  // What takes 300 ms is in no answer.
  CHECK_FALSE(json["figures"]["spellers of 300 ms"]["spelling"].contains("ok"));
  CHECK(json["settings"]["cluster"]["leaves"] == 4);
  CHECK(left_behind() == before);
}

TEST_CASE("a deadly query takes down two of twenty leaves at most, and the experiment starts them again") {
  const auto run = run_program(built_program("hedgerow-lab"), {"experiment", "canary", "--live", "--time-scale", "0.02", "--json"});
  CAPTURE(run.output);
  const auto json = nlohmann::json::parse(run.output, nullptr, false);
  REQUIRE(json.is_object());
  const auto& with = json["figures"]["deadly"]["with canaries"];
  CHECK(with["killed"].get<double>() >= 1);
  CHECK(with["killed"].get<double>() <= 2);
  CHECK(json["figures"]["deadly"]["without"]["killed"].get<double>() > 2);
}

TEST_CASE("a simulated experiment writes a page, pictures and a part of a document") {
  const Folder folder;
  const auto run = run_program(built_program("hedgerow-lab"),
                               {"experiment", "background", "--queries", "2000", "--html", (folder.path / "page.html").string(), "--pictures",
                                (folder.path / "pictures").string(), "--markdown", (folder.path / "part.md").string()});
  CHECK((run.status == 0 || run.status == 1));
  CHECK(run.output.find("synchronized disruption") != std::string::npos);
  CHECK(content(folder.path / "page.html").find("</html>") != std::string::npos);
  CHECK(content(folder.path / "pictures" / "background-simulated.svg").starts_with("<svg"));
  const auto part = content(folder.path / "part.md");
  CHECK(part.find("](pictures/background-simulated.svg)") != std::string::npos);
  CHECK(part.find("| staggered |") != std::string::npos);
}

TEST_CASE("experiments that cannot be run say why, with status 2") {
  const auto program = built_program("hedgerow-lab");
  CHECK(run_program(program, {"experiment"}).status == 2);
  CHECK(run_program(program, {"experiment", "nothing"}).status == 2);
  CHECK(run_program(program, {"experiment", "hedged", "--live", "--simulated"}).status == 2);
  CHECK(run_program(program, {"experiment", "good-enough", "--qrels", "somewhere"}).status == 2);
  CHECK(run_program(program, {"experiment", "subsystems", "--live", "--bin-dir", "/nowhere"}).status == 2);
  const auto list = run_program(program, {"experiment", "--list"});
  CHECK(list.status == 0);
  CHECK(list.output.find("leaf-percentiles") != std::string::npos);
}
