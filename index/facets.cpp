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

// Counts whole slots as they are stored: most documents have one value, and many have the same, so that values are taken
// apart once for each distinct slot and not once for each document.
class SlotCounter final : public Xapian::MatchSpy {
 public:
  SlotCounter(const std::vector<std::string>& names, const PartitionSearcher::Implementation& partition,
              const std::atomic<bool>* stop)
      : partition_(partition), stop_(stop) {
    for (const auto& name : names) slots_.push_back({fields::values_slot(name), {}});
  }

  void operator()(const Xapian::Document& document, double) override {
    if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) throw MatchStopped{};
    if (!guard::is_document(document.get_docid(), partition_.collection_documents)) return;
    for (auto& [slot, counts] : slots_) {
      std::string stored = document.get_value(slot);
      if (!stored.empty()) ++counts[std::move(stored)];
    }
  }

  std::vector<FacetCounts> counted(std::size_t most_values) const {
    std::vector<FacetCounts> facets;
    for (const auto& slot : slots_) facets.push_back(by_value(slot.counts, most_values));
    return facets;
  }

 private:
  using Counts = std::unordered_map<std::string, std::uint64_t>;
  struct Slot {
    Xapian::valueno number = 0;
    Counts counts;
  };

  static FacetCounts by_value(const Counts& slots, std::size_t most_values) {
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

  const PartitionSearcher::Implementation& partition_;
  const std::atomic<bool>* stop_;
  std::vector<Slot> slots_;
};

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
    SlotCounter counter(names, self, stop);
    if (names.empty() || self.documents == 0 || !(prepared.average_length > 0)) return counter.counted(settings.most_values);
    try {
      const GlobalWeight weight(self.bm25, prepared.average_length, stop);
      const auto rewritten =
          rewrite_for_partition(prepared, {self.database, self.documents, self.collection_documents}, weight);
      if (rewritten) {
        Xapian::Enquire enquire(self.database);
        // Nothing is scored, so nothing can be pruned, and what is only welcome is not even looked up.
        enquire.set_weighting_scheme(Xapian::BoolWeight());
        enquire.set_query(Xapian::Query(Xapian::Query::OP_SCALE_WEIGHT, rewritten->query, 0));
        enquire.add_matchspy(&counter);
        enquire.get_mset(0, 0, self.documents + guard::count);
      }
    } catch (const MatchStopped&) {
      return cancelled;
    }
    return counter.counted(settings.most_values);
  });
}

}  // namespace hedgerow
