// A fetch: what a user sees of the final hits, the second phase of a query. See call_task.
#pragma once

#include "leaf/call_task.hpp"

namespace hedgerow::leaf {

class FetchTask final : public CallTask {
 public:
  explicit FetchTask(wire::FetchCall&& call);
  std::optional<Refusal> prepare(const Serving& leaf) override;
  // A document costs what some hundred postings do.
  double postings() const override { return 100.0 * static_cast<double>(documents_.size()); }
  result<Done> execute(WorkerContext& worker, const CallPart& part) override;

 private:
  std::span<const PartitionId> reads() const override { return partitions_; }

  std::vector<wire::DocumentAddress> documents_;
  std::vector<PartitionId> partitions_;
};

// Of fetches and snippets: not more documents than a query can show, all of partitions that this leaf holds.
std::optional<Refusal> check_documents(const std::vector<wire::DocumentAddress>& documents, const Serving& leaf);
// Their partitions, each once.
std::vector<PartitionId> partitions_of(const std::vector<wire::DocumentAddress>& documents);

}  // namespace hedgerow::leaf
