// A search: the best hits of each of some partitions. See call_task.
#pragma once

#include <atomic>
#include <optional>

#include "index/searcher.hpp"
#include "leaf/call_task.hpp"

namespace hedgerow::leaf {

class SearchTask final : public CallTask {
 public:
  explicit SearchTask(wire::SearchCall&& call);
  std::optional<Refusal> prepare(const Serving& leaf) override;
  double postings() const override;
  result<Done> execute(WorkerContext& worker, const CallPart& part) override;

 private:
  // What a list shows of the first hits, as far as they were asked for and may be among the best of all.
  std::vector<wire::FetchedDocument> shown(PartitionSearcher& searcher, const std::vector<ScoredDocument>& hits,
                                           double threshold, const std::atomic<bool>& stop) const;
  const wire::PlannedQuery* plan() const override { return &plan_; }

  wire::PlannedQuery plan_;
  std::uint32_t k_;
  std::uint32_t titles_;
  std::optional<PreparedQuery> query_;
  double share_ = 0;  // of the collection: what is searched here
  // The best score that k hits of one partition have reached so far, once its answer is on its way: what scores less
  // elsewhere on this leaf is not among the best k either.
  std::atomic<double> score_threshold_;
};

}  // namespace hedgerow::leaf
