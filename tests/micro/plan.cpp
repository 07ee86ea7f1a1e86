// index/query: from what was typed to a query plan, once for each query, on the root.
#include <memory>

#include "benchmark.hpp"
#include "collection.hpp"

namespace hedgerow::micro {

namespace {

Benchmark planning(const std::string& name, const std::string& text, std::size_t fewest_terms) {
  return {"plan/" + name, [=](const std::filesystem::path& index) -> Iteration {
            const auto statistics = std::make_shared<CollectionStatistics>(open_statistics(index));
            require(plan_query(text, *statistics).value().terms.size() >= fewest_terms, name);
            return [=] { keep(plan_query(text, *statistics)); };
          }};
}

}  // namespace

std::vector<Benchmark> plan_benchmarks() {
  return {planning("one-word", one_word(), 1), planning("three-words", three_words(), 3), planning("phrase", phrase(), 2),
          planning("prefix-of-50-words", prefix(), 50)};
}

}  // namespace hedgerow::micro
