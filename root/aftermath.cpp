#include "root/aftermath.hpp"

#include "root/leaf_client.hpp"

namespace hedgerow::root {

class Aftermath::Call final : public wire::CallObserver {
 public:
  Call(Aftermath& aftermath, AttemptKind kind, Open open) : aftermath_(aftermath), kind_(kind), open_(std::move(open)) {}

  void on_call_message(CallId, wire::Message&& message, bool over) override {
    if (const auto* answer = std::get_if<wire::PartitionAnswer>(&message)) {
      count(answer->partition, AttemptEnding::late, true);
    } else if (const auto* failure = std::get_if<wire::PartitionFailure>(&message)) {
      count(failure->partition, ending_of(*failure), failure->started);
    }
    if (over) leave();
  }
  void on_call_lost(CallId) override {
    for (const auto& [partition, pair] : open_) count_ending(aftermath_.metrics_, kind_, AttemptEnding::unreachable, pair.get(), false);
    leave();
  }

  std::list<Call>::iterator place;

 private:
  // A leaf that answers what was not asked is not counted, and hurts nobody any more.
  void count(PartitionId partition, AttemptEnding ending, bool executed) {
    const auto found = open_.find(partition);
    if (found == open_.end()) return;
    count_ending(aftermath_.metrics_, kind_, ending, found->second.get(), executed);
    if (ending == AttemptEnding::late) aftermath_.metrics_.answers_late.Increment();
    open_.erase(found);
  }
  // Ends this object.
  void leave() { aftermath_.calls_.erase(place); }

  Aftermath& aftermath_;
  AttemptKind kind_;
  Open open_;
};

Aftermath::Aftermath(Metrics& metrics) : metrics_(metrics) {}
Aftermath::~Aftermath() = default;

void Aftermath::take_over(LeafClient& leaf, CallId call, AttemptKind kind, Open open) {
  auto& entry = calls_.emplace_back(*this, kind, std::move(open));
  entry.place = std::prev(calls_.end());
  leaf.abandon(call, &entry);
}

}  // namespace hedgerow::root
