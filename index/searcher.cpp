#include "index/searcher.hpp"

#include <xapian.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "index/database_label.hpp"
#include "index/engine_error.hpp"
#include "index/fields.hpp"
#include "index/global_weight.hpp"
#include "index/guard.hpp"
#include "index/open_partition.hpp"
#include "index/partition_query.hpp"
#include "index/placeholder_source.hpp"

namespace hedgerow {

namespace {

// Up to so many possible matches, all of them are looked at: the count is exact then, and there is nothing to prune.
constexpr double few_matches = 100;

// Fewer hits are never asked for: the cost is the same, and ties at the end of the list are seen.
constexpr Xapian::doccount fewest_asked = 10;

// The lowest score that could rank with the threshold: everything that rounds to the same float is a tie, and the
// arithmetic of another partition may differ in the last bits.
double lowest_rival(double threshold) {
  const auto rounded = static_cast<float>(threshold);
  const double below = std::nextafter(rounded, 0.0f);
  const double rounds_alike = (static_cast<double>(rounded) + below) / 2;
  return std::min(threshold, rounds_alike) * (1 - 1e-9);
}

// One search on an open partition.
class PartitionMatch {
 public:
  explicit PartitionMatch(const PartitionSearcher::Implementation& partition) : partition_(partition) {}

  // The engine's best hits in its own order (score as double, then docid), guards and placeholders left out.
  // wanted bounds the hits; all: at most so many match, so nothing need be pruned.
  std::vector<ScoredDocument> best(const PartitionQuery& query, Xapian::doccount wanted, bool all, double lowest_score,
                                   const GlobalWeight& weight) const {
    PlaceholderSource placeholders(wanted, lowest_score);
    Xapian::Enquire enquire(partition_.database);
    enquire.set_weighting_scheme(weight);
    Xapian::MSet matches;
    if (all) {
      enquire.set_query(query.query);
      matches = enquire.get_mset(0, wanted + guard::count);
    } else {
      enquire.set_query(Xapian::Query(Xapian::Query::OP_OR, query.query, Xapian::Query(&placeholders)));
      matches = enquire.get_mset(0, wanted);
    }
    std::vector<ScoredDocument> hits;
    for (auto match = matches.begin(); match != matches.end(); ++match) {
      if (!guard::is_document(*match, partition_.collection_documents)) continue;
      hits.push_back({guard::number_of(*match), match.get_weight()});
    }
    return hits;
  }

  PartitionHits search(const PreparedQuery::Implementation& prepared, std::uint32_t k, double score_threshold,
                       const std::atomic<bool>* stop) const {
    PartitionHits answer;
    answer.matches_exact = true;
    // A partition without documents, or without terms, has nothing to weigh.
    if (partition_.documents == 0 || !(prepared.average_length > 0)) return answer;
    const PartitionView view{partition_.database, partition_.documents, partition_.collection_documents, stop};
    const double lowest_score = score_threshold > 0 ? lowest_rival(score_threshold) : 0;
    if (never_scores(prepared.root)) return without_scores(prepared, view, k, lowest_score);

    const GlobalWeight weight(partition_.bm25, prepared.average_length, stop);
    const auto query = rewrite_for_partition(prepared, view, weight);
    if (!query) return answer;
    const bool may_be_nothing = may_score_nothing(prepared.root);

    const auto most = static_cast<Xapian::doccount>(query->matches.highest);
    // Two more than needed, so that a tie at the k-th hit is seen without asking again.
    Xapian::doccount wanted = std::max(fewest_asked, std::min(k, most) + 2);
    for (;;) {
      // Placeholders must fit before the front guard.
      const bool all = most <= few_matches || most <= wanted || wanted >= guard::front;
      answer.hits = best(*query, all ? most : wanted, all, lowest_score, weight);
      const bool exhausted = all || answer.hits.size() < wanted;
      // Whatever scores nothing stays behind the placeholders.
      const bool all_seen = all || (exhausted && lowest_score == 0 && !may_be_nothing);
      count_matches(query->matches, all_seen, answer);
      std::sort(answer.hits.begin(), answer.hits.end(), ranks_before);
      if (exhausted && !all && may_be_nothing && lowest_score == 0 && answer.hits.size() < k) {
        append_without_scores(prepared, view, k, answer.hits);
        count_matches(query->matches, answer.hits.size() < k, answer);
        break;
      }
      // The engine cuts by the score as double. If the cut goes through a group of equal floats, a document beyond it
      // may have a smaller number than one before it: ask for more until the group is whole.
      const bool cut_through_tie = !exhausted && k > 0 && answer.hits.size() >= k &&
                                   static_cast<float>(answer.hits[k - 1].score) ==
                                       static_cast<float>(answer.hits.back().score);
      if (!cut_through_tie) break;
      wanted *= 8;
    }
    if (answer.hits.size() > k) answer.hits.resize(k);
    while (!answer.hits.empty() && answer.hits.back().score < lowest_score) answer.hits.pop_back();
    return answer;
  }

 private:
  // The first documents that match, by number: the engine stops at the last of them.
  std::vector<ScoredDocument> first(const PartitionQuery& query, Xapian::doccount wanted, const PartitionView& view) const {
    const Stopper stopper(view.stop);
    Xapian::Enquire enquire(partition_.database);
    enquire.set_weighting_scheme(Xapian::BoolWeight());
    enquire.set_query(query.query);
    const Xapian::MSet matches = enquire.get_mset(0, wanted + guard::count, nullptr, &stopper);
    std::vector<ScoredDocument> hits;
    for (auto match = matches.begin(); match != matches.end() && hits.size() < wanted; ++match) {
      if (guard::is_document(*match, partition_.collection_documents)) hits.push_back({guard::number_of(*match), 0});
    }
    return hits;
  }

  // For a query that scores nothing: its matches in the order of the collection.
  PartitionHits without_scores(const PreparedQuery::Implementation& prepared, const PartitionView& view,
                               std::uint32_t k, double lowest_score) const {
    PartitionHits answer;
    answer.matches_exact = true;
    const auto query = rewrite_unscored(prepared, view);
    if (!query) return answer;
    const auto most = static_cast<Xapian::doccount>(query->matches.highest);
    const bool all = most <= few_matches || most <= k;
    // One more tells whether there are more than k.
    answer.hits = first(*query, all ? most : k + 1, view);
    count_matches(query->matches, all || answer.hits.size() <= k, answer);
    if (answer.hits.size() > k) answer.hits.resize(k);
    if (lowest_score > 0) answer.hits.clear();
    return answer;
  }

  // Behind the hits that have a score: the other documents that match, by number, until there are k.
  void append_without_scores(const PreparedQuery::Implementation& prepared, const PartitionView& view, std::uint32_t k,
                             std::vector<ScoredDocument>& hits) const {
    const auto query = rewrite_unscored(prepared, view);
    if (!query) return;
    std::unordered_set<std::uint32_t> scored;
    for (const auto& hit : hits) scored.insert(hit.document.value);
    for (const auto& hit : first(*query, k, view)) {
      if (hits.size() == k) break;
      if (!scored.contains(hit.document.value)) hits.push_back(hit);
    }
  }

  static void count_matches(const MatchBounds& bounds, bool all_seen, PartitionHits& answer) {
    if (all_seen) {
      answer.matches = answer.hits.size();
      answer.matches_exact = true;
      return;
    }
    // From document frequencies alone: what was pruned, and with it timing, makes no difference.
    answer.matches = static_cast<std::uint64_t>(std::llround(std::clamp(bounds.estimate, bounds.lowest, bounds.highest)));
    answer.matches_exact = bounds.lowest == bounds.highest;
  }

  const PartitionSearcher::Implementation& partition_;
};

}  // namespace

PartitionSearcher::PartitionSearcher(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
PartitionSearcher::PartitionSearcher(PartitionSearcher&&) noexcept = default;
PartitionSearcher& PartitionSearcher::operator=(PartitionSearcher&&) noexcept = default;
PartitionSearcher::~PartitionSearcher() = default;

result<PartitionSearcher> PartitionSearcher::open(const std::filesystem::path& directory, const Manifest& manifest,
                                                  PartitionId partition) {
  if (partition.value >= manifest.partitions.size()) {
    return Error{Errc::not_found, "partition " + std::to_string(partition.value) + ": the index has " +
                                      std::to_string(manifest.partitions.size())};
  }
  const PartitionInfo& info = manifest.partitions[partition.value];
  auto database = open_labelled(directory / info.file, {.kind = "partition",
                                                        .generation = manifest.generation,
                                                        .number = partition.value,
                                                        .documents = manifest.documents});
  if (!database) return database.error();
  return translating_exceptions(info.file, [&]() -> result<PartitionSearcher> {
    const std::uint64_t expected = std::uint64_t{info.documents} + guard::count;
    if (database->get_doccount() != expected) {
      return Error{Errc::corrupt, info.file + ": holds " + std::to_string(database->get_doccount()) +
                                      " documents, expected are " + std::to_string(expected) + ", guards included"};
    }
    auto implementation = std::make_unique<Implementation>();
    implementation->database = std::move(*database);
    implementation->name = info.file;
    implementation->generation = manifest.generation;
    implementation->stemmer = manifest.stemmer;
    implementation->documents = info.documents;
    implementation->collection_documents = manifest.documents;
    implementation->bm25 = manifest.bm25;
    return PartitionSearcher(std::move(implementation));
  });
}

result<PartitionHits> PartitionSearcher::search(const PreparedQuery& query, std::uint32_t k, double score_threshold,
                                                const std::atomic<bool>* stop) {
  const Implementation& self = *implementation_;
  const auto& prepared = query.implementation();
  if (prepared.generation != self.generation) {
    return Error{Errc::protocol, "the query was planned for generation " + std::to_string(prepared.generation.value) +
                                     ", the partition is of generation " + std::to_string(self.generation.value)};
  }
  return translating_exceptions(self.name, [&]() -> result<PartitionHits> {
    const Error cancelled{Errc::cancelled, self.name + ": the search was stopped"};
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) return cancelled;
    try {
      return PartitionMatch(self).search(prepared, k, score_threshold, stop);
    } catch (const MatchStopped&) {
      return cancelled;
    }
  });
}

result<std::vector<StoredDocument>> PartitionSearcher::fetch(const std::vector<DocumentNumber>& documents) {
  const Implementation& self = *implementation_;
  return translating_exceptions(self.name, [&]() -> result<std::vector<StoredDocument>> {
    std::vector<StoredDocument> fetched;
    fetched.reserve(documents.size());
    for (const DocumentNumber number : documents) {
      if (!self.may_hold(number)) return self.missing(number);
      try {
        const Xapian::Document found = self.database.get_document(guard::docid_of(number));
        auto document = decode_stored_document(found.get_value(fields::shown_slot), found.get_data());
        if (document.has_error()) return document.error();
        fetched.push_back(std::move(*document));
      } catch (const Xapian::DocNotFoundError&) {
        return self.missing(number);
      }
    }
    return fetched;
  });
}

result<ShownDocument> PartitionSearcher::fetch_shown(DocumentNumber number) {
  const Implementation& self = *implementation_;
  return translating_exceptions(self.name, [&]() -> result<ShownDocument> {
    if (!self.may_hold(number)) return self.missing(number);
    // The engine need not look whether there is such a document: every one has this value.
    const std::string value =
        self.database.get_document(guard::docid_of(number), Xapian::DOC_ASSUME_VALID).get_value(fields::shown_slot);
    if (value.empty()) return self.missing(number);
    return decode_shown_document(value);
  });
}

std::uint32_t PartitionSearcher::documents() const { return implementation_->documents; }

}  // namespace hedgerow
