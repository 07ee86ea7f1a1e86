#include "benchmark.hpp"

#include <utility>

namespace hedgerow::micro {

std::vector<Benchmark> all_benchmarks() {
  std::vector<Benchmark> all;
  for (const auto subject : {plan_benchmarks, fanout_benchmarks, codec_benchmarks, search_benchmarks, merge_benchmarks,
                             answer_json_benchmarks, histogram_benchmarks}) {
    for (Benchmark& benchmark : subject()) all.push_back(std::move(benchmark));
  }
  return all;
}

}  // namespace hedgerow::micro
