// The optional subsystems of one query: spelling, snippets, facets. Pure: (event, now) in, actions out.
//
// Intuition: an answer is as good without them, so none may cost it anything. One is started only if what it takes of
// late fits into the time left, or else is `skipped` (as are all of them where there is load to be shed). It runs beside the query. When hits and titles are final (settle),
// what is still open is waited for only if it is likely to come within a small grace, and never beyond the deadline; what
// is not there then is `late`. What it taught goes into cluster/subsystem_model.
//
// The work of each is cut into parts: the one question of spelling, a snippet of one hit, the counts of one partition.
// A part goes to one of its replicas, to another one after a failure; parts for the same leaf travel together. The first
// answer of a part counts.
//
// Life: for each kind any number of add, then close (a kind of which neither is called is `off`), then settle; answers
// and failures may come from the first add on. Invariants: (1) each kind ends once, with one status; (2) nothing is sent
// after its end, and all that was sent is by then answered, failed or cancelled; (3) no kind ends later than the wake
// that settle asks for, which is at most the grace away and not beyond the deadline; (4) replica_choice is told of every
// call's end exactly once.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "root/policy/cluster/replica_choice.hpp"
#include "root/policy/cluster/subsystem_model.hpp"
#include "root/policy/query/action.hpp"

namespace hedgerow::policy {

enum class SubsystemStatus {
  off,      // not asked for, or nobody offers it
  ok,       // all of it is there
  skipped,  // not started: it would not have fitted into the time
  late,     // not there, or not all of it, when the answer had to go
  failed,   // nobody that could be asked could do it
};

constexpr std::string_view to_string(SubsystemStatus status) {
  switch (status) {
    case SubsystemStatus::off: return "off";
    case SubsystemStatus::ok: return "ok";
    case SubsystemStatus::skipped: return "skipped";
    case SubsystemStatus::late: return "late";
    case SubsystemStatus::failed: return "failed";
  }
  return "off";
}

using SubsystemModels = std::array<SubsystemModel, subsystem_kinds>;

class Subsystems {
 public:
  static constexpr Duration default_grace = std::chrono::milliseconds(5);

  struct Part {
    std::vector<LeafId> replicas;
    std::optional<LeafId> preferred;  // asked first, where it is up
  };

  // grace: how long an answer whose hits are ready may wait, where waiting is expected to pay; wanted_grace: the asker's
  // own, waited out whatever is expected. The models and the choice outlive the query.
  Subsystems(Instant deadline, std::optional<Duration> wanted_grace, ReplicaChoice& replica_choice,
             SubsystemModels& models);
  ~Subsystems();
  Subsystems(const Subsystems&) = delete;
  Subsystems& operator=(const Subsystems&) = delete;

  // There is load to be shed: none is started, all are skipped. Before the first add.
  void shed() { shed_ = true; }
  // Further parts, numbered from 0 in the order in which they come.
  Actions add(SubsystemKind kind, std::vector<Part> parts, Instant now);
  // A part is not wanted after all.
  void drop(SubsystemKind kind, std::size_t place);
  // All parts are known.
  Actions close(SubsystemKind kind, Instant now);

  // The places among those answered that are to be taken: that nobody has answered before, and that are wanted.
  struct AnswerVerdict {
    std::vector<std::size_t> take;
    Actions actions;
  };
  // One part; or all that the call was still to answer.
  AnswerVerdict on_answer(AttemptId attempt, std::size_t place, Instant now);
  AnswerVerdict on_answer(AttemptId attempt, Instant now);
  Actions on_failure(AttemptId attempt, std::size_t place, AttemptFailure failure, Instant now);
  // All that the call was still to answer failed.
  Actions on_failure(AttemptId attempt, AttemptFailure failure, Instant now);

  // Hits and titles are final. Finish comes at once, with a later event, or with the wake that is asked for.
  Actions settle(Instant now);
  Actions on_wake(Instant now);
  // Nobody wants the answer any more.
  Actions abandon(Instant now);

  bool finished() const { return finished_; }
  SubsystemStatus status(SubsystemKind kind) const { return of(kind).status.value_or(SubsystemStatus::late); }
  // From the first call to the end.
  Duration duration(SubsystemKind kind) const;
  bool has(SubsystemKind kind, std::size_t place) const { return of(kind).parts[place].delivered; }
  SubsystemKind kind_of(AttemptId attempt) const { return attempts_[attempt.value].kind; }
  // What this call is still to answer.
  const std::vector<std::size_t>& open_places(AttemptId attempt) const { return attempts_[attempt.value].open; }

 private:
  struct PartState {
    Part part;
    bool dropped = false;
    bool delivered = false;
    std::vector<LeafId> tried;
  };
  struct One {
    bool used = false, closed = false, let_through = false, expired = false;
    std::optional<SubsystemModel::Verdict> verdict;
    std::vector<PartState> parts;
    std::uint32_t outstanding = 0;  // calls
    std::optional<Instant> started, ended;
    std::optional<SubsystemStatus> status;
    bool waited_for = false;
  };
  struct Attempt {
    SubsystemKind kind;
    LeafId leaf;
    Instant sent;
    std::vector<std::size_t> open;
    bool outstanding = true;
  };

  One& of(SubsystemKind kind) { return all_[static_cast<std::size_t>(kind)]; }
  const One& of(SubsystemKind kind) const { return all_[static_cast<std::size_t>(kind)]; }
  SubsystemModel& model(SubsystemKind kind) { return models_[static_cast<std::size_t>(kind)]; }

  void send(SubsystemKind kind, const std::vector<std::size_t>& places, bool prefer, Instant now, Actions& actions);
  void deliver(SubsystemKind kind, std::size_t place, AnswerVerdict& verdict);
  void end_answered(AttemptId attempt, Instant now, AnswerVerdict& verdict);
  void end_attempt(AttemptId attempt);
  void end(SubsystemKind kind, SubsystemStatus status, Instant now, Actions& actions);
  void end_if_done(SubsystemKind kind, Instant now, Actions& actions);
  bool worth_waiting_for(SubsystemKind kind, Instant now);
  void finish_if_ended(Actions& actions);

  Instant deadline_;
  std::optional<Duration> wanted_grace_;
  ReplicaChoice& replica_choice_;
  SubsystemModels& models_;
  std::array<One, subsystem_kinds> all_;
  std::vector<Attempt> attempts_;
  std::optional<Instant> wait_until_;
  bool shed_ = false;
  bool settled_ = false;
  bool finished_ = false;
};

}  // namespace hedgerow::policy
