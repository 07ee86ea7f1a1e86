#include "root/trace_book.hpp"

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

}  // namespace hedgerow::root
