// Facet counts over all matching documents of each of some partitions. See call_task.
#pragma once

#include <optional>

#include "index/facets.hpp"
#include "index/searcher.hpp"
#include "leaf/call_task.hpp"

namespace hedgerow::leaf {

class FacetTask final : public CallTask {
 public:
  explicit FacetTask(wire::FacetCall&& call);
  std::optional<Refusal> prepare(const Serving& leaf) override;
  result<Done> execute(WorkerContext& worker, const CallPart& part) override;

 private:
  const wire::PlannedQuery* plan() const override { return &plan_; }

  wire::PlannedQuery plan_;
  std::vector<std::string> facets_;
  FacetSettings settings_;
  std::optional<PreparedQuery> query_;
};

// As it is sent: the most frequent values (ties: by bytes) whose texts fit into so many bytes, in rising order.
wire::FacetValueCounts within_bytes(const FacetCounts& counts, std::size_t most_bytes);

}  // namespace hedgerow::leaf
