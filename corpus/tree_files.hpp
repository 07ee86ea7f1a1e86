// The files of a folder or of an archive, one at a time: where the tree reader's bytes come from.
//
// Owned and called by one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "corpus/reader.hpp"

namespace hedgerow {

struct TreeFile {
  std::string path;  // below the root, parts joined by "/", none of them empty, "." or ".."
  std::string url;   // empty where there is none
  std::optional<std::int64_t> modified;  // seconds since 1970, UTC
  std::optional<std::uint64_t> size;     // bytes, as it lies there
};

class TreeFiles {
 public:
  virtual ~TreeFiles() = default;
  // The next ordinary file, an error in its place, or the end. Hidden files (".git"), links and devices are passed
  // over.
  virtual std::variant<TreeFile, ReadError, EndOfCorpus> next() = 0;
  // The next piece of the file that next() gave last, empty at its end; it holds until the next call.
  virtual result<std::string_view> next_piece() = 0;
  // For errors about that file: its path on the disk, or the archive's and its path inside.
  virtual std::string name_of(const TreeFile& file) const = 0;
  // In [0, 1], never falling.
  virtual std::optional<double> fraction() const = 0;

  // What was passed over: "symbolic links" to their number.
  const std::map<std::string, std::uint64_t>& passed_over() const { return passed_over_; }

 protected:
  void pass_over(const char* what) { ++passed_over_[what]; }

 private:
  std::map<std::string, std::uint64_t> passed_over_;
};

// In the order of the paths' bytes. Symbolic links are not followed (the folder itself may be one), so that nothing
// outside is read and nothing twice. A folder or file that cannot be read is an error that is not fatal. Memory: the
// names in the folders on the way to the file at hand. The fraction takes all entries of a folder for equally large.
// Errors: not_found, io.
result<std::unique_ptr<TreeFiles>> open_folder_files(const std::string& folder);

// In the order of the archive: tar, cpio, zip or 7zip, compressed or not. Nothing is written anywhere, whatever the
// paths say: their "..", "." and leading "/" are dropped. An archive that breaks off is a fatal error.
// Errors: not_found, io, input for a file that is no such archive.
result<std::unique_ptr<TreeFiles>> open_archive_files(const std::string& archive);

}  // namespace hedgerow
