// One trial as a timeline: what a leaf that answers, dies, hangs, refuses or is late says of a query.
#include <doctest/doctest.h>

#include <set>

#include "policy_fixture.hpp"
#include "root/policy/query/canary.hpp"

namespace hedgerow::policy {

namespace {

// Every leaf holds every partition; a search of 100 ms, a hang after 2 s of silence.
struct TrialFixture : PolicyFixture {
  explicit TrialFixture(std::uint32_t leaf_count = 8, std::uint32_t suspicions = 0, Instant end = at(100ms)) : PolicyFixture(leaf_count) {
    std::vector<LeafId> all;
    for (std::uint32_t i = 0; i < leaf_count; ++i) all.push_back(leaf(i));
    std::vector<Canary::Partition> partitions;
    for (std::uint32_t i = 0; i < 4; ++i) partitions.push_back({PartitionId{i}, all});
    for (const LeafId each : all) leaves.on_leaf_up(each);
    trial.emplace(partitions, end, suspicions, CanarySettings{}, policies, leaves, Random(1));
  }

  // The leaf that the one attempt of a batch is sent to.
  LeafId sent_to(const Actions& actions) {
    const auto sends = all_of<SendAttempt>(actions);
    REQUIRE(sends.size() == 1);
    CHECK(sends[0].kind == AttemptKind::canary);
    return sends[0].leaf;
  }
  void dies(LeafId which) { lost(which, LeafLoss::died, at(0ms)); }
  void lost(LeafId which, LeafLoss how, Instant now) {
    policies.on_leaf_down(which);
    leaves.on_leaf_lost(which, how, now);
  }

  CanaryLeaves leaves;
  std::optional<Canary> trial;
};

constexpr AttemptId first{0}, second{1};

}  // namespace

TEST_CASE("a canary that is answered makes its query safe, after one attempt on one leaf") {
  TrialFixture f;
  f.sent_to(f.trial->start(at(0ms)));
  CHECK_FALSE(f.trial->verdict());
  CHECK(described(f.trial->on_answer(first, {}, at(3ms))) == "");
  CHECK(f.trial->verdict() == CanaryVerdict::safe);
  CHECK(f.trial->answered() == first);
  CHECK_FALSE(f.trial->listens());
}

TEST_CASE("what a leaf survives is safe, whether or not it could run it") {
  for (const auto failure : {AttemptFailure::failed, AttemptFailure::bad_query}) {
    TrialFixture f;
    f.sent_to(f.trial->start(at(0ms)));
    f.trial->on_failure(first, failure, at(3ms));
    CHECK(f.trial->verdict() == CanaryVerdict::safe);
    CHECK_FALSE(f.trial->answered());
  }
}

TEST_CASE("when the canary's leaf dies, a second one alone on another leaf decides") {
  for (const bool dies_too : {false, true}) {
    CAPTURE(dies_too);
    TrialFixture f;
    const LeafId one = f.sent_to(f.trial->start(at(0ms)));
    f.dies(one);
    CHECK(described(f.trial->on_failure(first, AttemptFailure::unreachable, at(2ms))) == "wake 22ms");
    const LeafId other = f.sent_to(f.trial->on_wake(at(22ms)));
    CHECK(other != one);
    CHECK_FALSE(f.leaves.open(other));
    CHECK(f.trial->attempt(second).end == at(122ms));  // as much time as the first one had
    CHECK(f.trial->suspicions() == 1);
    if (dies_too) {
      f.dies(other);
      CHECK(all_of<SendAttempt>(f.trial->on_failure(second, AttemptFailure::unreachable, at(24ms))).empty());
      CHECK(all_of<SendAttempt>(f.trial->on_wake(at(44ms))).empty());
      CHECK(f.trial->verdict() == CanaryVerdict::guilty);
      CHECK(f.trial->reason() == QuarantineReason::crash);
      CHECK(f.trial->suspected_leaves() == std::vector{one, other});
    } else {
      f.trial->on_answer(second, {}, at(24ms));
      CHECK(f.trial->verdict() == CanaryVerdict::safe);
    }
    CHECK(f.leaves.open(other));
    CHECK(f.leaves.running(one) + f.leaves.running(other) == 0);
  }
}

TEST_CASE("a suspicion from before is convicted by one leaf, and tried on one that no other canary is on") {
  TrialFixture f(2, 1);
  f.leaves.on_sent(leaf(0));
  CHECK(f.sent_to(f.trial->start(at(0ms))) == leaf(1));
  f.dies(leaf(1));
  f.trial->on_failure(first, AttemptFailure::unreachable, at(1ms));
  f.trial->on_wake(at(21ms));
  CHECK(f.trial->verdict() == CanaryVerdict::guilty);
}

TEST_CASE("a suspect waits for a leaf of its own, and nobody else's canary goes there meanwhile") {
  TrialFixture f(2, 1);
  for (int i = 0; i < 2; ++i) f.leaves.on_sent(leaf(0));
  f.leaves.on_sent(leaf(1));
  CHECK(described(f.trial->start(at(0ms))) == "wake 20ms");
  CHECK(f.trial->waits_for_leaf());
  CHECK_FALSE(f.leaves.open(leaf(1)));
  CHECK(f.leaves.open(leaf(0)));
  CHECK(all_of<SendAttempt>(f.trial->on_wake(at(20ms))).empty());
  f.leaves.on_ended(leaf(1));
  CHECK(f.sent_to(f.trial->on_wake(at(25ms))) == leaf(1));
  f.trial->on_answer(first, {}, at(30ms));
  CHECK(f.trial->verdict() == CanaryVerdict::safe);
  CHECK(f.leaves.open(leaf(1)));
}

TEST_CASE("a canary that is only late is joined by a second one, and the first answer counts") {
  for (const AttemptId answers : {first, second}) {
    TrialFixture f;
    const auto begun = f.trial->start(at(0ms));
    CHECK(all_of<WakeAt>(begun).back().at == at(50ms));  // nothing is known of latencies: half of the time
    const LeafId one = f.sent_to(begun);
    CHECK(f.sent_to(f.trial->on_wake(at(50ms))) != one);
    CHECK(f.trial->attempt(second).end == at(100ms));
    const auto ended = f.trial->on_answer(answers, {}, at(60ms));
    CHECK(f.trial->verdict() == CanaryVerdict::safe);
    CHECK(f.trial->answered() == answers);
    REQUIRE(all_of<CancelAttempt>(ended).size() == 1);
    CHECK(all_of<CancelAttempt>(ended)[0].attempt.value == 1 - answers.value);
    CHECK_FALSE(f.trial->listens());
  }
}

TEST_CASE("two leaves that die of a late query and its second canary are all that die") {
  TrialFixture f;
  const LeafId one = f.sent_to(f.trial->start(at(0ms)));
  const LeafId other = f.sent_to(f.trial->on_wake(at(50ms)));
  f.dies(one);
  CHECK(all_of<SendAttempt>(f.trial->on_failure(first, AttemptFailure::unreachable, at(60ms))).empty());
  CHECK_FALSE(f.trial->verdict());
  f.dies(other);
  f.trial->on_failure(second, AttemptFailure::unreachable, at(70ms));
  CHECK(all_of<SendAttempt>(f.trial->on_wake(at(90ms))).empty());
  CHECK(f.trial->verdict() == CanaryVerdict::guilty);
}

TEST_CASE("lateness and refusals decide nothing, and say so") {
  {
    TrialFixture f;
    f.sent_to(f.trial->start(at(0ms)));
    f.trial->on_failure(first, AttemptFailure::expired, at(40ms));
    CHECK(f.trial->verdict() == CanaryVerdict::late);
  }
  {
    TrialFixture f;
    std::vector<LeafId> asked{f.sent_to(f.trial->start(at(0ms)))};
    for (std::uint32_t i = 0; i < 2; ++i) {
      asked.push_back(f.sent_to(f.trial->on_failure(AttemptId{i}, AttemptFailure::refused, at(1ms * (i + 1)))));
    }
    CHECK(std::set<LeafId>(asked.begin(), asked.end()).size() == 3);
    f.trial->on_failure(AttemptId{2}, AttemptFailure::refused, at(5ms));
    CHECK(f.trial->verdict() == CanaryVerdict::refused);
  }
  {
    TrialFixture f(1);
    f.dies(leaf(0));
    f.trial->start(at(0ms));
    CHECK(f.trial->verdict() == CanaryVerdict::no_leaf);
  }
  {
    TrialFixture f(1);  // the only leaf dies: nobody is left to decide, and the suspicion stays
    f.sent_to(f.trial->start(at(0ms)));
    f.dies(leaf(0));
    f.trial->on_failure(first, AttemptFailure::unreachable, at(1ms));
    f.trial->on_wake(at(21ms));
    CHECK(f.trial->verdict() == CanaryVerdict::no_leaf);
    CHECK(f.trial->suspicions() == 1);
  }
}

TEST_CASE("silence beyond its time is a hang on two leaves, and none while it might be lateness") {
  TrialFixture f;
  f.sent_to(f.trial->start(at(0ms)));
  f.sent_to(f.trial->on_wake(at(50ms)));
  f.trial->on_wake(at(100ms));
  CHECK_FALSE(f.trial->verdict());
  f.trial->on_wake(at(2099ms));
  CHECK_FALSE(f.trial->verdict());
  CHECK(f.trial->suspicions() == 0);
  f.trial->on_wake(at(2100ms));
  CHECK(f.trial->verdict() == CanaryVerdict::guilty);
  CHECK(f.trial->reason() == QuarantineReason::hang);
  CHECK(f.trial->listens());

  // What was answered after all was no hang; whatever is answered, even that its time was over.
  f.trial->on_answer(first, {}, at(3s));
  CHECK(f.trial->suspicions() == 1);
  f.trial->on_failure(second, AttemptFailure::expired, at(4s));
  CHECK(f.trial->suspicions() == 0);
  CHECK_FALSE(f.trial->listens());
}

TEST_CASE("one leaf that hangs is joined by another one that decides, with time of its own") {
  TrialFixture f(1);  // at first there is one leaf only
  f.sent_to(f.trial->start(at(0ms)));
  f.trial->on_wake(at(50ms));
  f.trial->on_wake(at(100ms));
  f.trial->on_wake(at(2100ms));
  CHECK(f.trial->verdict() == CanaryVerdict::no_leaf);
  CHECK(f.trial->suspicions() == 1);

  TrialFixture g;
  g.sent_to(g.trial->start(at(0ms)));
  const auto late = all_of<SendAttempt>(g.trial->on_wake(at(50ms)));
  g.dies(late[0].leaf);
  g.trial->on_failure(second, AttemptFailure::unreachable, at(60ms));
  g.trial->on_wake(at(100ms));
  g.trial->on_wake(at(2100ms));  // one died and one hangs
  CHECK(g.trial->verdict() == CanaryVerdict::guilty);
  CHECK(g.trial->reason() == QuarantineReason::crash);
}

TEST_CASE("when others are silent as well and nobody is answered, the cluster hangs and not the query") {
  for (const bool others_are_answered : {false, true}) {
    CAPTURE(others_are_answered);
    TrialFixture f;
    f.sent_to(f.trial->start(at(0ms)));
    f.sent_to(f.trial->on_wake(at(50ms)));
    f.trial->on_wake(at(100ms));
    f.leaves.on_overdue();  // another trial's
    if (others_are_answered) f.leaves.on_answered(at(1s));
    f.trial->on_wake(at(2100ms));
    CHECK(f.trial->verdict() == (others_are_answered ? CanaryVerdict::guilty : CanaryVerdict::late));
    CHECK(f.trial->suspicions() == (others_are_answered ? 2 : 0));
  }
}

TEST_CASE("a root that was held up itself waits once more before it calls silence a hang") {
  TrialFixture f;
  f.sent_to(f.trial->start(at(0ms)));
  f.sent_to(f.trial->on_wake(at(50ms)));
  const auto woken = f.trial->on_wake(at(5s));  // wanted at 100 ms
  CHECK_FALSE(f.trial->verdict());
  CHECK(all_of<WakeAt>(woken).back().at == at(7s));
  f.trial->on_answer(second, {}, at(5001ms));
  CHECK(f.trial->verdict() == CanaryVerdict::safe);
}

TEST_CASE("leaves that die together with most of the others say nothing of a query") {
  TrialFixture f(4);
  const LeafId one = f.sent_to(f.trial->start(at(0ms)));
  const LeafId other = f.sent_to(f.trial->on_wake(at(50ms)));
  for (std::uint32_t i = 0; i < 4; ++i) f.lost(leaf(i), LeafLoss::died, at(60ms));
  f.trial->on_failure(first, AttemptFailure::unreachable, at(60ms));
  f.trial->on_failure(second, AttemptFailure::unreachable, at(60ms));
  CHECK_FALSE(f.trial->verdict());
  f.trial->on_wake(at(80ms));
  CHECK(f.trial->verdict() == CanaryVerdict::no_leaf);
  CHECK(f.trial->suspicions() == 0);
  CHECK(f.trial->suspected_leaves().empty());
  CHECK(one != other);
}

TEST_CASE("links that are found closed by a root that was held up say nothing if their leaves are up again soon") {
  for (const bool up_again : {true, false}) {
    CAPTURE(up_again);
    TrialFixture f(8, 0, at(20s));
    f.leaves.on_beat(at(0ms));
    const LeafId one = f.sent_to(f.trial->start(at(0ms)));
    f.leaves.on_beat(at(100ms));
    f.lost(one, LeafLoss::died, at(2100ms));  // before the beat that is due as well
    f.leaves.on_beat(at(2100ms));
    CHECK(all_of<SendAttempt>(f.trial->on_failure(first, AttemptFailure::unreachable, at(2100ms))).empty());
    if (up_again) f.leaves.on_leaf_up(one);
    CHECK(f.sent_to(f.trial->on_wake(at(2600ms))) != one);
    CHECK(f.trial->suspicions() == (up_again ? 0 : 1));
  }
}

TEST_CASE("leaves that fall silent together say nothing of a query, in whatever order that is noticed") {
  for (const bool both_asked : {true, false}) {
    CAPTURE(both_asked);
    TrialFixture f(8, 0, at(20s));
    const LeafId one = f.sent_to(f.trial->start(at(0ms)));
    const LeafId other = both_asked ? f.sent_to(f.trial->on_wake(at(10s))) : leaf(one.value == 0 ? 1 : 0);
    f.lost(one, LeafLoss::silent, at(11s));
    f.trial->on_failure(first, AttemptFailure::unreachable, at(11s));
    CHECK(f.trial->suspicions() == 1);
    f.lost(other, LeafLoss::silent, at(11400ms));
    if (both_asked) f.trial->on_failure(second, AttemptFailure::unreachable, at(11400ms));
    CHECK_FALSE(f.trial->verdict());
    const LeafId third = f.sent_to(f.trial->on_wake(at(12900ms)));
    CHECK(f.trial->suspicions() == 0);
    CHECK(third != one);
    CHECK(third != other);
    CHECK(f.leaves.open(third));  // not a suspect's
  }
}

TEST_CASE("a query under which one leaf falls silent, and later another one alone, makes leaves hang") {
  for (const bool a_third_one_too : {false, true}) {
    CAPTURE(a_third_one_too);
    TrialFixture f;
    const LeafId one = f.sent_to(f.trial->start(at(0ms)));
    f.lost(one, LeafLoss::silent, at(40ms));
    f.trial->on_failure(first, AttemptFailure::unreachable, at(40ms));
    CHECK(all_of<SendAttempt>(f.trial->on_wake(at(1500ms))).empty());
    const LeafId other = f.sent_to(f.trial->on_wake(at(1540ms)));
    CHECK_FALSE(f.leaves.open(other));
    f.lost(other, LeafLoss::silent, at(2600ms));
    f.trial->on_failure(second, AttemptFailure::unreachable, at(2600ms));
    CHECK_FALSE(f.trial->verdict());
    for (std::uint32_t i = 0; a_third_one_too && i < 3; ++i) f.lost(leaf(i), LeafLoss::silent, at(3s));
    f.trial->on_wake(at(4100ms));
    if (a_third_one_too) {
      CHECK_FALSE(f.trial->verdict());
      CHECK(f.trial->suspicions() == 1);
    } else {
      CHECK(f.trial->verdict() == CanaryVerdict::guilty);
      CHECK(f.trial->reason() == QuarantineReason::hang);
    }
    CHECK(f.trial->lasting_suspicions() == 0);
  }
}

TEST_CASE("a link that the root itself ended is as good as a refusal") {
  TrialFixture f;
  const LeafId one = f.sent_to(f.trial->start(at(0ms)));
  f.lost(one, LeafLoss::let_go, at(1ms));
  CHECK(f.sent_to(f.trial->on_failure(first, AttemptFailure::unreachable, at(1ms))) != one);
  CHECK(f.trial->suspicions() == 0);
}

TEST_CASE("a death under a canary explains the loss of that leaf to searches that were under way then, and to no later ones") {
  CanaryLeaves leaves;
  leaves.on_died(leaf(1), at(5s));
  CHECK(leaves.death_is_explained(leaf(1), at(4s)));
  CHECK_FALSE(leaves.death_is_explained(leaf(1), at(6s)));
  CHECK_FALSE(leaves.death_is_explained(leaf(2), at(4s)));
}

TEST_CASE("a trial that nobody waits for is cancelled, unless the query is suspected") {
  {
    TrialFixture f;
    f.sent_to(f.trial->start(at(0ms)));
    CHECK(described(f.trial->abandon(at(2ms))).starts_with("cancel 0"));
    CHECK_FALSE(f.trial->verdict());  // it may still crash
    CHECK(described(f.trial->abandon(at(3ms))) == "");
    f.trial->on_failure(first, AttemptFailure::failed, at(4ms));  // what a cancelled attempt says
    CHECK(f.trial->verdict() == CanaryVerdict::abandoned);
  }
  {
    TrialFixture f;
    f.dies(f.sent_to(f.trial->start(at(0ms))));
    f.trial->on_failure(first, AttemptFailure::unreachable, at(2ms));
    CHECK(described(f.trial->abandon(at(3ms))) == "");
    f.sent_to(f.trial->on_wake(at(22ms)));
    f.trial->on_answer(second, {}, at(24ms));
    CHECK(f.trial->verdict() == CanaryVerdict::safe);
  }
}

TEST_CASE("whatever becomes of a trial, the policies hear the end of each of its attempts") {
  SearchPolicies policies(PolicyFixture::settings(), 1);
  CanaryLeaves leaves;
  for (std::uint32_t i = 0; i < 4; ++i) policies.on_leaf_up(leaf(i));
  const std::vector<Canary::Partition> partitions{{PartitionId{0}, {leaf(0), leaf(1), leaf(2), leaf(3)}}};
  {
    Canary left(partitions, at(100ms), 0, {}, policies, leaves, Random(1));
    left.start(at(0ms));
    left.on_wake(at(50ms));
  }
  for (std::uint32_t i = 0; i < 4; ++i) {
    CHECK(policies.replica_choice.in_flight(leaf(i)) == 0);
    CHECK(leaves.running(leaf(i)) == 0);
  }
  CHECK(leaves.overdue() == 0);
}

}  // namespace hedgerow::policy
