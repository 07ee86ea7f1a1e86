// Publishing a build: one at a time, all or nothing.
//
// A build writes into a folder of its own, DIR/generation-N, and becomes the index when manifest.json is replaced by an
// atomic rename. A build that is killed leaves the index as it was; the next one sweeps its folder away. The generation
// before the published one is kept, for whoever still reads it, until the next is published.
#pragma once

#include <filesystem>
#include <string>

#include "base/error.hpp"
#include "base/ids.hpp"
#include "index/manifest.hpp"

namespace hedgerow {

// The right to build into a directory, and the folder to build in. Released, and the folder removed unless it was
// published, by the destructor. Owned by one thread.
class GenerationBuild {
 public:
  // Creates the directory if it does not exist, and sweeps away what killed builds left behind.
  // Errors: refused (another build is running there), io.
  static result<GenerationBuild> begin(const std::filesystem::path& directory);
  GenerationBuild(GenerationBuild&& other) noexcept;
  GenerationBuild& operator=(GenerationBuild&&) = delete;
  ~GenerationBuild();

  Generation generation() const { return generation_; }
  // "generation-3": what the manifest's file names start with.
  const std::string& folder_name() const { return folder_name_; }
  std::filesystem::path folder() const { return directory_ / folder_name_; }

  // Makes the manifest the index: its files must be in the folder, synced. Errors: io; the index is as it was then.
  result<void> publish(const Manifest& manifest);

 private:
  GenerationBuild(std::filesystem::path directory, int lock);

  std::filesystem::path directory_;
  int lock_ = -1;
  Generation generation_;
  Generation previous_;
  std::string folder_name_;
  bool published_ = false;
};

// Waits until a file or folder is on the disk. Errors: io.
result<void> sync_to_disk(const std::filesystem::path& path);

}  // namespace hedgerow
