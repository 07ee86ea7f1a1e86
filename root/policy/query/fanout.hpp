// One query's search phase over the partitions that it asks: which attempts are sent, repeated, hedged, tied, given up,
// and when the search is over. Pure: (event, now) in, actions out.
//
// This machine only composes: who is asked is replica_choice's rule, what is repeated is retry's, when another replica is
// asked hedging's, when less than everything is enough good_enough's. It keeps what all of them need to know: the state of
// every partition and every attempt.
//
// Invariants: (1) a partition is answered at most once, by its first answer; (2) every attempt that was sent is told to
// the search policies as ended exactly once; (3) after Finish no action is returned, and Finish is the last of its batch;
// (4) no attempt is sent at or after the search's end; (5) every hedge and every retry was paid for; (6) no leaf is asked
// twice for one partition, unless its copy of a tied pair was superseded, and so never ran; (7) WakeAt is asked for before
// anything can become due, so a host that wakes as asked leaves nothing hanging.
//
// An attempt costs its sending and its end, and nothing is searched for: a partition's attempts are a chain, a leaf's
// progress has its place (leaf_progress), and what is due is a heap (hedge).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "root/policy/cluster/search_policies.hpp"
#include "root/policy/query/action.hpp"
#include "root/policy/query/good_enough.hpp"
#include "root/policy/query/hedge.hpp"
#include "root/policy/query/leaf_progress.hpp"

namespace hedgerow::policy {

enum class PartitionState {
  waiting,
  answered,
  late,     // asked, and not answered in time
  failed,   // every replica that could be asked failed, or none is up
  refused,  // every replica that could be asked refused for load
};

class Fanout {
 public:
  struct Partition {
    PartitionId partition;
    std::vector<LeafId> replicas;  // as the topology assigns them; at least one
    std::uint64_t documents = 1;   // its weight in completeness
  };

  struct Settings {
    Instant search_end;  // the deadline less the reserve for the second phase
    // When FetchEarly is asked for, if the search still waits then (see second_phase).
    std::optional<Instant> early_fetch;
    HedgeChoice hedge;
    bool tied = false;  // every partition with two replicas is asked of both; see tied
    GoodEnoughRule good_enough;
  };

  // The cluster's policies outlive the query.
  Fanout(std::vector<Partition> partitions, const Settings& settings, SearchPolicies& policies);
  // Tells the policies of everything still outstanding.
  ~Fanout();
  Fanout(const Fanout&) = delete;
  Fanout& operator=(const Fanout&) = delete;

  // Before start: this partition has been answered already (by the canary), by this leaf.
  void adopt(std::size_t index, LeafId leaf);
  Actions start(Instant now);
  // True: the first answer of its partition, to be merged. False: a late or second one, to be counted and dropped.
  struct AnswerVerdict {
    bool merge = false;
    Actions actions;
  };
  AnswerVerdict on_answer(AttemptId attempt, const AttemptReport& report, Instant now);
  Actions on_failure(AttemptId attempt, AttemptFailure failure, Instant now);
  // This half of a tied pair has begun, and could not tell its twin itself. Only the first of a pair's two counts.
  Actions on_started(AttemptId attempt, Instant now);
  Actions on_wake(Instant now);
  // The client went away: everything is cancelled.
  Actions abandon(Instant now);

  bool finished() const { return finish_.has_value(); }
  FinishReason finish_reason() const { return *finish_; }
  PartitionState state_of(std::size_t index) const { return partitions_[index].state; }
  const std::vector<Partition>& partitions() const { return asked_; }
  // The leaf whose answer was merged for a partition.
  LeafId answered_by(std::size_t index) const { return partitions_[index].answered_by; }

  // An attempt has its number from when it is decided on. The second copy of a tied pair is decided on with the first
  // and sent a moment later, or never.
  struct Attempt {
    std::size_t partition_index;
    LeafId leaf;
    AttemptKind kind;
    bool outstanding;  // sent, and not over
    Instant sent{};
    bool planned = false;  // not sent yet
    LeafProgress::Place place = 0;
    std::uint32_t earlier = none;  // of the same partition
    std::uint32_t twin = none;
  };
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  const Attempt& attempt(AttemptId id) const { return attempts_[id.value]; }
  std::size_t attempts() const { return attempts_.size(); }
  // The different leaves that became unreachable with this query's work on them.
  const std::vector<LeafId>& lost_leaves() const { return leaves_.lost(); }

 private:
  struct PartitionProgress {
    PartitionState state = PartitionState::waiting;
    bool pace_told = false;          // that it was overdue, or in time
    std::uint32_t outstanding = 0;
    std::uint32_t latest = none;     // attempt; the others by Attempt::earlier
    std::uint32_t reference = none;  // the attempt whose silence is listened to
    std::uint32_t tried_from = 0;    // in tried_
    std::uint32_t tried = 0;
    LeafId answered_by;
  };

  std::span<const LeafId> tried(const PartitionProgress& partition) const {
    return {tried_.data() + partition.tried_from, partition.tried};
  }
  Instant turn_of(const Attempt& attempt) const { return leaves_.turn_of(attempt.place, attempt.sent); }

  void record_new();
  void begin(Instant now, Actions& actions);
  // Whether the answer is to be merged.
  bool take_answer(AttemptId attempt, const AttemptReport& report, Instant now, Actions& actions);
  void take_failure(AttemptId attempt, AttemptFailure failure, Instant now, Actions& actions);
  void drop_twin_of(AttemptId attempt, Instant now, Actions& actions);
  void wake(Instant now, Actions& actions);

  // Asks the partition's first leaf, or pair of leaves. False: no replica is up.
  bool ask(std::size_t index, Instant now, Actions& actions);
  void send_probes(Instant now, Actions& actions);
  std::uint32_t add(std::size_t index, LeafId leaf, AttemptKind kind);
  void send(std::uint32_t attempt, Instant now, Actions& actions);
  void send_planned_twins(Instant now, Actions& actions);
  void forget_planned(Attempt& attempt);
  void send_due_hedges(Instant now, Actions& actions);
  // Whether another replica was asked instead of the attempt that failed.
  bool retry(std::size_t index, AttemptFailure failure, Instant now, Actions& actions);
  // Whether nothing need be done about the failure, since the pair's other half goes on.
  bool twin_goes_on(Attempt& half, AttemptFailure failure);
  void give_back_leaf(PartitionProgress& partition, LeafId leaf);
  void tell_overdue(PartitionProgress& partition, Instant now);

  // False: it had ended before.
  bool end(Attempt& attempt);
  void resolve(std::size_t index, PartitionState state);
  void give_up(std::uint32_t attempt, Instant now, Actions& actions);
  void cancel_losers(PartitionProgress& partition, Instant now, Actions& actions);
  void cancel_everything(Instant now, Actions& actions);
  void finish(FinishReason reason, Instant now, Actions& actions);
  void finish_with_rest_late(FinishReason reason, Instant now, Actions& actions);
  void finish_if_resolved(Instant now, Actions& actions);
  void finish_if_good_enough(Instant now, Actions& actions);
  Awaited awaited(const PartitionProgress& partition, double share, const LatencyCurve& curve, Instant now) const;
  // The next instant at which something may have to be done; and the wish, if it is sooner than the last one.
  Instant next_due() const;
  void wish(Actions& actions);

  std::vector<Partition> asked_;
  Settings settings_;
  SearchPolicies& policies_;
  std::vector<PartitionProgress> partitions_;
  std::vector<Attempt> attempts_;
  std::vector<LeafId> tried_;  // room for each partition's replicas
  LeafProgress leaves_;
  HedgeSchedule hedges_;
  std::vector<std::uint32_t> planned_twins_;
  std::optional<Instant> twins_due_;
  std::optional<Instant> judge_again_;  // whether it is good enough
  std::vector<Awaited> awaited_;        // room for judging
  Instant wake_at_ = Instant::max();
  std::size_t waiting_ = 0;
  std::size_t outstanding_ = 0;
  std::uint64_t documents_ = 0, documents_answered_ = 0;
  std::optional<FinishReason> finish_;
  std::uint64_t number_ = 0;  // in the recording
};

}  // namespace hedgerow::policy
