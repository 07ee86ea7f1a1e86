// Micro-benchmarks: single steps of a query's way, each measured alone.
//
// One table of them serves two programs: hedgerow-micro takes their times (Google Benchmark), hedgerow-micro-count has
// valgrind count their instructions (scripts/check-instructions), and counts are the same in every run. So no iteration reads
// a clock, starts a thread or draws from a seed that is not fixed.
#pragma once

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace hedgerow::micro {

// All that it does is measured.
using Iteration = std::function<void()>;

struct Benchmark {
  std::string name;  // "subject/what one iteration does"
  // Makes, unmeasured, what the iterations need. index: the directory of collection.hpp's index. Throws std::runtime_error
  // where an iteration would not do what its name says.
  std::function<Iteration(const std::filesystem::path& index)> prepare;
};

// In the order of a query's way. Each subject has a file of its own.
std::vector<Benchmark> all_benchmarks();

std::vector<Benchmark> plan_benchmarks();
std::vector<Benchmark> fanout_benchmarks();
std::vector<Benchmark> codec_benchmarks();
std::vector<Benchmark> search_benchmarks();
std::vector<Benchmark> merge_benchmarks();
std::vector<Benchmark> answer_json_benchmarks();
std::vector<Benchmark> histogram_benchmarks();

// For the optimiser this is a reader of the value: it has to be made.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

inline void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("micro-benchmarks: " + what);
}

}  // namespace hedgerow::micro
