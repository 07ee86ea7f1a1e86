// A document by its external id: itself, or the words that say what it is about. See call_task.
#pragma once

#include "leaf/call_task.hpp"

namespace hedgerow::leaf {

class LookupTask final : public CallTask {
 public:
  explicit LookupTask(wire::LookupCall&& call);
  std::optional<Refusal> prepare(const Serving& leaf) override;
  result<Done> execute(WorkerContext& worker, const CallPart& part) override;

 private:
  std::span<const PartitionId> reads() const override { return {&partition_, 1}; }

  PartitionId partition_;
  std::string id_;
  std::uint32_t most_terms_;
};

}  // namespace hedgerow::leaf
