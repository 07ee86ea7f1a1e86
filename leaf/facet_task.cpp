#include "leaf/facet_task.hpp"

#include <algorithm>

#include "leaf/received_query.hpp"

namespace hedgerow::leaf {

namespace {

constexpr std::size_t most_facets = 256;
constexpr std::uint32_t largest_most_values = 10'000;

// What the values of one call's answers may take, all partitions and facets together, so that the answers fit into a
// link's queue; but each facet of each partition has at least the least.
constexpr std::size_t most_bytes_of_call = 2 << 20;
constexpr std::size_t least_bytes_of_facet = 512;

// A value's count and its length on the wire.
constexpr std::size_t bytes_beside_value = 12;

}  // namespace

wire::FacetValueCounts within_bytes(const FacetCounts& counts, std::size_t most_bytes) {
  using Entry = const std::pair<const std::string, std::uint64_t>*;
  std::vector<Entry> entries;
  entries.reserve(counts.counts.size());
  for (const auto& entry : counts.counts) entries.push_back(&entry);
  std::sort(entries.begin(), entries.end(), [](Entry a, Entry b) {
    return a->second != b->second ? a->second > b->second : a->first < b->first;
  });
  std::size_t bytes = 0, kept = 0;
  while (kept < entries.size()) {
    bytes += entries[kept]->first.size() + bytes_beside_value;
    if (bytes > most_bytes) break;
    ++kept;
  }
  wire::FacetValueCounts sent;
  sent.cut = counts.cut || kept < entries.size();
  entries.resize(kept);
  std::sort(entries.begin(), entries.end(), [](Entry a, Entry b) { return a->first < b->first; });
  sent.values.reserve(kept);
  sent.counts.reserve(kept);
  for (const Entry entry : entries) {
    sent.values.push_back(entry->first);
    sent.counts.push_back(entry->second);
  }
  return sent;
}

FacetTask::FacetTask(wire::FacetCall&& c)
    : CallTask(WorkKind::facets, c.call, c.time, c.generation, c.partitions),
      plan_(std::move(c.plan)),
      facets_(std::move(c.facets)),
      settings_{.most_values = std::min(c.most_values, largest_most_values)} {
  service_class = c.service_class;
}

std::optional<Refusal> FacetTask::prepare(const Serving&) {
  if (facets_.size() > most_facets) {
    return Refusal{wire::FailureReason::bad_query, "more than " + std::to_string(most_facets) + " facets"};
  }
  auto query = prepare_query(plan_, generation);
  if (query.has_error()) return Refusal{wire::FailureReason::bad_query, to_string(query.error())};
  query_.emplace(std::move(*query));
  return std::nullopt;
}

result<CallTask::Done> FacetTask::execute(WorkerContext& worker, const CallPart& part) {
  const auto searcher = worker.index.partition(part.partition);
  if (searcher.has_error()) return searcher.error();
  const auto counted = count_facets(**searcher, *query_, facets_, settings_, &part.stop);
  if (counted.has_error()) return counted.error();
  const std::size_t shares = std::max<std::size_t>(parts.size() * counted->size(), 1);
  wire::FacetAnswer answer;
  answer.facets.reserve(counted->size());
  for (const auto& counts : *counted) {
    answer.facets.push_back(within_bytes(counts, std::max(most_bytes_of_call / shares, least_bytes_of_facet)));
  }
  return Done{std::move(answer), {}};
}

}  // namespace hedgerow::leaf
