#include "lab/temporary_directory.hpp"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace hedgerow::lab {

namespace fs = std::filesystem;

result<TemporaryDirectory> TemporaryDirectory::make(const std::string& kind, const fs::path& parent) {
  std::error_code error;
  const fs::path where = parent.empty() ? fs::temp_directory_path(error) : parent;
  if (error) return Error{Errc::io, "there is no temporary directory: " + error.message()};
  std::string path = (where / ("hedgerow-" + kind + "-XXXXXX")).string();
  if (!::mkdtemp(path.data())) return Error{Errc::io, path + ": " + std::strerror(errno)};
  return TemporaryDirectory(fs::path(path));
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept
    : path_(std::exchange(other.path_, fs::path())), kept_(other.kept_) {}

TemporaryDirectory& TemporaryDirectory::operator=(TemporaryDirectory&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(kept_, other.kept_);
  return *this;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  if (!path_.empty() && !kept_) fs::remove_all(path_, ignored);
}

}  // namespace hedgerow::lab
