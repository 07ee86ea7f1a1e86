// Debian control files (deb822): stanzas of "Name: value" fields, parted by empty lines, in memory bounded by one
// stanza. The format of apt's Packages and Translation lists.
//
// Owned and called by one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "corpus/line_stream.hpp"

namespace hedgerow {

class Stanza {
 public:
  // The value of a field by its name, whatever the case; empty where there is none. The lines of a longer value are
  // parted by newlines, and the first blank of each further line is gone.
  std::string_view operator[](std::string_view name) const;
  // The line of the file that the stanza begins on.
  std::uint64_t line() const { return line_; }

 private:
  friend class ControlFile;
  struct Field {
    std::string name;
    std::string value;
  };
  // The first used_ of them; the others wait to be used again, so that their memory is.
  std::vector<Field> fields_;
  std::size_t used_ = 0;
  std::uint64_t line_ = 0;
};

class ControlFile {
 public:
  // Errors: those of LineStream::open.
  static result<ControlFile> open(const std::filesystem::path& file, std::uint64_t longest_stanza_bytes);

  // The next stanza (it holds until the next call), or an error in its place: a line that is neither field nor
  // continuation, or too long a stanza (both skipped up to the next empty line), or a fatal error of the file.
  std::variant<const Stanza*, ReadError, EndOfCorpus> next();

  const std::string& file() const { return lines_.file(); }

 private:
  ControlFile(LineStream lines, std::uint64_t longest) : lines_(std::move(lines)), longest_(longest) {}
  std::string take(std::string_view line);

  LineStream lines_;
  std::uint64_t longest_;
  Stanza stanza_;
};

}  // namespace hedgerow
