// What mistyped words may have meant, on a leaf that serves spelling. See call_task.
#pragma once

#include "leaf/call_task.hpp"

namespace hedgerow::leaf {

class SpellTask final : public CallTask {
 public:
  explicit SpellTask(wire::SpellCall&& call);
  std::optional<Refusal> prepare(const Serving& leaf) override;
  result<Done> execute(WorkerContext& worker, const CallPart& part) override;

 private:
  const std::vector<std::string>* words() const override { return &words_; }

  std::vector<std::string> words_;
};

}  // namespace hedgerow::leaf
