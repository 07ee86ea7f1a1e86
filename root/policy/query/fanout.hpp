// One query's search phase over the partitions that it asks: which attempts are sent, repeated, hedged, tied, given up,
// and when the search is over. Pure: (event, now) in, actions out.
//
// This machine only composes: who is asked is replica_choice's rule, what is repeated is retry's, when another replica is
// asked hedging's, when less than everything is enough good_enough's. It keeps what all of them need to know: the state of
// every partition and every attempt.
//
// Invariants: (1) a partition is answered at most once, by its first answer; (2) every attempt that was sent is told to
// the search policies as ended exactly once; (3) after Finish no action is returned; (4) no attempt is sent at or after
// the search's end; (5) every hedge was paid for; (6) no leaf is asked twice for one partition.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "root/policy/cluster/search_policies.hpp"
#include "root/policy/query/action.hpp"
#include "root/policy/query/good_enough.hpp"

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
  Actions on_wake(Instant now);
  // The client went away: everything is cancelled.
  Actions abandon(Instant now);

  bool finished() const { return finish_.has_value(); }
  FinishReason finish_reason() const { return *finish_; }
  PartitionState state_of(std::size_t index) const { return partitions_[index].state; }
  const std::vector<Partition>& partitions() const { return asked_; }
  // The leaf whose answer was merged for a partition.
  LeafId answered_by(std::size_t index) const { return partitions_[index].answered_by; }

  struct Attempt {
    std::size_t partition_index;
    LeafId leaf;
    AttemptKind kind;
    bool outstanding;
    Instant sent{};
  };
  const Attempt& attempt(AttemptId id) const { return attempts_[id.value]; }
  std::size_t attempts() const { return attempts_.size(); }

 private:
  struct PartitionProgress {
    PartitionState state = PartitionState::waiting;
    std::vector<LeafId> tried;
    std::uint32_t outstanding = 0;
    LeafId answered_by;
  };

  bool send(std::size_t index, AttemptKind kind, Instant now, Actions& actions);
  // False: it had ended before.
  bool end(AttemptId attempt);
  void resolve(std::size_t index, PartitionState state);
  void cancel_outstanding(std::optional<std::size_t> index, Instant now, Actions& actions);
  void finish(FinishReason reason, Actions& actions);
  void finish_if_resolved(Actions& actions);

  std::vector<Partition> asked_;
  Settings settings_;
  SearchPolicies& policies_;
  std::vector<PartitionProgress> partitions_;
  std::vector<Attempt> attempts_;
  std::size_t waiting_ = 0;
  std::optional<FinishReason> finish_;
};

}  // namespace hedgerow::policy
