// The lines of a text file, plain or compressed, one at a time, in memory bounded by the longest line asked for.
//
// Compression is recognised by the file's first bytes, whatever its name: gzip, bzip2, xz, lzma, lzip, zstd, lz4 and
// compress, by libarchive. (It compares every checksum but gzip's: a damaged gzip file that still unpacks to something
// is only noticed by what the text has become.) Owned and called by one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/error.hpp"
#include "corpus/reader.hpp"

struct archive;

namespace hedgerow {

// A line without its end (LF or CR LF). The view holds until the next call.
struct Line {
  std::string_view text;
  bool ended = true;  // false for a last line without a newline
};

class LineStream {
 public:
  // Errors: not_found, invalid_argument for a folder, io for what may not be read.
  static result<LineStream> open(const std::filesystem::path& file, std::uint64_t longest_line_bytes);

  LineStream(LineStream&&) noexcept;
  LineStream& operator=(LineStream&&) noexcept;
  ~LineStream();

  // The next line, or an error in its place: a line that is too long (it is skipped, and not fatal), or compressed data
  // that is damaged or ends too early (fatal). A byte order mark of UTF-8 is taken away; UTF-16 is a fatal error.
  std::variant<Line, ReadError, EndOfCorpus> next();

  // The number of the line that next() gave last, from 1.
  std::uint64_t line() const { return line_; }
  const std::string& file() const { return file_; }
  // Of the file's bytes as they lie on the disk; nothing for a pipe.
  std::optional<double> fraction() const;

 private:
  struct CloseArchive {
    void operator()(archive* opened) const;
  };

  enum class Refill { more, end, failed };

  LineStream() = default;
  Refill refill();
  ReadError fail(std::string what);

  std::string file_;
  std::unique_ptr<archive, CloseArchive> archive_;
  int descriptor_ = -1;
  std::uint64_t longest_ = 0;
  std::optional<std::uint64_t> file_bytes_;

  std::string_view block_;           // what is left of the decompressed block that libarchive holds
  std::string held_;                 // a line that spans blocks
  std::uint64_t line_ = 0;
  std::uint64_t delivered_bytes_ = 0;  // of decompressed text
  bool opened_ = false;
  bool over_ = false;
};

}  // namespace hedgerow
