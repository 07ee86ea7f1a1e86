#include "leaf/index_handles.hpp"

namespace hedgerow::leaf {

result<PartitionSearcher*> IndexHandles::partition(PartitionId partition) {
  if (const auto found = partitions_.find(partition); found != partitions_.end()) return &found->second;
  auto searcher = PartitionSearcher::open(directory_, *manifest_, partition);
  if (searcher.has_error()) return searcher.error();
  return &partitions_.emplace(partition, std::move(*searcher)).first->second;
}

result<SpellingDictionary*> IndexHandles::spelling() {
  if (!spelling_) {
    auto dictionary = SpellingDictionary::open(directory_, *manifest_);
    if (dictionary.has_error()) return dictionary.error();
    spelling_.emplace(std::move(*dictionary));
  }
  return &*spelling_;
}

}  // namespace hedgerow::leaf
