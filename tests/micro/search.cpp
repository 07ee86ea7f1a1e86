// index/searcher: what a leaf does for one partition.
#include <atomic>
#include <memory>

#include "benchmark.hpp"
#include "collection.hpp"
#include "index/searcher.hpp"

namespace hedgerow::micro {

namespace {

constexpr std::uint32_t hits_wanted = 10;

PartitionSearcher open_searcher(const std::filesystem::path& index) {
  return PartitionSearcher::open(index, read_manifest(index).value(), PartitionId{0}).value();
}

Benchmark searching(const std::string& name, const std::string& text) {
  return {"search/" + name, [=](const std::filesystem::path& index) -> Iteration {
            const auto searcher = std::make_shared<PartitionSearcher>(open_searcher(index));
            const auto query = std::make_shared<PreparedQuery>(PreparedQuery::prepare(planned(text, index)).value());
            const auto stop = std::make_shared<std::atomic<bool>>(false);
            require(searcher->search(*query, hits_wanted, 0, stop.get()).value().hits.size() == hits_wanted, name + " has few hits");
            return [=] { keep(searcher->search(*query, hits_wanted, 0, stop.get())); };
          }};
}

// Once for each call, however many partitions it asks.
Iteration preparing_three_words(const std::filesystem::path& index) {
  const auto plan = std::make_shared<QueryPlan>(planned(three_words(), index));
  PreparedQuery::prepare(*plan).value();
  return [=] { keep(PreparedQuery::prepare(*plan)); };
}

Iteration fetching_10_titles(const std::filesystem::path& index) {
  const auto searcher = std::make_shared<PartitionSearcher>(open_searcher(index));
  const auto query = PreparedQuery::prepare(planned(one_word(), index)).value();
  const auto found = searcher->search(query, hits_wanted, 0, nullptr).value();
  require(found.hits.size() == hits_wanted, "fewer than ten documents to fetch");
  for (const auto& hit : found.hits) require(!searcher->fetch_shown(hit.document).value().title.empty(), "a title is empty");
  return [=, hits = found.hits] {
    for (const auto& hit : hits) keep(searcher->fetch_shown(hit.document));
  };
}

}  // namespace

std::vector<Benchmark> search_benchmarks() {
  return {{"search/prepare-three-words", preparing_three_words},
          searching("one-word", one_word()),
          searching("three-words", three_words()),
          searching("phrase", phrase()),
          {"search/fetch-10-titles", fetching_10_titles}};
}

}  // namespace hedgerow::micro
