// An index that an experiment needs, built by hedgerow-index into a directory that goes with the object.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace hedgerow::lab {

class BuiltIndex {
 public:
  // Blocks until it is built. corpus: as `hedgerow-index build --corpus` takes it. Throws LiveFailure.
  BuiltIndex(const std::filesystem::path& bin_dir, const std::string& corpus, std::size_t partitions);
  ~BuiltIndex();
  BuiltIndex(const BuiltIndex&) = delete;
  BuiltIndex& operator=(const BuiltIndex&) = delete;

  std::filesystem::path directory() const { return folder_ / "index"; }

 private:
  std::filesystem::path folder_;
};

}  // namespace hedgerow::lab
