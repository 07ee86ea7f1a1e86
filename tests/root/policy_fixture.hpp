// What the policies' tests share: a manual clock, short ways to say what came back, and a cluster of leaves that are up.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "root/policy/query/fanout.hpp"
#include "root/policy/query/second_phase.hpp"

namespace hedgerow::policy {

using namespace std::chrono_literals;

inline Instant at(Duration since_start) { return Instant{} + std::chrono::hours(1) + since_start; }

inline LeafId leaf(std::uint32_t number) { return LeafId{number}; }

// All actions of one kind, in order.
template <class Kind>
std::vector<Kind> all_of(const Actions& actions) {
  std::vector<Kind> found;
  for (const auto& action : actions) {
    if (const auto* one = std::get_if<Kind>(&action)) found.push_back(*one);
  }
  return found;
}

// "send 0 P0 L1 primary; cancel 2; wake 90ms; finish complete": a batch of actions as text, for tables.
inline std::string described(const Actions& actions) {
  std::string text;
  for (const auto& action : actions) {
    if (!text.empty()) text += "; ";
    if (const auto* send = std::get_if<SendAttempt>(&action)) {
      text += "send " + std::to_string(send->attempt.value) + " P" + std::to_string(send->partition.value) + " L" +
              std::to_string(send->leaf.value) + " " + std::string(to_string(send->kind));
      if (send->twin) {
        text += " twin " + std::to_string(send->twin->attempt.value) + " L" + std::to_string(send->twin->leaf.value);
      }
    } else if (const auto* cancel = std::get_if<CancelAttempt>(&action)) {
      text += "cancel " + std::to_string(cancel->attempt.value);
    } else if (const auto* wake = std::get_if<WakeAt>(&action)) {
      text += "wake " + format_duration(wake->at - at(0ms));
    } else if (std::holds_alternative<FetchEarly>(action)) {
      text += "fetch early";
    } else if (const auto* fetch = std::get_if<SendFetch>(&action)) {
      text += "fetch " + std::to_string(fetch->attempt.value) + " L" + std::to_string(fetch->leaf.value) + " of";
      for (const auto place : fetch->places) text += " " + std::to_string(place);
    } else if (const auto* parts = std::get_if<SendParts>(&action)) {
      text += "ask " + std::to_string(parts->attempt.value) + " " + std::string(to_string(parts->kind)) + " L" +
              std::to_string(parts->leaf.value) + " of";
      for (const auto place : parts->places) text += " " + std::to_string(place);
    } else if (const auto* finish = std::get_if<Finish>(&action)) {
      text += "finish " + std::string(to_string(finish->reason));
    }
  }
  return text;
}

struct PolicyFixture {
  SearchPolicies policies{settings(), 1};
  ReplicaChoice& replica_choice = policies.replica_choice;
  AttemptBudget& budget = policies.retry_budget;

  // Choices by requests in flight alone, and no hedges unless a test asks for them.
  static SearchPolicySettings settings() {
    SearchPolicySettings settings;
    settings.replica_choice.mode = ReplicaChoiceSettings::Mode::least_in_flight;
    settings.retry_fill = 0.2;
    settings.retry_depth = 100;
    return settings;
  }

  explicit PolicyFixture(std::uint32_t leaves = 8) {
    for (std::uint32_t i = 0; i < leaves; ++i) policies.on_leaf_up(leaf(i));
  }

  // Makes a leaf busier by so many attempts of others, so that choices between equals need no chance.
  void busy(std::uint32_t number, int attempts) {
    for (int i = 0; i < attempts; ++i) replica_choice.on_sent(leaf(number));
  }
};

// One query's fan-out over partitions 0, 1, … with these leaves each; it starts at 0 ms, its search ends at 90 ms. What
// it does comes back as text.
struct Search : PolicyFixture {
  struct Options {
    std::optional<Instant> early_fetch = std::nullopt;
    HedgeChoice hedge = {.mode = HedgeChoice::Mode::off};
    bool tied = false;
    GoodEnoughRule good_enough = {};
    std::vector<std::uint64_t> documents = {};  // of each partition; 1 where left out
  };

  explicit Search(const std::vector<std::vector<std::uint32_t>>& replicas) : Search(replicas, Options{}) {}
  Search(const std::vector<std::vector<std::uint32_t>>& replicas, const Options& options) { begin(replicas, options); }

  void begin(const std::vector<std::vector<std::uint32_t>>& replicas, const Options& options) {
    std::vector<Fanout::Partition> partitions;
    for (std::uint32_t i = 0; i < replicas.size(); ++i) {
      partitions.push_back({PartitionId{i}, {}});
      if (i < options.documents.size()) partitions.back().documents = options.documents[i];
      for (const auto number : replicas[i]) partitions.back().replicas.push_back(leaf(number));
    }
    fanout = std::make_unique<Fanout>(std::move(partitions),
                                      Fanout::Settings{.search_end = at(90ms),
                                                       .early_fetch = options.early_fetch,
                                                       .hedge = options.hedge,
                                                       .tied = options.tied,
                                                       .good_enough = options.good_enough},
                                      policies);
  }

  std::string start(Duration now = 0ms) { return described(fanout->start(at(now))); }
  std::string fails(std::uint32_t attempt, AttemptFailure failure, Duration now) {
    return described(fanout->on_failure(AttemptId{attempt}, failure, at(now)));
  }
  // "merge", or "drop", and the actions.
  std::string answers(std::uint32_t attempt, Duration now, const AttemptReport& report = {}) {
    const auto verdict = fanout->on_answer(AttemptId{attempt}, report, at(now));
    const std::string actions = described(verdict.actions);
    return (verdict.merge ? "merge" : "drop") + (actions.empty() ? "" : "; " + actions);
  }
  std::string begins(std::uint32_t attempt, Duration now) {
    return described(fanout->on_started(AttemptId{attempt}, at(now)));
  }
  std::string wakes(Duration now) { return described(fanout->on_wake(at(now))); }
  std::uint32_t in_flight() const {
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < 8; ++i) sum += replica_choice.in_flight(leaf(i));
    return sum;
  }

  std::unique_ptr<Fanout> fanout;
};

inline HedgeChoice hedge_after(Duration delay) { return {.mode = HedgeChoice::Mode::fixed, .delay = delay}; }

}  // namespace hedgerow::policy
