#include "root/trace_book.hpp"

#include <algorithm>

namespace hedgerow::root {

TraceBook::Place TraceBook::begin(std::string_view work, AttemptKind kind, std::optional<PartitionId> partition,
                                  std::string_view leaf, Instant now) {
  if (!kept_) return std::nullopt;
  AttemptTrace entry;
  entry.work = work;
  entry.kind = kind;
  entry.partition = partition;
  entry.leaf = leaf;
  entry.sent = now - received_;
  entries_.push_back(std::move(entry));
  return entries_.size() - 1;
}

void TraceBook::end(Place place, std::string_view outcome, Instant now) {
  auto* entry = at(place);
  if (!entry || entry->ended) return;
  entry->ended = now - received_;
  entry->outcome = outcome;
}

std::vector<AttemptTrace> TraceBook::take() {
  std::optional<Duration> both_ways;
  for (const auto& entry : entries_) {
    if (!entry.ended || !entry.queue_time || !entry.service_time) continue;
    const Duration way = *entry.ended - entry.sent - *entry.queue_time - *entry.service_time;
    // Negative: given up here before the leaf's answer came, so it says nothing of the way.
    if (way >= Duration::zero()) both_ways = std::min(both_ways.value_or(way), way);
  }
  for (auto& entry : entries_) {
    if (!entry.queue_time) continue;
    entry.queued = entry.sent + both_ways.value_or(Duration::zero()) / 2;
    if (entry.executed) entry.started = *entry.queued + *entry.queue_time;
    // What was given up may have been queued and begun after its end here.
    if (!entry.ended) continue;
    entry.queued = std::min(*entry.queued, *entry.ended);
    if (entry.started) entry.started = std::min(*entry.started, *entry.ended);
  }
  return std::move(entries_);
}

}  // namespace hedgerow::root
