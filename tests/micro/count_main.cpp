// hedgerow-micro-count: the micro-benchmarks for valgrind to count (scripts/check-instructions).
//
//   hedgerow-micro-count list
//   hedgerow-micro-count build --index DIR
//   hedgerow-micro-count run --index DIR [--iterations N] [NAME ...]
//
// run prepares each benchmark, warms it up and runs it N times, in a process of its own: what one leaves in the allocator's
// lists changes what allocating costs the next. Under callgrind with --instr-atstart=no these N times alone are counted, and
// written out as a profile with the benchmark's name; otherwise they are run just so.

#include <sys/wait.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <set>

#include "benchmark.hpp"
#include "collection.hpp"

namespace {

using namespace hedgerow;

// What is allocated on first use is there then, and the allocator's lists are filled.
constexpr int warming_iterations = 5;

void run(const micro::Benchmark& benchmark, const std::filesystem::path& index, int iterations) {
  const micro::Iteration iteration = benchmark.prepare(index);
  for (int i = 0; i < warming_iterations; ++i) iteration();
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
  for (int i = 0; i < iterations; ++i) iteration();
  CALLGRIND_DUMP_STATS_AT(benchmark.name.c_str());
  CALLGRIND_STOP_INSTRUMENTATION;
}

void run_apart(const micro::Benchmark& benchmark, const std::filesystem::path& index, int iterations) {
  const pid_t child = ::fork();
  micro::require(child >= 0, "no process for " + benchmark.name);
  if (child == 0) {
    try {
      run(benchmark, index, iterations);
      ::_exit(0);
    } catch (const std::exception& problem) {
      std::cerr << "hedgerow-micro-count: " << benchmark.name << ": " << problem.what() << std::endl;
      ::_exit(1);
    }
  }
  int status = 0;
  micro::require(::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0, benchmark.name + " failed");
}

void run_all(const std::filesystem::path& index, int iterations, const std::vector<std::string>& names) {
  std::set<std::string> unknown(names.begin(), names.end());
  for (const auto& benchmark : micro::all_benchmarks()) {
    if (names.empty() || unknown.erase(benchmark.name) > 0) run_apart(benchmark, index, iterations);
  }
  micro::require(unknown.empty(), "none is called " + (unknown.empty() ? "" : *unknown.begin()));
}

}  // namespace

int main(int argc, char** argv) try {
  std::filesystem::path index;
  int iterations = 50;
  std::vector<std::string> names;
  CLI::App app("The micro-benchmarks for valgrind to count");
  app.require_subcommand(1);
  auto* const list = app.add_subcommand("list", "names them");
  auto* const build = app.add_subcommand("build", "builds the index that they search");
  auto* const running = app.add_subcommand("run", "runs them");
  for (auto* const command : {build, running}) command->add_option("--index", index, "Its directory")->required();
  running->add_option("--iterations", iterations, "Of each benchmark")->check(CLI::PositiveNumber);
  running->add_option("NAME", names, "Which (all)");
  CLI11_PARSE(app, argc, argv);

  if (list->parsed()) {
    for (const auto& benchmark : micro::all_benchmarks()) std::cout << benchmark.name << '\n';
  }
  if (build->parsed()) micro::build_collection(index);
  if (running->parsed()) run_all(index, iterations, names);
  return 0;
} catch (const std::exception& problem) {
  std::cerr << "hedgerow-micro-count: " << problem.what() << '\n';
  return 1;
}
