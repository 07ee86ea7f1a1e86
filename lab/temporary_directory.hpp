// A directory of one's own, under the system's temporary one or another, removed with the object unless its owner keeps it.
#pragma once

#include <filesystem>
#include <string>

#include "base/error.hpp"

namespace hedgerow::lab {

class TemporaryDirectory {
 public:
  // Named hedgerow-KIND-XXXXXX, in `parent` where one is given. Error: io.
  static result<TemporaryDirectory> make(const std::string& kind, const std::filesystem::path& parent = {});

  TemporaryDirectory(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory& operator=(TemporaryDirectory&& other) noexcept;
  ~TemporaryDirectory();

  const std::filesystem::path& path() const { return path_; }
  // It stays when the object goes: somebody should look at what is in it.
  void keep() { kept_ = true; }
  bool kept() const { return kept_; }

 private:
  explicit TemporaryDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;  // empty: moved from
  bool kept_ = false;
};

}  // namespace hedgerow::lab
