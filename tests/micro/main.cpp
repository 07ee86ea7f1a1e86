// hedgerow-micro: the times of the micro-benchmarks, by Google Benchmark, whose options it takes (--benchmark_filter=codec).
#include <benchmark/benchmark.h>

#include <exception>
#include <iostream>

#include "benchmark.hpp"
#include "collection.hpp"
#include "tests/index/temporary_directory.hpp"

int main(int argc, char** argv) try {
  using namespace hedgerow;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  const test::TemporaryDirectory directory;
  const auto index = directory.path() / "index";
  micro::build_collection(index);
  for (const auto& each : micro::all_benchmarks()) {
    // Google Benchmark calls this several times, until it has found how many iterations it needs.
    benchmark::RegisterBenchmark(each.name.c_str(), [&index, each, iteration = micro::Iteration()](benchmark::State& state) mutable {
      if (!iteration) iteration = each.prepare(index);
      for (auto _ : state) iteration();
    });
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
} catch (const std::exception& problem) {
  std::cerr << "hedgerow-micro: " << problem.what() << '\n';
  return 1;
}
