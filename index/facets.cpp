#include "index/facets.hpp"

#include <xapian.h>

#include <algorithm>
#include <unordered_map>

#include "index/engine_error.hpp"
#include "index/fields.hpp"
#include "index/global_weight.hpp"
#include "index/guard.hpp"
#include "index/open_partition.hpp"
#include "index/partition_query.hpp"

namespace hedgerow {

namespace {

// Takes down every document that matches and accepts none, so that the engine keeps nothing: faster than a MatchSpy,
// for which it computes scores and builds the list of hits.
class MatchCollector final : public Xapian::MatchDecider {
 public:
  MatchCollector(const PartitionSearcher::Implementation& partition, const std::atomic<bool>* stop)
      : partition_(partition), stop_(stop) {}

  bool operator()(const Xapian::Document& document) const override {
    if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) throw MatchStopped{};
    const Xapian::docid docid = document.get_docid();
    if (guard::is_document(docid, partition_.collection_documents)) documents_.push_back(docid);
    return false;
  }

  // In rising order.
  const std::vector<Xapian::docid>& documents() const { return documents_; }

 private:
  const PartitionSearcher::Implementation& partition_;
  const std::atomic<bool>* stop_;
  mutable std::vector<Xapian::docid> documents_;  // the engine's interface is const
};

// How many documents have which slot, as it is stored: most documents have one value, and many have the same, so that
// values are taken apart once for each distinct slot and not once for each document.
using SlotCounts = std::unordered_map<std::string, std::uint64_t>;

SlotCounts count_slots(const Xapian::Database& database, Xapian::valueno slot,
                       const std::vector<Xapian::docid>& documents, const std::atomic<bool>* stop) {
  SlotCounts counts;
  auto stored = database.valuestream_begin(slot);
  const auto end = database.valuestream_end(slot);
  for (const Xapian::docid document : documents) {
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) throw MatchStopped{};
    if (stored == end) break;
    if (stored.get_docid() < document) stored.skip_to(document);
    if (stored != end && stored.get_docid() == document) ++counts[*stored];
  }
  return counts;
}

FacetCounts by_value(const SlotCounts& slots, std::size_t most_values) {
  FacetCounts facet;
  for (const auto& [stored, documents] : slots) {
    std::string_view rest = stored;
    for (std::string_view value = fields::take_value(rest); !value.empty(); value = fields::take_value(rest)) {
      facet.counts[std::string(value)] += documents;
    }
  }
  if (facet.counts.size() <= most_values) return facet;
  std::vector<std::pair<std::string, std::uint64_t>> by_frequency(facet.counts.begin(), facet.counts.end());
  // They come in the order of their bytes, and equally frequent ones stay so.
  std::stable_sort(by_frequency.begin(), by_frequency.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  by_frequency.resize(most_values);
  facet.counts = {by_frequency.begin(), by_frequency.end()};
  facet.cut = true;
  return facet;
}

// Throws MatchStopped, and what the engine throws.
std::vector<Xapian::docid> matching_documents(const PartitionSearcher::Implementation& partition,
                                              const PreparedQuery::Implementation& prepared,
                                              const std::atomic<bool>* stop) {
  // A partition without documents, or without terms, has nothing that could match.
  if (partition.documents == 0 || !(prepared.average_length > 0)) return {};
  const auto query = rewrite_unscored(
      prepared, {partition.database, partition.documents, partition.collection_documents, stop});
  if (!query) return {};
  Xapian::Enquire enquire(partition.database);
  // Nothing is scored, so nothing can be pruned.
  enquire.set_weighting_scheme(Xapian::BoolWeight());
  enquire.set_query(query->query);
  const MatchCollector collector(partition, stop);
  enquire.get_mset(0, 0, partition.documents + guard::count, nullptr, &collector);
  return collector.documents();
}

}  // namespace

result<std::vector<FacetCounts>> count_facets(const PartitionSearcher& partition, const PreparedQuery& query,
                                              const std::vector<std::string>& names, const FacetSettings& settings,
                                              const std::atomic<bool>* stop) {
  const PartitionSearcher::Implementation& self = partition.implementation();
  const auto& prepared = query.implementation();
  if (prepared.generation != self.generation) {
    return Error{Errc::protocol, "the query was planned for generation " + std::to_string(prepared.generation.value) +
                                     ", the partition is of generation " + std::to_string(self.generation.value)};
  }
  return translating_exceptions(self.name, [&]() -> result<std::vector<FacetCounts>> {
    const Error cancelled{Errc::cancelled, self.name + ": counting facets was stopped"};
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) return cancelled;
    try {
      std::vector<FacetCounts> facets;
      if (names.empty()) return facets;
      const auto documents = matching_documents(self, prepared, stop);
      for (const auto& name : names) {
        facets.push_back(
            by_value(count_slots(self.database, fields::values_slot(name), documents, stop), settings.most_values));
      }
      return facets;
    } catch (const MatchStopped&) {
      return cancelled;
    }
  });
}

}  // namespace hedgerow
