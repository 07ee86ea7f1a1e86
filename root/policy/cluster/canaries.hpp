// The canary requests of a root: who is let through, who leads a trial, who follows it, who is refused. Pure: (event,
// now) in, actions out.
//
// Intuition: a query that nobody knows is tried on one leaf before all leaves get it; whoever asks the same meanwhile
// waits for that trial and begins none. This machine keeps the waiting room, and composes: what is known of a query is
// quarantine's, one trial is canary's, which leaf a trial may use is canary_leaves'.
//
// A trial ends with a verdict, not with its leader's deadline. Where there is none (its leader was short of time, or
// left), the first of its followers with time left leads the next one. Everybody hears exactly one answer: the verdict,
// or, at the end of their own time, that there is none yet.
//
// Invariants: (1) at most one trial for each fingerprint; (2) every waiter is told once, at its own end at the latest;
// (3) trials and waiters are bounded: beyond most_trials a query that would need one is refused for load; waiters are
// queries in flight.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "root/policy/cluster/canary_leaves.hpp"
#include "root/policy/cluster/quarantine.hpp"
#include "root/policy/query/canary.hpp"

namespace hedgerow::policy {

using TrialId = Id<struct TrialTag, std::uint64_t>;
using WaiterId = Id<struct WaiterTag, std::uint64_t>;

struct CanariesSettings {
  QuarantineSettings quarantine;
  CanarySettings canary;
  std::size_t most_trials = 2048;
  std::size_t most_listening = 256;  // trials that are over, and listen whether what hangs is answered after all
};

// What becomes of a query that asked.
enum class CanaryAnswer {
  go,           // it is safe
  quarantined,  // it was, or is now
  late,         // its time is over, and nothing is decided
  refused,      // the leaves refuse the trial for load, or there are too many trials
  no_leaf,      // no leaf is up to try it on
};

namespace canary_action {
// A trial begins, led by this waiter.
struct Begin {
  TrialId trial;
  WaiterId leader;
};
struct Send {
  TrialId trial;
  AttemptId attempt;
  PartitionId partition;
  LeafId leaf;
  Instant end;
};
struct Cancel {
  TrialId trial;
  AttemptId attempt;
};
// own: it led the trial; then answered may name the attempt whose answer is also that partition's answer for it.
struct Tell {
  WaiterId waiter;
  CanaryAnswer answer;
  TrialId trial;
  bool own = false;
  std::optional<AttemptId> answered = std::nullopt;
};
// A verdict, for the books.
struct Decided {
  TrialId trial;
  CanaryVerdict verdict;
  std::vector<LeafId> suspected;
};
// What looked like a hang was answered after all: no longer quarantined.
struct Lifted {
  TrialId trial;
};
// No event of this trial's is expected any more.
struct End {
  TrialId trial;
};
}  // namespace canary_action

using CanaryAction = std::variant<canary_action::Begin, canary_action::Send, canary_action::Cancel, canary_action::Tell,
                                  canary_action::Decided, canary_action::Lifted, canary_action::End>;
using CanaryActions = std::vector<CanaryAction>;

class Canaries {
 public:
  Canaries(const CanariesSettings& settings, SearchPolicies& policies, std::uint64_t seed);
  Canaries(const Canaries&) = delete;
  Canaries& operator=(const Canaries&) = delete;

  // Whether a query may be sent at once. nullopt: it has to ask.
  std::optional<CanaryAnswer> known(const std::string& fingerprint, bool always, Instant now);
  // A query that is not known waits from now on, until its search's end at the latest; follows tells whether somebody
  // else leads. The partitions it would ask say where it may be tried.
  struct Question {
    std::string fingerprint;
    std::string shown;
    std::vector<Canary::Partition> partitions;
    Instant end;
  };
  struct Asked {
    WaiterId waiter;
    bool follows = false;
    CanaryActions actions;
  };
  Asked ask(Question question, Instant now);
  // Its client went away: it is told nothing.
  CanaryActions leave(WaiterId waiter, Instant now);

  CanaryActions on_answer(TrialId trial, AttemptId attempt, const AttemptReport& report, Instant now);
  CanaryActions on_failure(TrialId trial, AttemptId attempt, AttemptFailure failure, Instant now);
  CanaryActions on_wake(Instant now);
  // When on_wake is wanted next.
  std::optional<Instant> wake_at() const;

  // Leaves' links, before whoever made calls on them is told; and the time, every CanaryLeaves::beat.
  void on_leaf_up(LeafId leaf) { leaves_.on_leaf_up(leaf); }
  void on_leaf_lost(LeafId leaf, LeafLoss how, Instant now) { leaves_.on_leaf_lost(leaf, how, now); }
  void on_beat(Instant now) { leaves_.on_beat(now); }

  // A search has ended that had answers; one had all of them, and lost no leaf; and one that began then lost these leaves.
  void on_search_answered(Instant now) { leaves_.on_answered(now); }
  void on_answered_whole(const std::string& fingerprint) { quarantine_.on_answered_whole(fingerprint); }
  void on_leaves_lost(const std::string& fingerprint, std::string_view shown, const std::vector<LeafId>& leaves, Instant began,
                      Instant now);

  Quarantine& quarantine() { return quarantine_; }
  const Quarantine& quarantine() const { return quarantine_; }
  const CanaryLeaves& leaves() const { return leaves_; }
  std::size_t trials() const { return trials_.size(); }
  std::size_t waiters() const { return waiters_.size(); }

 private:
  struct Waiter {
    Question question;
    std::optional<TrialId> trial;
  };
  struct Trial {
    Trial(WaiterId leader_in, const Question& question, std::uint32_t suspicions, const CanarySettings& settings,
          SearchPolicies& policies, CanaryLeaves& leaves, Random random)
        : leader(leader_in),
          fingerprint(question.fingerprint),
          shown(question.shown),
          canary(question.partitions, question.end, suspicions, settings, policies, leaves, random) {}
    WaiterId leader;
    std::string fingerprint, shown;
    Canary canary;
    std::vector<WaiterId> waiters;  // the leader among them, while they wait
    std::optional<Instant> wake_at;
    bool over = false;  // it has a verdict, and only listens
    std::optional<Instant> listens_until;
  };

  void begin(WaiterId leader, std::vector<WaiterId> followers, Instant now, CanaryActions& actions);
  // Takes in what a trial wants, and what came of it.
  void absorb(TrialId id, Actions wanted, Instant now, CanaryActions& actions);
  void conclude(TrialId id, Instant now, CanaryActions& actions);
  void tell(WaiterId waiter, CanaryAnswer answer, TrialId trial, bool own, std::optional<AttemptId> answered,
            CanaryActions& actions);
  void wake(Trial& trial, TrialId id, std::optional<Instant> at);
  void close_if_silent(TrialId id, Instant now, CanaryActions& actions);
  void close(TrialId id, CanaryActions& actions);
  void look_for_leaves(Instant now, CanaryActions& actions);

  CanariesSettings settings_;
  SearchPolicies& policies_;
  Random random_;
  Quarantine quarantine_;
  CanaryLeaves leaves_;
  std::map<TrialId, std::unique_ptr<Trial>> trials_;
  std::unordered_map<std::string, TrialId> undecided_;  // by fingerprint
  std::size_t listening_ = 0;
  std::map<WaiterId, Waiter> waiters_;
  std::set<std::pair<Instant, WaiterId>> waiters_by_end_;
  std::set<std::pair<Instant, TrialId>> wakes_;
  std::uint64_t last_trial_ = 0, last_waiter_ = 0;
};

}  // namespace hedgerow::policy
