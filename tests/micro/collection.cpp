#include "collection.hpp"

#include "benchmark.hpp"
#include "corpus/synthetic.hpp"
#include "index/builder.hpp"

namespace hedgerow::micro {

void build_collection(const std::filesystem::path& index) {
  CorpusSettings corpus;
  corpus.seed = collection_seed;
  const auto reader = open_synthetic(std::to_string(collection_documents), corpus).value();
  BuildSettings settings;
  settings.directory = index;
  settings.collection = "synthetic";
  settings.partitions = 1;
  settings.threads = 1;
  const Manifest manifest = build_index(*reader, settings).value();
  require(manifest.documents == collection_documents, "documents are missing");
}

CollectionStatistics open_statistics(const std::filesystem::path& index) {
  return CollectionStatistics::open(index, read_manifest(index).value()).value();
}

QueryPlan planned(std::string_view text, const std::filesystem::path& index) {
  return plan_query(text, open_statistics(index)).value();
}

std::string one_word() { return synthetic_word(200); }
std::string three_words() { return synthetic_word(30) + " " + synthetic_word(300) + " " + synthetic_word(1500); }
std::string phrase() { return '"' + synthetic_word(10) + " " + synthetic_word(20) + '"'; }
std::string prefix() { return synthetic_word(3) + "*"; }

}  // namespace hedgerow::micro
