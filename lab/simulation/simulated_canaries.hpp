// The canaries of one simulated root: the host of policy::Canaries in virtual time, as root/canary_service is on Asio.
//
// A query that is let in comes here first, and leaves with a word: it may fan out, or why not. The simulated root asks for
// the words (next_told) after every event that it hands on. Attempts travel by the root's own ways (send, cancel).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "lab/simulation/attempt_pool.hpp"
#include "lab/simulation/event_queue.hpp"
#include "lab/simulation/simulated_waiting_room.hpp"
#include "root/policy/cluster/canaries.hpp"
#include "root/policy/query/fanout.hpp"

namespace hedgerow::lab::simulation {

// A query before its fan-out.
struct Candidate {
  SimulatedWaitingRoom::Guest guest;
  Instant admitted;
  std::vector<policy::Fanout::Partition> partitions;  // that it will ask
  std::string fingerprint;
  // As of its attempts (see QueryShape).
  Duration shared{};
  std::uint32_t draws = 1;
  bool deadly = false;
  bool sheds_subsystems = false;
};

class SimulatedCanaries {
 public:
  // How attempts travel. Both take an attempt that this object holds.
  struct Ways {
    std::function<void(AttemptSlot, Instant)> send, cancel;
  };
  struct Told {
    Candidate candidate;
    policy::CanaryAnswer answer;
    // This place among its partitions has been answered already, by this leaf.
    std::optional<std::size_t> place = std::nullopt;
    LeafId leaf{};
  };

  SimulatedCanaries(std::uint32_t root, const policy::CanariesSettings& settings, policy::SearchPolicies& policies, EventQueue& events,
                    AttemptPool& attempts, Ways ways, Random random);

  void ask(Candidate candidate, Instant now);
  void on_outcome(AttemptSlot attempt, std::optional<policy::AttemptFailure> failure, Instant now);
  void on_wake(Instant now);
  void on_leaf_up(LeafId leaf) { canaries_.on_leaf_up(leaf); }
  // Before on_outcome is told that what was under way there is lost.
  void on_leaf_lost(LeafId leaf, policy::LeafLoss how, Instant now) { canaries_.on_leaf_lost(leaf, how, now); }
  void on_beat(Instant now) { canaries_.on_beat(now); }
  // A fan-out ended: with answers or without, with all of them or not, having lost these leaves.
  void on_searched(const std::string& fingerprint, bool answers, bool whole, const std::vector<LeafId>& lost, Instant began, Instant now);

  std::optional<Told> next_told();
  bool idle() const { return waiting_.empty() && told_.empty(); }
  const policy::CanaryLeaves& leaves() const { return canaries_.leaves(); }

 private:
  struct Sent {
    AttemptSlot slot;
    std::size_t place;
    bool open = true;
  };
  void perform(policy::CanaryActions actions, Instant now);
  void send(const policy::canary_action::Send& sent, Instant now);
  void tell(const policy::canary_action::Tell& told);
  void wish(Instant now);

  std::uint32_t root_;
  policy::Canaries canaries_;
  EventQueue& events_;
  AttemptPool& attempts_;
  Ways ways_;
  std::map<policy::WaiterId, Candidate> waiting_;
  std::map<policy::TrialId, Candidate> trials_;  // as their first leader asked
  std::map<std::pair<policy::TrialId, AttemptId>, Sent> sent_;
  std::deque<Told> told_;
  std::optional<Instant> wake_at_;  // the soonest that is in the event queue
};

}  // namespace hedgerow::lab::simulation
