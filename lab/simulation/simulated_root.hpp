// A root in virtual time: the host that performs what policy::Fanout decides, as root/fanout_runner does on Asio. It
// decides nothing itself.
//
// All roots of a world share this class's books of queries and the pool of attempts; each has policies of its own.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/random.hpp"
#include "lab/simulation/attempt_pool.hpp"
#include "lab/simulation/event_queue.hpp"
#include "lab/simulation/invariants.hpp"
#include "lab/simulation/network.hpp"
#include "lab/simulation/query_end.hpp"
#include "lab/simulation/report.hpp"
#include "lab/simulation/simulated_canaries.hpp"
#include "lab/simulation/simulated_leaf.hpp"
#include "lab/simulation/simulated_waiting_room.hpp"
#include "lab/simulation/world.hpp"
#include "root/policy/query/fanout.hpp"
#include "root/policy/query/subsystems.hpp"

namespace hedgerow::lab::simulation {

class SimulatedRoots {
 public:
  using QuerySlot = std::uint32_t;

  SimulatedRoots(const WorldSettings& settings, EventQueue& events, AttemptPool& attempts, Network& network,
                 std::vector<SimulatedLeaf>& leaves, Report& report, const QueryObserver& observer, Random random);

  void on_arrival(std::uint32_t root, bool measured, Instant now);
  // Of a query in the waiting room of this root: it is refused, if it still waits.
  void on_waiting_ends(std::uint32_t root, std::uint32_t number, Instant now);
  void on_canaries_wake(std::uint32_t root, Instant now);
  void on_canaries_beat(Instant now);
  void on_speller_answer(std::uint32_t call, Instant now);
  void on_subsystems_wake(QuerySlot query, std::uint32_t generation, Instant now);
  // Lets in who waits and may begin.
  void call_waiting(std::uint32_t root, Instant now);
  void on_outcome(AttemptSlot attempt, Outcome outcome, Instant now);
  // These are for the query in this place only if it still is of this generation.
  void on_wake(QuerySlot query, std::uint32_t generation, Instant at, Instant now);
  void on_client_gone(QuerySlot query, std::uint32_t generation, Instant now);
  void on_drop(QuerySlot query, std::uint32_t generation, Instant now);
  // The attempt that must hear of its twin's begin, if it has been sent; if not, it will hear of it when it is.
  std::optional<AttemptSlot> twin_of(AttemptSlot attempt);

  void on_leaf_missed(LeafId leaf, policy::LeafLoss how, Instant now);
  void on_leaf_returned(LeafId leaf, Instant now);
  bool misses(LeafId leaf) const { return missed_[leaf.value]; }
  void set_budget(double fill, double depth, Instant now);

  policy::SearchPolicies& policies(std::uint32_t root) { return *policies_[root]; }
  Invariants& invariants() { return *invariants_; }
  std::size_t open_queries() const { return open_; }
  std::size_t waiting_queries() const;

 private:
  struct Query {
    std::uint32_t generation = 0;
    std::uint32_t root = 0;
    std::optional<policy::Fanout> fanout;  // while the query is here
    Instant arrived, search_end;
    Instant admitted;
    std::size_t shape = 0;
    ServiceClass service_class = ServiceClass::interactive;
    Duration shared{};
    std::string fingerprint;  // where there are canaries
    // Where there are spellers. The search is over when it is answered; the query, when these have ended too.
    std::unique_ptr<policy::Subsystems> subsystems;
    bool concluded = false;
    policy::FinishReason reason = policy::FinishReason::complete;
    Instant wake_at, next_wake;  // as wished; and the soonest that is in the event queue
    bool measured = false, answered = false, abandoned = false;
    std::vector<AttemptSlot> records;  // by attempt; none: not sent
    std::vector<AttemptId> twins_begun;  // before they were sent
  };
  static constexpr AttemptSlot none = ~AttemptSlot{0};
  static constexpr int precision_of_seconds = 7;  // bits, of the histogram of each second

  Query* find(QuerySlot slot, std::uint32_t generation);
  std::vector<policy::Fanout::Partition> draw_partitions(std::size_t width);
  std::size_t draw_shape();
  using Guest = SimulatedWaitingRoom::Guest;
  // Let in: it asks the canaries first, where there are any.
  void enter(std::uint32_t root, const Guest& guest, const policy::Admission::Shedding& shedding, Instant now);
  void begin(std::uint32_t root, SimulatedCanaries::Told word, Instant now);
  void listen_to_canaries(std::uint32_t root, Instant now);
  void turn_away(std::uint32_t root, const SimulatedCanaries::Told& word, Instant now);
  // To its leaf, by the link's way; and a cancel behind it.
  void send_on(AttemptSlot attempt, std::optional<Instant> with_frame, Instant now);
  void cancel_on(AttemptSlot attempt, Instant now);
  void refuse(const Guest& guest, Instant now);
  void leave(const Query& query, policy::FinishReason reason, Instant now);
  void perform(QuerySlot slot, policy::Actions actions, Instant now);
  void send(QuerySlot slot, const policy::SendAttempt& action, Instant now);
  void cancel(QuerySlot slot, AttemptId id, Instant now);
  void wake_at(QuerySlot slot, Instant at, Instant now);
  void answer(QuerySlot slot, policy::FinishReason reason, Instant now);
  void ask_spellers(QuerySlot slot, bool shed, Instant now);
  void perform_parts(QuerySlot slot, const policy::Actions& actions, Instant now);
  void conclude_if_ended(QuerySlot slot, Instant now);
  void conclude(QuerySlot slot, Instant now);
  void drop(QuerySlot slot, Instant now);
  // Both of a query's figures: of those that are measured, and of its second.
  template <class Change>
  void count(const Query& query, Change&& change) {
    count(query.measured, query.arrived, change);
  }
  template <class Change>
  void count(bool measured, Instant arrived, Change&& change) {
    if (measured) change(report_.measured);
    if (!settings_.timeline) return;
    const auto second = static_cast<std::size_t>((arrived - Instant{}) / std::chrono::seconds(1));
    while (report_.seconds.size() <= second) report_.seconds.emplace_back(precision_of_seconds);
    change(report_.seconds[second]);
  }

  const WorldSettings& settings_;
  EventQueue& events_;
  AttemptPool& attempts_;
  Network& network_;
  std::vector<SimulatedLeaf>& leaves_;
  Report& report_;
  Random random_;
  const QueryObserver& observer_;
  std::vector<std::unique_ptr<policy::SearchPolicies>> policies_;
  std::vector<std::unique_ptr<policy::SubsystemModels>> subsystem_models_;  // of each root; empty: no spellers
  struct SpellerCall {
    QuerySlot query;
    std::uint32_t generation;
    AttemptId attempt;
  };
  std::vector<SpellerCall> speller_calls_;
  std::vector<std::uint32_t> free_calls_;
  std::vector<std::unique_ptr<SimulatedCanaries>> canaries_;    // of each root; empty: all fan out at once
  std::uint64_t texts_ = 0;                                      // that nobody asked before, so far
  std::vector<std::unique_ptr<SimulatedWaitingRoom>> rooms_;  // of each root; empty: all are let in
  std::optional<Invariants> invariants_;
  std::vector<policy::Fanout::Partition> partitions_;
  std::vector<std::uint32_t> order_;  // room for drawing partitions
  double weights_ = 0;                // of the shapes
  std::deque<Query> queries_;
  std::vector<QuerySlot> free_;
  std::size_t open_ = 0;
  std::vector<bool> missed_;
  // Attempts of one batch to one leaf travel in one frame.
  std::uint64_t batch_ = 0;
  struct Frame {
    std::uint64_t batch = 0;
    std::uint32_t parts = 0;
    std::optional<Instant> arrives;
  };
  std::vector<Frame> frames_;  // by leaf
};

}  // namespace hedgerow::lab::simulation
