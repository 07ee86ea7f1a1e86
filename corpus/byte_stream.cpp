#include "corpus/byte_stream.hpp"

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

}  // namespace

struct ByteStream::Feed {
  Pieces pieces;
  std::optional<Error> error;

  static la_ssize_t read(archive* opened, void* self, const void** data) {
    auto& feed = *static_cast<Feed*>(self);
    auto piece = feed.pieces();
    if (!piece) {
      archive_set_error(opened, EIO, "%s", piece.error().context.c_str());
      feed.error = std::move(piece.error());
      return -1;
    }
    *data = piece->data();
    return static_cast<la_ssize_t>(piece->size());
  }
};

void ByteStream::CloseArchive::operator()(archive* opened) const { archive_read_free(opened); }

ByteStream::ByteStream() = default;

ByteStream::ByteStream(ByteStream&& other) noexcept { *this = std::move(other); }

ByteStream& ByteStream::operator=(ByteStream&& other) noexcept {
  if (this == &other) return *this;
  // Blocks that were given lie in the archive's own memory, which moves along.
  file_ = std::move(other.file_);
  archive_ = std::move(other.archive_);
  feed_ = std::move(other.feed_);
  std::swap(descriptor_, other.descriptor_);
  file_bytes_ = other.file_bytes_;
  given_bytes_ = other.given_bytes_;
  opened_ = other.opened_;
  over_ = std::exchange(other.over_, true);
  return *this;
}

ByteStream::~ByteStream() {
  archive_.reset();
  if (descriptor_ >= 0) ::close(descriptor_);
}

result<ByteStream> ByteStream::open(const std::filesystem::path& file) {
  ByteStream stream;
  stream.file_ = file.string();
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

ByteStream ByteStream::over(Pieces pieces) {
  ByteStream stream;
  stream.feed_ = std::make_unique<Feed>(Feed{std::move(pieces), {}});
  return stream;
}

ByteStream::Opened ByteStream::open_archive() {
  archive_.reset(archive_read_new());
  archive* const opened = archive_.get();
  // Named one by one: "all" would run programs for rarer kinds, and take text that begins like uuencoding for it.
  archive_read_support_filter_gzip(opened);
  archive_read_support_filter_bzip2(opened);
  archive_read_support_filter_xz(opened);
  archive_read_support_filter_lzma(opened);
  archive_read_support_filter_lzip(opened);
  archive_read_support_filter_zstd(opened);
  archive_read_support_filter_lz4(opened);
  archive_read_support_filter_compress(opened);
  archive_read_support_format_raw(opened);
  archive_read_support_format_empty(opened);
  const int status = feed_ ? archive_read_open(opened, feed_.get(), nullptr, Feed::read, nullptr)
                           : archive_read_open_fd(opened, descriptor_, read_bytes);
  if (status != ARCHIVE_OK) return Opened::failed;
  archive_entry* entry = nullptr;
  const int header = archive_read_next_header(opened, &entry);
  // Compressed data that breaks off before its first byte of text looks like an empty file but for the error it left.
  if (header == ARCHIVE_EOF) return archive_errno(opened) == 0 ? Opened::empty : Opened::failed;
  return header == ARCHIVE_OK ? Opened::full : Opened::failed;
}

result<std::string_view> ByteStream::fail() {
  over_ = true;
  if (feed_ && feed_->error) return *feed_->error;
  const char* const text = archive_error_string(archive_.get());
  return Error{Errc::input, text == nullptr ? "cannot be read" : text};
}

result<std::string_view> ByteStream::next() {
  if (over_) return std::string_view{};
  if (!opened_) {
    opened_ = true;
    const Opened opened = open_archive();
    if (opened == Opened::failed) return fail();
    if (opened == Opened::empty) {
      over_ = true;
      return std::string_view{};
    }
  }
  for (;;) {
    const void* data = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    const int status = archive_read_data_block(archive_.get(), &data, &size, &offset);
    if (status == ARCHIVE_EOF) {
      over_ = true;
      return std::string_view{};
    }
    if (status == ARCHIVE_RETRY) continue;
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) return fail();
    if (size == 0) continue;
    given_bytes_ += size;
    return std::string_view(static_cast<const char*>(data), size);
  }
}

std::optional<double> ByteStream::fraction(std::uint64_t held_back) const {
  if (!file_bytes_) return std::nullopt;
  if ((over_ && held_back == 0) || *file_bytes_ == 0) return 1.0;
  if (!opened_) return 0.0;
  const bool plain = archive_filter_code(archive_.get(), 0) == ARCHIVE_FILTER_NONE;
  const auto consumed = static_cast<std::uint64_t>(archive_filter_bytes(archive_.get(), -1));
  const std::uint64_t bytes = plain ? given_bytes_ - std::min(held_back, given_bytes_) : consumed;
  return std::clamp(static_cast<double>(bytes) / static_cast<double>(*file_bytes_), 0.0, 1.0);
}

}  // namespace hedgerow
