// Snippets of final hits. See call_task.
#pragma once

#include <optional>

#include "index/searcher.hpp"
#include "leaf/call_task.hpp"

namespace hedgerow::leaf {

class SnippetTask final : public CallTask {
 public:
  explicit SnippetTask(wire::SnippetCall&& call);
  std::optional<Refusal> prepare(const Serving& leaf) override;
  result<Done> execute(WorkerContext& worker, const CallPart& part) override;

 private:
  const wire::PlannedQuery* plan() const override { return &plan_; }
  std::span<const PartitionId> reads() const override { return partitions_; }

  wire::PlannedQuery plan_;
  std::vector<wire::DocumentAddress> documents_;
  std::vector<PartitionId> partitions_;
  std::optional<PreparedQuery> query_;
};

}  // namespace hedgerow::leaf
