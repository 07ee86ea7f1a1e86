// What must hold in every world, checked after every event from books of its own: nothing here asks a policy what it
// thinks, except to compare.
//
//  1. Every query is answered once, and not after its search's end; nothing is sent for it then.
//  2. A partition is merged at most once, by an attempt that was sent for it, to a leaf that holds it; the query is called
//     complete if, and only if, all are merged.
//  3. No leaf is asked twice for one partition of a query, unless what it was asked for never ran there (superseded); no
//     attempt goes to a leaf that is known to be gone.
//  4. Hedges and retries stay within their token buckets, also while these change.
//  5. Every attempt ends once: when a query is answered, nothing of it but probes is under way, and what the policies count as under
//     way at a leaf is what is.
//  6. An unanswered query has a wake ahead, not after its search's end: it cannot hang.
//  7. Time moves on: nobody wakes for ever at one instant.
//  8. When all is over, nothing is left: no query, no attempt, no work on a leaf.
//  9. Where queries are admitted: as many are in flight as were let in and have not ended; of interactive ones no more than the
//     limit, of batch no more than its most, when the latest was let in; and nobody is let in after the time at which it gives up.
// 10. Whoever is turned away hears of it by its deadline. A canary goes to no leaf that is known to be gone.
// 11. An answer waits for what is optional for the grace at most, and never beyond its deadline.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "lab/simulation/report.hpp"
#include "root/policy/cluster/admission.hpp"
#include "root/policy/cluster/canary_leaves.hpp"
#include "root/policy/cluster/search_policies.hpp"
#include "root/policy/query/fanout.hpp"

namespace hedgerow::lab::simulation {

class Invariants {
 public:
  // The policies of each root; their number of leaves. They outlive this.
  Invariants(std::vector<const policy::SearchPolicies*> policies, std::size_t leaves, const policy::SearchPolicySettings& settings,
             Report& report);

  using Query = std::uint32_t;  // a number that is used again
  void on_query(Query query, std::uint32_t root, const policy::Fanout& fanout, Instant search_end);
  void on_sent(Query query, const policy::SendAttempt& sent, std::uint32_t index, Instant now);
  // What became of an attempt was told (told again, or after it was cancelled, it changes nothing).
  void on_told(Query query, AttemptId attempt, bool never_ran);
  void on_cancelled(Query query, AttemptId attempt);
  void on_merged(Query query, AttemptId attempt, Instant now);
  void on_wake_wished(Query query, Instant at) { books_[query].wake = at; }
  // Answered before the query began, by its canary.
  void on_adopted(Query query, std::uint32_t index);
  // What its canaries have under way counts at the leaves as well.
  void on_canaries(std::uint32_t root, const policy::CanaryLeaves& leaves) { roots_[root].canaries = &leaves; }
  void on_canary_sent(LeafId leaf, Instant now);
  void on_admission(std::uint32_t root, const policy::Admission& admission) { roots_[root].admission = &admission; }
  void on_let_in(std::uint32_t root, ServiceClass service_class, Instant give_up, Instant now);
  void on_left(std::uint32_t root, ServiceClass service_class) { --roots_[root].let_in[static_cast<std::size_t>(service_class)]; }
  // Refused, or stopped by its canary.
  void on_turned_away(Instant deadline, Instant now);
  void on_answered(Query query, policy::FinishReason reason, bool abandoned, Instant now);
  // Its answer is sent, with what was waited for beside the hits.
  void on_concluded(Query query, Instant now);
  void on_dropped(Query query, Instant now);
  void on_leaf(LeafId leaf, bool up) { up_[leaf.value] = up; }
  void on_budget(std::uint32_t root, double fill, double depth);

  // False: there is no going on.
  [[nodiscard]] bool after_event(Instant now);
  // records, work: attempts and pieces of work that somebody still holds.
  void at_end(std::size_t queries, std::size_t records, std::size_t work, Instant now);

 private:
  static constexpr std::uint64_t most_events_at_once = 10'000'000;
  struct Bucket {
    double fill, depth, tokens;
    void put();
    bool take();
  };
  struct Root {
    const policy::SearchPolicies* policies;
    Bucket hedges, retries;
    std::vector<std::uint32_t> in_flight;  // by leaf
    const policy::CanaryLeaves* canaries = nullptr;
    const policy::Admission* admission = nullptr;
    std::array<std::size_t, 2> let_in{};  // by class, and not ended yet
    std::uint32_t under_way(LeafId leaf) const { return in_flight[leaf.value] + (canaries ? canaries->running(leaf) : 0); }
  };
  enum class State : std::uint8_t { unsent, under_way, over };
  struct Sent {
    std::uint32_t index = 0;
    LeafId leaf;
    AttemptKind kind = AttemptKind::primary;
    State state = State::unsent;
  };
  struct Books {
    bool open = false, answered = false;
    std::uint32_t root = 0;
    const policy::Fanout* fanout = nullptr;
    Instant search_end, wake, answered_at;
    std::vector<std::uint64_t> asked;  // by partition: its replicas that were asked
    std::vector<std::uint8_t> merged;
    std::size_t merges = 0;
    std::vector<Sent> attempts;
    std::vector<policy::Twin> planned;  // second copies of tied pairs, decided on with the first
    std::size_t under_way = 0, probes = 0;
  };

  void end(Books& books, Sent& sent);
  // Second copies that are still to be sent; they are promised to their leaf.
  std::uint32_t planned_for(std::uint32_t root, LeafId leaf) const;
  std::uint64_t replica_bit(const Books& books, std::uint32_t index, LeafId leaf) const;
  void check_admission(const Root& root, Instant now);
  void violate(const std::string& what, Instant now);

  std::vector<Root> roots_;
  std::vector<Books> books_;
  std::vector<bool> up_;
  std::vector<Query> touched_queries_;
  std::vector<std::pair<std::uint32_t, LeafId>> touched_leaves_;
  Instant latest_event_{};
  std::uint64_t events_at_once_ = 0;
  Report& report_;
};

}  // namespace hedgerow::lab::simulation
