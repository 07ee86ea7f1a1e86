// The lines of a text file, plain or compressed, one at a time, in memory bounded by the longest line asked for.
//
// Compression is recognised and undone by ByteStream. Owned and called by one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/error.hpp"
#include "corpus/byte_stream.hpp"
#include "corpus/reader.hpp"

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

  // The next line, or an error in its place: a line that is too long (it is skipped, and not fatal), or compressed data
  // that is damaged or ends too early (fatal). A byte order mark of UTF-8 is taken away; UTF-16 is a fatal error.
  std::variant<Line, ReadError, EndOfCorpus> next();

  // The number of the line that next() gave last, from 1.
  std::uint64_t line() const { return line_; }
  const std::string& file() const { return bytes_.file(); }
  // Of the file's bytes as they lie on the disk; nothing for a pipe.
  std::optional<double> fraction() const;

 private:
  LineStream(ByteStream bytes, std::uint64_t longest) : bytes_(std::move(bytes)), longest_(longest) {}
  ReadError fail(std::string what);

  ByteStream bytes_;
  std::uint64_t longest_;
  std::string_view block_;  // what is left of the block that bytes_ gave last
  std::string held_;        // a line that spans blocks
  std::uint64_t line_ = 0;
  bool over_ = false;
};

}  // namespace hedgerow
