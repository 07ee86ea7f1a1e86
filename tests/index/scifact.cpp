#include "scifact.hpp"

#include <cstdio>
#include <filesystem>

#include "corpus/reader.hpp"
#include "enriched_reader.hpp"
#include "tests/places.hpp"

namespace hedgerow::test {

std::optional<std::vector<Document>> read_scifact(std::size_t documents) {
  const std::string path = source_path("../shared/collections/scifact/corpus.jsonl");
  if (!std::filesystem::exists(path)) {
    std::puts("SKIPPED: the SciFact collection is not here");
    return std::nullopt;
  }
  EnrichedReader reader(open_corpus("jsonl:" + path, {}).value());
  std::vector<Document> read;
  while (read.size() < documents) read.push_back(std::get<Document>(reader.next()));
  return read;
}

}  // namespace hedgerow::test
