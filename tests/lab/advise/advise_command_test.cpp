// The command, as it is typed.
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "lab/advise/advise_command.hpp"
#include "tests/places.hpp"

namespace hedgerow::lab {

namespace {

struct Ran {
  int status = -1;
  std::string output;  // what was said as an error included
};

Ran ran(const std::string& arguments) {
  Ran out;
  FILE* pipe = popen((test::built_program("hedgerow-lab").string() + " advise " + arguments + " 2>&1").c_str(), "r");
  REQUIRE(pipe);
  std::array<char, 4096> buffer;
  while (const auto size = std::fread(buffer.data(), 1, buffer.size(), pipe)) out.output.append(buffer.data(), size);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) out.status = WEXITSTATUS(status);
  return out;
}

// A directory with a file of samples: 980 take 5 ms, 20 take 200 ms.
struct Samples {
  Samples() : directory(std::filesystem::temp_directory_path() / ("hedgerow-advise-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(directory);
    std::ofstream file(path());
    for (int i = 0; i < 1000; ++i) file << (i % 50 == 0 ? "200ms\n" : "5ms\n");
  }
  ~Samples() { std::filesystem::remove_all(directory); }
  std::string path() const { return (directory / "samples.txt").string(); }
  std::filesystem::path directory;
};

}  // namespace

TEST_CASE("a quantile is written as a percentile or as a share") {
  CHECK(*parse_quantile("p99.9") == doctest::Approx(0.999));
  CHECK(*parse_quantile("0.95") == doctest::Approx(0.95));
  for (const char* wrong : {"", "p", "p100", "1", "0", "99.9", "p99.9%", "-0.5", "best"}) {
    CAPTURE(wrong);
    CHECK(parse_quantile(wrong).has_error());
  }
}

TEST_CASE("advice on a file of samples, in words and as JSON") {
  const Samples samples;
  // Hedging the two late ones of a hundred at 5 ms: late again are 4 in 10,000, so p99.9 of single requests is 10 ms.
  const Ran json = ran("--samples " + samples.path() + " --replicas 2 --budget 0.03 --target p99.9 --json");
  REQUIRE(json.status == 0);
  const auto advice = nlohmann::json::parse(json.output);
  CHECK(advice.at("verdict") == "hedge");
  CHECK(advice.at("plan").at("delays_ms") == nlohmann::json::array({5.0}));
  CHECK(advice.at("plan").at("extra_share").get<double>() == doctest::Approx(0.02).epsilon(0.05));
  for (const auto& each : advice.at("quantiles")) {
    if (each.at("quantile").get<double>() < 0.9985) continue;
    CHECK(each.at("without").at("ms").get<double>() == doctest::Approx(200));
    CHECK(each.at("with").at("ms").get<double>() == doctest::Approx(10).epsilon(0.01));
  }
  const Ran words = ran("--samples " + samples.path() + " --replicas 2 --budget 0.03");
  CHECK(words.status == 0);
  CHECK(words.output.find("Hedge after 5 ms") == 0);
}

TEST_CASE("a page and pictures are written where they are wished") {
  const Samples samples;
  const auto page = samples.directory / "advice.html", pictures = samples.directory / "pictures";
  REQUIRE(ran("--samples " + samples.path() + " --html " + page.string() + " --pictures " + pictures.string()).status == 0);
  std::ifstream file(page);
  const std::string html{std::istreambuf_iterator<char>(file), {}};
  CHECK(html.find("When to hedge") != std::string::npos);
  CHECK(std::filesystem::exists(pictures / "advise-latencies.svg"));
}

TEST_CASE("the exit status says whether a run that was hedged so agrees") {
  const Samples samples;
  const auto write = [&](const char* name, int late_ms) {
    const auto path = samples.directory / name;
    std::ofstream file(path);
    for (int i = 0; i < 2000; ++i) file << (i % 50 == 0 ? late_ms : 5) << "ms\n";
    return path.string();
  };
  const std::string question = "--samples " + samples.path() + " --budget 0.03 --hedged-samples ";
  CHECK(ran(question + write("good.txt", 10)).status == 0);
  const Ran bad = ran(question + write("bad.txt", 20));
  CHECK(bad.status == 1);
  CHECK(bad.output.find("It does not agree") != std::string::npos);
}

TEST_CASE("files that are silly are answered in words") {
  const Samples samples;
  const auto written = [&](const char* name, const std::string& text) {
    const auto path = samples.directory / name;
    std::ofstream(path) << text;
    return "--samples " + path.string();
  };
  struct Row {
    const char* name;
    std::string text;
    int status;
    const char* word;
  };
  std::string equal, zero;
  for (int i = 0; i < 1000; ++i) equal += "8ms\n", zero += "0ms\n";
  for (const Row& row : {Row{"empty", "", 2, "holds no latencies"}, Row{"one", "5ms\n", 2, "two at least"}, Row{"two", "5ms\n6ms\n", 0, "Too few samples"},
                         Row{"given-up", ">5ms\n>6ms\n", 2, "holds no latencies"}, Row{"unit", "5\n6\n", 2, "--unit"}, Row{"prose", "once upon a time\n", 2, "--column"},
                         Row{"equal", equal, 0, "Do not hedge"}, Row{"zero", zero, 0, "is the unit right"}}) {
    CAPTURE(row.name);
    const Ran words = ran(written(row.name, row.text) + " --load 0.3 --html " + (samples.directory / "page.html").string());
    CHECK(words.status == row.status);
    CHECK(words.output.find(row.word) != std::string::npos);
    CHECK(words.output.find("nan") == std::string::npos);
  }
  // A directory.
  CHECK(ran("--samples " + samples.directory.string()).status == 2);
}

TEST_CASE("what cannot be advised on is an error that says why") {
  const Samples samples;
  CHECK(ran("--samples /nowhere/samples.txt").status == 2);
  for (const auto& [arguments, word] : {std::pair{"--target best", "--target"}, std::pair{"--load 1.5", "--load"}, std::pair{"--budget 0", "--budget"}}) {
    CAPTURE(arguments);
    const Ran refused = ran("--samples " + samples.path() + " " + arguments);
    CHECK(refused.status == 2);
    CHECK(refused.output.find(word) != std::string::npos);
  }
  CHECK(ran("").status == 2);
  CHECK(ran("--samples " + samples.path() + " --histogram " + samples.path()).status == 2);
}

}  // namespace hedgerow::lab
