#include "index/generation.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace hedgerow {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view folder_prefix = "generation-";

Error system_error(const fs::path& path, const char* what) {
  return {Errc::io, path.string() + ": " + what + ": " + std::strerror(errno)};
}

std::optional<std::uint64_t> generation_of(const fs::path& folder) {
  const std::string name = folder.filename().string();
  if (!name.starts_with(folder_prefix)) return std::nullopt;
  const char* first = name.data() + folder_prefix.size();
  const char* last = name.data() + name.size();
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(first, last, number);
  if (error != std::errc{} || end != last) return std::nullopt;
  return number;
}

std::vector<std::uint64_t> generations_in(const fs::path& directory) {
  std::vector<std::uint64_t> generations;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (const auto number = generation_of(entry.path())) generations.push_back(*number);
  }
  return generations;
}

fs::path folder_of(const fs::path& directory, std::uint64_t generation) {
  return directory / (std::string(folder_prefix) + std::to_string(generation));
}

// Removes every generation's folder but the two named.
void sweep(const fs::path& directory, std::uint64_t current, std::uint64_t previous) {
  for (const auto generation : generations_in(directory)) {
    std::error_code ignored;  // what cannot be removed now is swept next time
    if (generation != current && generation != previous) fs::remove_all(folder_of(directory, generation), ignored);
  }
}

result<void> write_file(const fs::path& path, std::string_view text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return system_error(path, "cannot be created");
  while (!text.empty()) {
    const auto written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const Error error = system_error(path, "cannot be written");
      ::close(file);
      return error;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::close(file) != 0) return system_error(path, "cannot be written");
  return sync_to_disk(path);
}

}  // namespace

result<void> sync_to_disk(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return system_error(path, "cannot be opened");
  if (::fsync(file) != 0) {
    const Error error = system_error(path, "cannot be synced");
    ::close(file);
    return error;
  }
  ::close(file);
  return {};
}

GenerationBuild::GenerationBuild(fs::path directory, int lock) : directory_(std::move(directory)), lock_(lock) {}

GenerationBuild::GenerationBuild(GenerationBuild&& other) noexcept
    : directory_(std::move(other.directory_)),
      lock_(std::exchange(other.lock_, -1)),
      generation_(other.generation_),
      previous_(other.previous_),
      folder_name_(std::move(other.folder_name_)),
      published_(other.published_) {}

GenerationBuild::~GenerationBuild() {
  if (lock_ < 0) return;
  std::error_code ignored;
  if (!published_ && !folder_name_.empty()) fs::remove_all(folder(), ignored);
  ::close(lock_);
}

result<GenerationBuild> GenerationBuild::begin(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return Error{Errc::io, directory.string() + ": cannot be created: " + error.message()};

  // The lock goes with the process that holds it, however that ends.
  const fs::path lock_path = directory / "build.lock";
  const int lock = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock < 0) return system_error(lock_path, "cannot be opened");
  GenerationBuild build(directory, lock);
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return system_error(lock_path, "cannot be locked");
    return Error{Errc::refused, directory.string() + ": another build is running there"};
  }

  const auto existing = generations_in(directory);
  std::uint64_t newest = 0;
  for (const auto generation : existing) newest = std::max(newest, generation);
  if (const auto manifest = read_manifest(directory)) {
    const std::uint64_t current = manifest->generation.value;
    std::uint64_t before = 0;
    for (const auto generation : existing) {
      if (generation < current) before = std::max(before, generation);
    }
    sweep(directory, current, before);
    build.previous_ = manifest->generation;
    build.generation_ = Generation{current + 1};
  } else if (manifest.error().code == Errc::not_found) {
    sweep(directory, 0, 0);
    build.generation_ = Generation{1};
  } else {
    // An index that cannot be read may be another program's version: nothing of it is touched.
    build.generation_ = Generation{newest + 1};
    build.previous_ = Generation{newest};
  }

  build.folder_name_ = folder_of({}, build.generation_.value).string();
  fs::create_directory(build.folder(), error);
  if (error) return Error{Errc::io, build.folder().string() + ": cannot be created: " + error.message()};
  return build;
}

result<void> GenerationBuild::publish(const Manifest& manifest) {
  if (auto synced = sync_to_disk(folder()); !synced) return synced;
  const fs::path fresh = directory_ / "manifest.json.new";
  if (auto written = write_file(fresh, manifest_to_json(manifest)); !written) return written;
  std::error_code error;
  fs::rename(fresh, directory_ / "manifest.json", error);
  if (error) return Error{Errc::io, fresh.string() + ": cannot be renamed: " + error.message()};
  published_ = true;
  if (auto synced = sync_to_disk(directory_); !synced) return synced;
  sweep(directory_, generation_.value, previous_.value);
  return {};
}

}  // namespace hedgerow
