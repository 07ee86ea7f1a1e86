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
  const std::vector<std::string>* words() const override { return &plan_.terms; }
  result<Done> execute(WorkerContext& worker, const CallPart& part) override;

 private:
  wire::PlannedQuery plan_;
  std::vector<wire::DocumentAddress> documents_;
  std::optional<PreparedQuery> query_;
};

}  // namespace hedgerow::leaf
