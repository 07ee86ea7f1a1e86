// An index that an experiment needs, built by hedgerow-index into a directory that goes with the object.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "lab/temporary_directory.hpp"

namespace hedgerow::lab {

class BuiltIndex {
 public:
  // Blocks until it is built. corpus: as `hedgerow-index build --corpus` takes it. Throws LiveFailure.
  BuiltIndex(const std::filesystem::path& bin_dir, const std::string& corpus, std::size_t partitions);

  std::filesystem::path directory() const { return folder_.path() / "index"; }

 private:
  TemporaryDirectory folder_;
};

}  // namespace hedgerow::lab
