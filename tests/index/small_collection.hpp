// A small collection made by seed: Zipf-distributed words, many short documents and many equal ones, so that scores tie;
// a little Chinese, Japanese and Korean; facets with one and with several values, numbers, dates, and without any.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "corpus/reader.hpp"
#include "index/manifest.hpp"
#include "query_mixture.hpp"

namespace hedgerow::test {

// vocabulary: how many different words, at most 1000.
std::vector<Document> small_collection(std::uint32_t documents, std::uint64_t seed, std::uint64_t vocabulary = 400);
QueryMaterial material_of(const std::vector<Document>& documents, std::uint64_t seed);

// Gives documents, and errors in between where asked.
class VectorReader final : public Reader {
 public:
  explicit VectorReader(std::vector<Document> documents) : documents_(std::move(documents)) {}
  ReadOutcome next() override;
  ReadProgress progress() const override { return {.documents = next_, .errors = errors_, .repaired = 0, .fraction = {}}; }

  // Before the document with this index, the error comes once.
  void fail_before(std::size_t index, ReadError error);

 private:
  std::vector<Document> documents_;
  std::vector<std::pair<std::size_t, ReadError>> failures_;
  std::size_t next_ = 0;
  std::uint64_t errors_ = 0;
};

// Builds with 2 threads; throws std::runtime_error on an error.
Manifest build_small(const std::vector<Document>& documents, const std::filesystem::path& directory,
                     std::uint32_t partitions);

}  // namespace hedgerow::test
