// Files that the tests of readers write, and reading a whole corpus.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/reader.hpp"

namespace hedgerow::test {

// A folder of one test case, removed with it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;

  // Writes a file and returns its path.
  std::string write(const std::string& name, std::string_view bytes) const;
  std::string path(const std::string& name = "") const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// The bytes as libarchive's filter of that name ("gzip", "xz", "none", …) packs them.
std::string packed(std::string_view bytes, const std::string& filter);

std::string contents(const std::string& path);

// Everything that a corpus gives up to its end.
struct Everything {
  std::vector<Document> documents;
  std::vector<ReadError> errors;
  std::vector<double> fractions;  // after each outcome
  ReadProgress progress;          // at the end
  std::vector<std::string> notes;

  std::vector<std::string> ids() const;
  // As to_string gives them, with folder (and the slash behind it) taken from their beginning.
  std::vector<std::string> error_texts(const std::string& folder = "") const;
};
Everything read_all(const std::string& corpus, const CorpusSettings& settings = {});

}  // namespace hedgerow::test
