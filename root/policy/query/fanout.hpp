// One query's search phase over the partitions that it asks: which attempts are sent, repeated, given up, and when the
// search is over. Pure: (event, now) in, actions out.
//
// This machine only composes: who is asked is replica_choice's rule, what is repeated is retry's, and the rules to come
// (hedge, tied, canary, good enough) have files of their own. It keeps what all of them need to know: the state of every
// partition and every attempt.
//
// Invariants: (1) a partition is answered at most once, by its first answer; (2) every attempt that was sent is told to
// replica_choice as ended exactly once; (3) after Finish no action is returned; (4) no attempt is sent at or after the
// search's end.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "root/policy/cluster/attempt_budget.hpp"
#include "root/policy/cluster/replica_choice.hpp"
#include "root/policy/query/action.hpp"

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
  };

  // search_end: the deadline less the reserve for the second phase. early_fetch: when FetchEarly is asked for, if the
  // search still waits then (see second_phase). The cluster's policies outlive the query.
  Fanout(std::vector<Partition> partitions, Instant search_end, ReplicaChoice& replica_choice,
         AttemptBudget& retry_budget, std::optional<Instant> early_fetch = std::nullopt);
  // Tells replica_choice of everything still outstanding.
  ~Fanout();
  Fanout(const Fanout&) = delete;
  Fanout& operator=(const Fanout&) = delete;

  Actions start(Instant now);
  // True: the first answer of its partition, to be merged. False: a late or second one, to be counted and dropped.
  struct AnswerVerdict {
    bool merge = false;
    Actions actions;
  };
  AnswerVerdict on_answer(AttemptId attempt, Instant now);
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

  bool send(std::size_t index, AttemptKind kind, Actions& actions);
  void end(AttemptId attempt);
  void resolve(std::size_t index, PartitionState state);
  void cancel_outstanding(std::optional<std::size_t> index, Actions& actions);
  void finish(FinishReason reason, Actions& actions);
  void finish_if_resolved(Actions& actions);

  std::vector<Partition> asked_;
  Instant search_end_;
  std::optional<Instant> early_fetch_;  // until it is asked for
  ReplicaChoice& replica_choice_;
  AttemptBudget& retry_budget_;
  std::vector<PartitionProgress> partitions_;
  std::vector<Attempt> attempts_;
  std::size_t waiting_ = 0;
  std::optional<FinishReason> finish_;
};

}  // namespace hedgerow::policy
