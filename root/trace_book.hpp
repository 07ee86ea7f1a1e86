// Keeps what became of each attempt of one query, for trace=on. Where no trace is wanted it keeps nothing, at no cost.
//
// On the root's thread, owned by the query's runner.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "root/answer.hpp"

namespace hedgerow::root {

class TraceBook {
 public:
  // Times are told since `received`.
  TraceBook(bool kept, Instant received) : kept_(kept), received_(received) {}

  // Of an attempt in the book; none where no trace is kept.
  using Place = std::optional<std::size_t>;
  Place begin(std::string_view work, AttemptKind kind, std::optional<PartitionId> partition, std::string_view leaf, Instant now);
  // The entry, to say more of it; null where no trace is kept.
  AttemptTrace* at(Place place) { return place ? &entries_[*place] : nullptr; }
  // The first end counts.
  void end(Place place, std::string_view outcome, Instant now);

  // All entries, with the instants at which a leaf queued and began each, as far as they can be reckoned: there are no
  // common clocks, so the way to a leaf is taken to be half of the shortest way there and back that this query saw. In order: sent, queued, started, ended; where the
  // leaf began what had been given up here, started is the end.
  std::vector<AttemptTrace> take();

 private:
  bool kept_;
  Instant received_;
  std::vector<AttemptTrace> entries_;
};

}  // namespace hedgerow::root
