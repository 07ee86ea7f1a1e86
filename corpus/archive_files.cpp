#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "corpus/tree_files.hpp"

namespace hedgerow {

namespace {

constexpr std::size_t read_bytes = 64 * 1024;

// "./a//b/../c" becomes "a/b/c": a name, not a place.
std::string name_of_entry(std::string_view path) {
  std::string name;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    if (part.empty() || part == "." || part == "..") continue;
    if (!name.empty()) name += '/';
    name += part;
  }
  return name;
}

bool is_hidden(std::string_view path) { return path.starts_with('.') || path.find("/.") != std::string_view::npos; }

// libarchive gives names that an archive holds as Unicode (zip's and 7zip's) in the thread's character set, or, where
// that lacks a letter, not at all. Programs start in the locale "C"; while one of these lives, it is UTF-8.
class Utf8Names {
 public:
  Utf8Names() : before_(::uselocale(utf8())) {}
  ~Utf8Names() { ::uselocale(before_); }
  Utf8Names(const Utf8Names&) = delete;

 private:
  static locale_t utf8() {
    static const locale_t made = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{});
    return made;
  }

  locale_t before_;
};

struct CloseArchive {
  void operator()(archive* opened) const { archive_read_free(opened); }
};

class ArchiveFiles final : public TreeFiles {
 public:
  explicit ArchiveFiles(std::string file) : file_(std::move(file)), buffer_(read_bytes, '\0') {}
  ~ArchiveFiles() override {
    archive_.reset();
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  result<void> open();
  std::variant<TreeFile, ReadError, EndOfCorpus> next() override;
  result<std::string_view> next_piece() override;
  std::string name_of(const TreeFile& file) const override { return file_ + ":" + file.path; }
  std::optional<double> fraction() const override;

 private:
  std::string message() const {
    const char* const text = archive_error_string(archive_.get());
    return text == nullptr ? "cannot be read" : text;
  }

  std::string file_;
  int descriptor_ = -1;
  std::unique_ptr<archive, CloseArchive> archive_;
  std::uint64_t file_bytes_ = 0;
  std::string buffer_;
  archive_entry* entry_ = nullptr;  // the next one, already read; owned by the archive
  int status_ = ARCHIVE_OK;         // of reading it
  std::optional<std::string> broken_;  // why nothing can be read any more, met inside a file
  bool over_ = false;
};

result<void> ArchiveFiles::open() {
  descriptor_ = ::open(file_.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status{};
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0)
    return Error{Errc::io, file_ + ": " + std::strerror(errno)};
  file_bytes_ = S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;

  const Utf8Names utf8;
  archive_.reset(archive_read_new());
  archive* const opened = archive_.get();
  archive_read_support_filter_gzip(opened);
  archive_read_support_filter_bzip2(opened);
  archive_read_support_filter_xz(opened);
  archive_read_support_filter_lzma(opened);
  archive_read_support_filter_lzip(opened);
  archive_read_support_filter_zstd(opened);
  archive_read_support_filter_lz4(opened);
  archive_read_support_filter_compress(opened);
  // Named one by one: mtree, say, is a list of other files of this machine.
  archive_read_support_format_tar(opened);
  archive_read_support_format_cpio(opened);
  archive_read_support_format_zip(opened);
  archive_read_support_format_7zip(opened);
  status_ = archive_read_open_fd(opened, descriptor_, read_bytes);
  if (status_ == ARCHIVE_OK) status_ = archive_read_next_header(opened, &entry_);
  if (status_ == ARCHIVE_FATAL) {
    return Error{Errc::input, file_ + ": neither a folder nor a tar, cpio, zip or 7zip archive: " + message()};
  }
  return {};
}

std::variant<TreeFile, ReadError, EndOfCorpus> ArchiveFiles::next() {
  if (broken_ && !over_) {
    over_ = true;
    return ReadError{file_, 0, "cannot be read beyond this point: " + *broken_, true};
  }
  const Utf8Names utf8;
  for (; !over_; status_ = archive_read_next_header(archive_.get(), &entry_)) {
    archive_entry* const entry = std::exchange(entry_, nullptr);
    if (status_ == ARCHIVE_RETRY) continue;
    if (status_ == ARCHIVE_EOF) break;
    if (entry == nullptr && status_ == ARCHIVE_OK) continue;  // that one is done with
    if (status_ != ARCHIVE_OK && status_ != ARCHIVE_WARN) {
      over_ = status_ == ARCHIVE_FATAL;
      ReadError error{file_, 0, "cannot be read " + std::string(over_ ? "beyond this point: " : "here: ") + message(),
                      over_};
      status_ = ARCHIVE_OK;
      return error;
    }
    const char* path = archive_entry_pathname(entry);
    if (path == nullptr) path = archive_entry_pathname_utf8(entry);
    const mode_t kind = archive_entry_filetype(entry);
    const bool link = kind == AE_IFLNK || archive_entry_hardlink(entry) != nullptr ||
                      archive_entry_symlink(entry) != nullptr;
    status_ = ARCHIVE_OK;
    std::string name = name_of_entry(path == nullptr ? "" : path);
    if (link) {
      pass_over("links");
    } else if (kind == AE_IFDIR) {
      // Its files come by themselves.
    } else if (kind != AE_IFREG && kind != 0) {
      pass_over("devices, pipes and sockets");
    } else if (is_hidden(name)) {
      pass_over("hidden files and folders");
    } else if (name.empty()) {
      return ReadError{file_, 0, "a file whose name cannot be read", false};
    } else {
      TreeFile file{std::move(name), {}, {}, {}};
      if (archive_entry_mtime_is_set(entry)) file.modified = archive_entry_mtime(entry);
      if (archive_entry_size_is_set(entry)) file.size = static_cast<std::uint64_t>(archive_entry_size(entry));
      return file;
    }
  }
  over_ = true;
  return EndOfCorpus{};
}

result<std::string_view> ArchiveFiles::next_piece() {
  if (over_ || broken_) return std::string_view{};
  la_ssize_t size = 0;
  do {
    size = archive_read_data(archive_.get(), buffer_.data(), buffer_.size());
  } while (size == ARCHIVE_RETRY);
  if (size < 0) {
    std::string what = message();
    if (size == ARCHIVE_FATAL) broken_ = what;
    return Error{Errc::input, std::move(what)};
  }
  return std::string_view(buffer_).substr(0, static_cast<std::size_t>(size));
}

std::optional<double> ArchiveFiles::fraction() const {
  if (over_) return 1.0;
  if (file_bytes_ == 0) return std::nullopt;
  const auto consumed = static_cast<double>(archive_filter_bytes(archive_.get(), -1));
  return std::clamp(consumed / static_cast<double>(file_bytes_), 0.0, 1.0);
}

}  // namespace

result<std::unique_ptr<TreeFiles>> open_archive_files(const std::string& archive) {
  auto files = std::make_unique<ArchiveFiles>(archive);
  if (auto opened = files->open(); !opened) return opened.error();
  return std::unique_ptr<TreeFiles>(std::move(files));
}

}  // namespace hedgerow
