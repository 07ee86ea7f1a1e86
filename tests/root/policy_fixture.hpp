// What the policies' tests share: a manual clock, short ways to say what came back, and a cluster of leaves that are up.
#pragma once

#include <algorithm>
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

}  // namespace hedgerow::policy
