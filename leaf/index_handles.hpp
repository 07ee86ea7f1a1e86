// One worker's handles into the index: each opened when first needed, and belonging to the worker's thread.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <unordered_map>

#include "base/error.hpp"
#include "base/ids.hpp"
#include "index/manifest.hpp"
#include "index/searcher.hpp"
#include "index/spelling.hpp"

namespace hedgerow::leaf {

class IndexHandles {
 public:
  IndexHandles(std::filesystem::path directory, std::shared_ptr<const Manifest> manifest)
      : directory_(std::move(directory)), manifest_(std::move(manifest)) {}

  // Errors: those of PartitionSearcher::open and SpellingDictionary::open.
  result<PartitionSearcher*> partition(PartitionId partition);
  result<SpellingDictionary*> spelling();

 private:
  std::filesystem::path directory_;
  std::shared_ptr<const Manifest> manifest_;
  std::unordered_map<PartitionId, PartitionSearcher> partitions_;
  std::optional<SpellingDictionary> spelling_;
};

}  // namespace hedgerow::leaf
