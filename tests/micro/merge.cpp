// root/merge: the best of many partitions' best.
#include "root/merge.hpp"

#include <algorithm>
#include <memory>

#include "base/random.hpp"
#include "benchmark.hpp"

namespace hedgerow::micro {

namespace {

using Lists = std::vector<std::vector<ScoredDocument>>;

// Documents are spread evenly, so the best are as well.
Lists lists_of(std::size_t lists, std::size_t hits) {
  Random random(1);
  Lists all(lists);
  std::uint32_t document = 0;
  for (auto& list : all) {
    for (std::size_t i = 0; i < hits; ++i) list.push_back({DocumentNumber{++document}, random.exponential(3)});
    std::sort(list.begin(), list.end(), ranks_before);
  }
  return all;
}

Benchmark merging(const std::string& name, std::size_t lists, std::size_t hits) {
  return {"merge/" + name, [=](const std::filesystem::path&) -> Iteration {
            const auto all = std::make_shared<Lists>(lists_of(lists, hits));
            return [=] {
              root::Merge merge(hits);
              for (std::uint32_t i = 0; i < all->size(); ++i) merge.add(PartitionId{i}, (*all)[i]);
              keep(merge.hits());
            };
          }};
}

}  // namespace

std::vector<Benchmark> merge_benchmarks() {
  return {merging("16-lists-of-10", 16, 10), merging("1000-lists-of-100", 1000, 100)};
}

}  // namespace hedgerow::micro
