#include "corpus/line_stream.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace hedgerow {

namespace {

// What is read from the disk at once. Progress is right to within this much, or one block of the compression.
constexpr std::size_t read_bytes = 64 * 1024;
// A line buffer that grew beyond this is given back before the next line.
constexpr std::size_t kept_bytes = 1024 * 1024;

std::string message_of(archive* opened) {
  const char* text = archive_error_string(opened);
  return text == nullptr ? "cannot be read" : text;
}

}  // namespace

void LineStream::CloseArchive::operator()(archive* opened) const { archive_read_free(opened); }

LineStream::LineStream(LineStream&& other) noexcept { *this = std::move(other); }

LineStream& LineStream::operator=(LineStream&& other) noexcept {
  if (this == &other) return *this;
  // block_ points into the archive's own memory, which moves along.
  file_ = std::move(other.file_);
  archive_ = std::move(other.archive_);
  std::swap(descriptor_, other.descriptor_);
  longest_ = other.longest_;
  file_bytes_ = other.file_bytes_;
  block_ = std::exchange(other.block_, {});
  held_ = std::move(other.held_);
  line_ = other.line_;
  delivered_bytes_ = other.delivered_bytes_;
  opened_ = other.opened_;
  over_ = std::exchange(other.over_, true);
  return *this;
}

LineStream::~LineStream() {
  archive_.reset();
  if (descriptor_ >= 0) ::close(descriptor_);
}

result<LineStream> LineStream::open(const std::filesystem::path& file, std::uint64_t longest_line_bytes) {
  LineStream stream;
  stream.file_ = file.string();
  stream.longest_ = longest_line_bytes;
  stream.descriptor_ = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (stream.descriptor_ < 0) {
    const Errc code = errno == ENOENT || errno == ENOTDIR ? Errc::not_found : Errc::io;
    return Error{code, stream.file_ + ": " + std::strerror(errno)};
  }
  struct stat status{};
  if (::fstat(stream.descriptor_, &status) != 0) return Error{Errc::io, stream.file_ + ": " + std::strerror(errno)};
  if (S_ISDIR(status.st_mode)) {
    return Error{Errc::invalid_argument, stream.file_ + ": is a folder, and a file is expected"};
  }
  if (S_ISREG(status.st_mode)) stream.file_bytes_ = static_cast<std::uint64_t>(status.st_size);
  return stream;
}

LineStream::Refill LineStream::refill() {
  if (!opened_) {
    opened_ = true;
    archive_.reset(archive_read_new());
    // Named one by one: "all" would run programs for rarer kinds, and take text that begins like uuencoding for it.
    archive_read_support_filter_gzip(archive_.get());
    archive_read_support_filter_bzip2(archive_.get());
    archive_read_support_filter_xz(archive_.get());
    archive_read_support_filter_lzma(archive_.get());
    archive_read_support_filter_lzip(archive_.get());
    archive_read_support_filter_zstd(archive_.get());
    archive_read_support_filter_lz4(archive_.get());
    archive_read_support_filter_compress(archive_.get());
    archive_read_support_format_raw(archive_.get());
    archive_read_support_format_empty(archive_.get());
    if (archive_read_open_fd(archive_.get(), descriptor_, read_bytes) != ARCHIVE_OK) return Refill::failed;
    archive_entry* entry = nullptr;
    const int status = archive_read_next_header(archive_.get(), &entry);
    // Compressed data that breaks off before its first byte of text looks like an empty file but for the error it left.
    if (status == ARCHIVE_EOF) return archive_errno(archive_.get()) == 0 ? Refill::end : Refill::failed;
    if (status != ARCHIVE_OK) return Refill::failed;
  }
  for (;;) {
    const void* data = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    const int status = archive_read_data_block(archive_.get(), &data, &size, &offset);
    if (status == ARCHIVE_EOF) return Refill::end;
    if (status == ARCHIVE_RETRY) continue;
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) return Refill::failed;
    if (size == 0) continue;
    block_ = std::string_view(static_cast<const char*>(data), size);
    return Refill::more;
  }
}

ReadError LineStream::fail(std::string what) {
  over_ = true;
  block_ = {};
  return ReadError{file_, line_, std::move(what), true};
}

std::variant<Line, ReadError, EndOfCorpus> LineStream::next() {
  if (over_) return EndOfCorpus{};
  if (held_.capacity() > kept_bytes) held_ = std::string();
  held_.clear();

  std::string_view text;
  std::uint64_t length = 0;
  bool ended = false;
  bool begun = false;
  while (!ended) {
    if (block_.empty()) {
      const Refill refilled = refill();
      if (refilled == Refill::failed) {
        line_ += begun || line_ == 0 ? 1 : 0;
        return fail("cannot be read beyond this line: " + message_of(archive_.get()));
      }
      if (refilled == Refill::end) {
        if (!begun) {
          over_ = true;
          return EndOfCorpus{};
        }
        break;
      }
    }
    begun = true;
    const std::size_t newline = block_.find('\n');
    ended = newline != std::string_view::npos;
    const std::string_view piece = block_.substr(0, newline);
    length += piece.size();
    if (length > longest_) {
      held_ = std::string();
    } else if (ended && held_.empty()) {
      text = piece;  // the usual case: the whole line lies in one block
    } else {
      held_.append(piece);
      text = held_;
    }
    const std::size_t taken = piece.size() + (ended ? 1 : 0);
    block_.remove_prefix(taken);
    delivered_bytes_ += taken;
  }

  ++line_;
  if (length > longest_) {
    return ReadError{file_, line_,
                     "a line of " + std::to_string(length) + " bytes is longer than the " + std::to_string(longest_) +
                         " allowed",
                     false};
  }
  if (line_ == 1) {
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
      return fail("is UTF-16, and UTF-8 is expected");
    }
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  }
  if (text.ends_with('\r')) text.remove_suffix(1);
  return Line{text, ended};
}

std::optional<double> LineStream::fraction() const {
  if (!file_bytes_) return std::nullopt;
  if (over_ || *file_bytes_ == 0) return 1.0;
  if (!opened_) return 0.0;
  const bool plain = archive_filter_code(archive_.get(), 0) == ARCHIVE_FILTER_NONE;
  const la_int64_t consumed = archive_filter_bytes(archive_.get(), -1);
  const double bytes = plain ? static_cast<double>(delivered_bytes_) : static_cast<double>(consumed);
  return std::clamp(bytes / static_cast<double>(*file_bytes_), 0.0, 1.0);
}

}  // namespace hedgerow
