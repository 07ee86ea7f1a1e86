// The bytes of a file, plain or compressed, a block at a time: what lies below lines, dumps and single packed files.
//
// Compression is recognised by the first bytes, whatever the file's name: gzip, bzip2, xz, lzma, lzip, zstd, lz4 and
// compress, by libarchive. (It compares every checksum but gzip's: a damaged gzip file that still unpacks to something
// is only noticed by what the text has become.) Several compressed streams one behind the other read as one. Owned and
// called by one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"

struct archive;

namespace hedgerow {

// Gives the next piece of some bytes, empty at their end. A piece holds until the next call.
using Pieces = std::function<result<std::string_view>()>;

class ByteStream {
 public:
  // Errors: not_found, invalid_argument for a folder, io for what may not be read.
  static result<ByteStream> open(const std::filesystem::path& file);
  // Of bytes that come from elsewhere; their errors are given on.
  static ByteStream over(Pieces pieces);

  ByteStream(ByteStream&&) noexcept;
  ByteStream& operator=(ByteStream&&) noexcept;
  ~ByteStream();

  // The next block, unpacked; empty at the end, again and again. It holds until the next call.
  // Errors: input for compressed data that is damaged or ends too early, io; nothing can be read behind one.
  result<std::string_view> next();

  // As open was given it; empty for bytes from elsewhere.
  const std::string& file() const { return file_; }
  // In [0, 1]: the share of the file's bytes as they lie on the disk, when all but held_back of the bytes given so far
  // are done with. Nothing for a pipe, and for bytes from elsewhere.
  std::optional<double> fraction(std::uint64_t held_back = 0) const;

 private:
  struct CloseArchive {
    void operator()(archive* opened) const;
  };
  struct Feed;
  enum class Opened { full, empty, failed };

  ByteStream();
  Opened open_archive();
  result<std::string_view> fail();

  std::string file_;
  std::unique_ptr<Feed> feed_;  // of bytes from elsewhere; before archive_, which reads from it until it is closed
  std::unique_ptr<archive, CloseArchive> archive_;
  int descriptor_ = -1;
  std::optional<std::uint64_t> file_bytes_;
  std::uint64_t given_bytes_ = 0;
  bool opened_ = false;
  bool over_ = false;
};

}  // namespace hedgerow
