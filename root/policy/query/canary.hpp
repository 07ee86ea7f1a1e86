// One query's trial: it runs on one leaf first, perhaps on a second one, and then is known to be safe, or guilty, or
// nothing is known. Pure: (event, now) in, actions out.
//
// Intuition: what a leaf survives, all of them survive. A leaf that dies while it runs a query may have died of
// something else; two that die of the same query within a moment hardly have. So
//   the canary is answered, or fails and its leaf lives on       the query is safe
//   its leaf dies (it closes its link) before that               a suspicion: a second canary, alone on another leaf, decides
//   its link is lost for silence, and no other leaf's            a suspicion that it hangs, decided a while later likewise
//   its link is lost among most of them, or for silence          nothing: processes are stopped, networks cut, machines
//   together with others, or the root itself was held up         switched off, and links of a root that slept closed
//   its leaf lives on, and says nothing, not even that the       a suspicion as well: leaves answer everything at its
//   time is over, for hang_time after it was over                deadline at the latest, so a worker is stuck
//   refused, or no time left                                     nothing: the leaf did not run it to its end
// Lateness is never held against a query. A canary that is only late is not waited for alone: after `patience` (twice the
// recent p95, at most half of the time) a second leaf is asked, and the first answer counts. In all, a trial asks two
// leaves, and one more for each that refused.
//
// Two things look like hangs and are none. When leaves answer nobody, the cluster hangs and not the query: a hang counts
// only if others were answered meanwhile, or no other trial is overdue. When the root itself was held up (its wake comes
// far too late), what has come meanwhile is still unread: it waits once more. And what looked like a hang may still be
// answered: the trial hears that, and acquits.
//
// So a death is judged only when the dust has settled (settle): who else was lost with it is known then. Where the root
// was held up, that takes longer, and a leaf that is up again by then only gave up the root. Whatever was lost before the
// judgement is weighed together; nobody is asked meanwhile.
//
// The trial outlives whoever began it. Invariants: (1) no leaf is asked twice; (2) a suspect's canary is alone on its
// leaf (see canary_leaves); (3) every attempt is told to the search policies as ended exactly once.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/random.hpp"
#include "root/policy/cluster/canary_leaves.hpp"
#include "root/policy/cluster/quarantine.hpp"
#include "root/policy/cluster/search_policies.hpp"
#include "root/policy/query/action.hpp"

namespace hedgerow::policy {

struct CanarySettings {
  Duration hang_time = std::chrono::seconds(2);
  double patience_quantile = 0.95;  // of what attempts of healthy leaves take
  double patience_factor = 2;
  Duration shortest_patience = std::chrono::milliseconds(5);
  std::size_t most_refusals = 3;
  std::size_t partitions_drawn = 4;  // the canary goes to the best of these partitions' leaves
  Duration held_up = std::chrono::milliseconds(500);  // a wake that comes so late was not the leaves' fault
  Duration settle = std::chrono::milliseconds(20);    // from a leaf's death to its judgement
  Duration settle_after_hold_up = std::chrono::milliseconds(500);  // the same where the root was held up
  // Leaves that are stopped together fall silent within this time: a link's idle time, and some air.
  Duration silent_together = std::chrono::milliseconds(1500);
};

enum class CanaryVerdict {
  safe,
  guilty,
  late,       // undecided: not in time
  refused,    // undecided: the leaves refuse work
  no_leaf,    // undecided: no leaf is up that was not asked
  abandoned,  // undecided: nobody waits for it any more
};

constexpr std::string_view to_string(CanaryVerdict verdict) {
  switch (verdict) {
    case CanaryVerdict::safe: return "safe";
    case CanaryVerdict::guilty: return "guilty";
    case CanaryVerdict::late: return "late";
    case CanaryVerdict::refused: return "refused";
    case CanaryVerdict::no_leaf: return "no_leaf";
    case CanaryVerdict::abandoned: return "abandoned";
  }
  return "late";
}

class Canary {
 public:
  struct Partition {
    PartitionId partition;
    std::vector<LeafId> replicas;
  };

  // suspicions: from earlier trials. end: when the query's search ends. Policies and leaves outlive the trial.
  Canary(std::vector<Partition> partitions, Instant end, std::uint32_t suspicions, const CanarySettings& settings,
         SearchPolicies& policies, CanaryLeaves& leaves, Random random);
  ~Canary();
  Canary(const Canary&) = delete;
  Canary& operator=(const Canary&) = delete;

  Actions start(Instant now);
  Actions on_answer(AttemptId attempt, const AttemptReport& report, Instant now);
  // unreachable: the leaf's link was lost after the attempt was sent; how, the canary_leaves were told before. Where it
  // could not be sent at all: refused.
  Actions on_failure(AttemptId attempt, AttemptFailure failure, Instant now);
  Actions on_wake(Instant now);
  // Nobody waits for it any more. What is under way is cancelled, unless the query is suspected.
  Actions abandon(Instant now);

  const std::optional<CanaryVerdict>& verdict() const { return verdict_; }
  // Of the verdict guilty.
  QuarantineReason reason() const { return crashes_ > 0 || hangs_ + silences_ == 0 ? QuarantineReason::crash : QuarantineReason::hang; }
  // What is left of them now: hangs that were answered after all are taken back.
  std::uint32_t suspicions() const { return earlier_suspicions_ + crashes_ + hangs_ + silences_; }
  // Those that are remembered where nothing was decided: silence is not.
  std::uint32_t lasting_suspicions() const { return suspicions() - silences_; }
  std::vector<LeafId> suspected_leaves() const;
  // The attempt whose answer made it safe; nullopt where its leaf lives on without one.
  std::optional<AttemptId> answered() const { return answered_; }
  // Something may still come: the trial is to be kept, and told.
  bool listens() const;

  struct Attempt {
    PartitionId partition;
    LeafId leaf;
    Instant sent{};
    Instant end{};  // its deadline on the leaf
    enum class State { outstanding, hung, silent, ended, dead } state = State::outstanding;
    bool overdue = false;
    bool alone = false;  // it decides about a suspect
    Instant lost{};      // where it is silent or dead
    bool held_up = false;  // the root was, when it was lost
    bool went_silent = false;
    bool judged = false;
  };
  const Attempt& attempt(AttemptId id) const { return attempts_[id.value]; }
  std::size_t attempts() const { return attempts_.size(); }
  bool waits_for_leaf() const { return waits_ && !judge_at_; }

 private:
  struct Choice {
    LeafId leaf;
    PartitionId partition;
  };
  // The best leaf among the untried ones that are open; alone: that no canary is on, or the one with the fewest.
  std::optional<Choice> choose(bool alone);
  std::vector<Choice> candidates(bool all, bool alone) const;
  void ask(Instant now, Actions& actions);
  void send(const Choice& choice, Instant now, Actions& actions);
  void decide(CanaryVerdict verdict, Instant now, Actions& actions);
  void suspect(Instant now, Actions& actions);
  void on_dead(Attempt& attempt, const CanaryLeaves::Loss& loss, Instant now);
  void judge(Instant now, Actions& actions);
  void on_silent(Attempt& attempt, Instant now, Actions& actions);
  // Takes back what turned out to be silence of several leaves.
  void review_silences();
  void undecided(CanaryVerdict verdict, Instant now, Actions& actions);
  // What runs on, or is waited for, without the attempts that hang.
  bool anything_under_way() const;
  void end(Attempt& attempt, Attempt::State state);
  void release();
  void wish(Instant now, Actions& actions);
  bool hang_counts(const Attempt& attempt, Instant now);

  std::vector<Partition> partitions_;
  Instant end_;
  std::uint32_t earlier_suspicions_;
  CanarySettings settings_;
  SearchPolicies& policies_;
  CanaryLeaves& leaves_;
  Random random_;
  Instant started_{};
  std::optional<Instant> patience_ends_;
  std::vector<Attempt> attempts_;
  std::uint32_t crashes_ = 0, hangs_ = 0, silences_ = 0;
  std::size_t refusals_ = 0;
  std::size_t forgiven_ = 0;  // times at which leaves were lost, and it says nothing
  std::optional<Instant> judge_at_;
  std::optional<Instant> rests_until_;  // after a silence, nobody is asked before
  std::optional<LeafId> reserved_;
  bool waits_ = false;  // for a leaf that is open, or that is reserved and still has others' canaries
  bool abandoned_ = false;
  std::optional<AttemptId> answered_;
  std::optional<CanaryVerdict> verdict_;
  Duration slack_{};  // the root was held up for so long
  std::optional<Instant> wake_at_;
};

}  // namespace hedgerow::policy
