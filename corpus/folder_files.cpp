#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "corpus/tree_files.hpp"

namespace hedgerow {

namespace {

constexpr std::size_t read_bytes = 64 * 1024;

std::string file_url(const std::string& absolute_path) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string url = "file://";
  for (const char c : absolute_path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("/-._~").find(c) != std::string_view::npos;
    if (plain) {
      url += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      url.append({'%', digits[byte >> 4], digits[byte & 15]});
    }
  }
  return url;
}

class FolderFiles final : public TreeFiles {
 public:
  explicit FolderFiles(std::string root) : root_(std::move(root)), buffer_(read_bytes, '\0') {}
  ~FolderFiles() override { close_file(); }

  result<void> open();
  std::variant<TreeFile, ReadError, EndOfCorpus> next() override;
  result<std::string_view> next_piece() override;
  std::string name_of(const TreeFile& file) const override { return below_root(file.path); }
  std::optional<double> fraction() const override;

 private:
  // A folder on the way to the file at hand. Folders' names end with "/", so that sorting the names sorts the paths.
  struct Level {
    std::string path;  // below the root, with "/" at its end; empty for the root
    std::vector<std::string> names;
    std::size_t next = 0;
  };

  std::string below_root(const std::string& path) const { return root_ + (root_.ends_with('/') ? "" : "/") + path; }
  // What is wrong, or nothing.
  std::optional<std::string> enter(std::string path);
  void close_file();

  std::string root_;
  std::string url_root_;
  std::vector<Level> levels_;
  int file_ = -1;
  std::string buffer_;
};

result<void> FolderFiles::open() {
  std::error_code error;
  const std::string absolute = std::filesystem::canonical(root_, error).string();
  if (error) return Error{Errc::io, root_ + ": " + error.message()};
  url_root_ = absolute.ends_with('/') ? absolute : absolute + "/";
  if (const auto fault = enter("")) return Error{Errc::io, root_ + ": " + *fault};
  return {};
}

std::optional<std::string> FolderFiles::enter(std::string path) {
  // The root may be a symbolic link; a folder below may have become one since it was listed.
  const int descriptor =
      ::open(below_root(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | (path.empty() ? 0 : O_NOFOLLOW));
  DIR* const folder = descriptor < 0 ? nullptr : ::fdopendir(descriptor);
  if (folder == nullptr) {
    std::string fault = std::strerror(errno);
    if (descriptor >= 0) ::close(descriptor);
    return fault;
  }
  Level level{std::move(path), {}, 0};
  errno = 0;
  while (const dirent* const entry = ::readdir(folder)) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (name.starts_with('.')) {
      pass_over("hidden files and folders");
      continue;
    }
    struct stat status{};
    // What is gone again, or may not be looked at, is told when its turn comes.
    const bool known = ::fstatat(descriptor, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (known && S_ISLNK(status.st_mode)) {
      pass_over("symbolic links");
    } else if (known && S_ISDIR(status.st_mode)) {
      level.names.push_back(std::string(name) + "/");
    } else if (known && !S_ISREG(status.st_mode)) {
      pass_over("devices, pipes and sockets");
    } else {
      level.names.emplace_back(name);
    }
    errno = 0;
  }
  const int fault = errno;
  ::closedir(folder);
  if (fault != 0) return std::strerror(fault);
  std::sort(level.names.begin(), level.names.end());
  levels_.push_back(std::move(level));
  return std::nullopt;
}

void FolderFiles::close_file() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

std::variant<TreeFile, ReadError, EndOfCorpus> FolderFiles::next() {
  close_file();
  while (!levels_.empty()) {
    Level& level = levels_.back();
    if (level.next == level.names.size()) {
      levels_.pop_back();
      continue;
    }
    std::string path = level.path + level.names[level.next++];
    if (path.ends_with('/')) {
      if (const auto fault = enter(path)) {
        path.pop_back();
        return ReadError{below_root(path), 0, *fault, false};
      }
      continue;
    }
    // Not a link that has come in the file's place, and never waiting for a pipe's other end.
    file_ = ::open(below_root(path).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat status{};
    if (file_ < 0 || ::fstat(file_, &status) != 0) return ReadError{below_root(path), 0, std::strerror(errno), false};
    if (!S_ISREG(status.st_mode)) {
      close_file();
      pass_over("devices, pipes and sockets");
      continue;
    }
    return TreeFile{path, file_url(url_root_ + path), status.st_mtim.tv_sec,
                    static_cast<std::uint64_t>(status.st_size)};
  }
  return EndOfCorpus{};
}

result<std::string_view> FolderFiles::next_piece() {
  if (file_ < 0) return std::string_view{};
  ssize_t size = -1;
  do {
    size = ::read(file_, buffer_.data(), buffer_.size());
  } while (size < 0 && errno == EINTR);
  if (size < 0) return Error{Errc::io, std::strerror(errno)};
  return std::string_view(buffer_).substr(0, static_cast<std::size_t>(size));
}

std::optional<double> FolderFiles::fraction() const {
  if (levels_.empty()) return 1.0;
  // Of each folder on the way, the entries that are done with; the last one is the file at hand.
  double done = 0;
  double share = 1;
  for (const Level& level : levels_) {
    if (level.names.empty()) break;
    share /= static_cast<double>(level.names.size());
    done += share * static_cast<double>(level.next == 0 ? 0 : level.next - 1);
  }
  return std::min(done, 1.0);
}

}  // namespace

result<std::unique_ptr<TreeFiles>> open_folder_files(const std::string& folder) {
  auto files = std::make_unique<FolderFiles>(folder);
  if (auto opened = files->open(); !opened) return opened.error();
  return std::unique_ptr<TreeFiles>(std::move(files));
}

}  // namespace hedgerow
