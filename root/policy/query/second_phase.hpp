// The second phase: titles and urls of the final hits, from the leaves that hold them. Pure: (event, now) in, actions
// out.
//
// Intuition: the leaf that found a hit has its document at hand and is asked first. If it fails, or is silent for longer
// than such a phase takes (the reserve, and never more than half of the time that is left), another replica is asked as
// well; the first answer counts.
//
// A search that still waits for stragglers shortly before its end fetches the documents of the hits that stand so far
// (add), so that at the end only those of the stragglers are left to be fetched.
//
// And how long to keep free for it: the search ends at the deadline less a reserve, the recent p99 of this phase with
// some air, never less than a floor and a share of the whole time, and never more than a quarter of it. The share is for
// bursts: queries that wait for the same silent leaf all end their searches at the same instant, and then their second
// phases stand in each other's way as no recent one did.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "root/policy/cluster/latency_model.hpp"
#include "root/policy/cluster/replica_choice.hpp"
#include "root/policy/query/action.hpp"

namespace hedgerow::policy {

struct ReserveSettings {
  Duration floor = std::chrono::milliseconds(3);
  double air = 1.25;
  double share = 0.05;
};

// For a query whose whole time is total. Without recent samples, four times the floor.
Duration second_phase_reserve(Duration total, LatencyModel& recent, Instant now, const ReserveSettings& settings = {});

// When a search that still waits fetches early: two reserves before its end, and not before half of its time.
Instant early_fetch_instant(Instant search_start, Instant search_end, Duration reserve);

// The life of one: add (any number of times), then drop, then start; answers and failures may come from the first add on.
class SecondPhase {
 public:
  struct Hit {
    LeafId found_by;
    std::vector<LeafId> replicas;
    bool delivered = false;  // its document came with it (see titles_with_hits): nobody need be asked
  };

  // patience: silence for so long, or for half of the time left where that is shorter, and another replica is asked.
  SecondPhase(std::vector<Hit> hits, Instant deadline, Duration patience, ReplicaChoice& replica_choice);
  ~SecondPhase();
  SecondPhase(const SecondPhase&) = delete;
  SecondPhase& operator=(const SecondPhase&) = delete;

  // Further hits, asked for at once; their places follow those of the hits before.
  Actions add(std::vector<Hit> hits, Instant now);
  // The hit at this place is not wanted after all.
  void drop(std::size_t place);
  // The hits are final: asks for what nobody was asked for yet, and finishes when all is here, or nothing more can come.
  Actions start(Instant now);
  // The places among the attempt's that nobody had delivered before; their documents are taken, others' dropped.
  struct AnswerVerdict {
    std::vector<std::size_t> take;
    Actions actions;
  };
  AnswerVerdict on_answer(AttemptId attempt, Instant now);
  Actions on_failure(AttemptId attempt, Instant now);
  Actions on_wake(Instant now);

  bool finished() const { return finished_; }
  bool has(std::size_t place) const { return hits_state_[place].delivered; }
  const std::vector<std::size_t>& places_of(AttemptId attempt) const { return attempts_[attempt.value].places; }
  LeafId leaf_of(AttemptId attempt) const { return attempts_[attempt.value].leaf; }

 private:
  struct HitState {
    bool delivered = false;
    std::uint32_t outstanding = 0;
    std::vector<LeafId> tried;
  };
  struct Attempt {
    LeafId leaf;
    std::vector<std::size_t> places;
    bool outstanding = true;
  };

  // Asks for these places, each at the preferred leaf where one is given and up, else by choice among the untried.
  void send(const std::vector<std::size_t>& places, bool prefer_finder, Actions& actions);
  void end(AttemptId attempt);
  void finish_if_done(Actions& actions);

  std::vector<Hit> hits_;
  std::vector<HitState> hits_state_;
  Instant deadline_;
  Duration patience_;
  Instant second_try_at_{};
  bool second_try_done_ = false;
  bool started_ = false;
  ReplicaChoice& replica_choice_;
  std::vector<Attempt> attempts_;
  bool finished_ = false;
};

}  // namespace hedgerow::policy
