// A recording replays with the same actions, and one that was changed does not.

#include <doctest/doctest.h>

#include <deque>

#include "policy_fixture.hpp"
#include "root/policy/replay.hpp"
#include "root/policy/search_recorder.hpp"

namespace hedgerow::policy {

namespace {

// Random events, in no sensible order: whatever policies are told, a replay must tell them the same.
std::vector<std::string> random_recording(std::uint64_t seed) {
  std::vector<std::string> lines;
  Random random(seed);
  SearchPolicySettings settings;
  settings.replica_choice.mode = static_cast<ReplicaChoiceSettings::Mode>(random.below(3));
  settings.replica_choice.stale_after = 20ms;
  settings.replica_choice.probe_share = 0.1 / 3;  // no round number
  settings.hedge.budget_depth = 7;
  SearchPolicies policies(settings, seed);
  SearchRecorder recorder([&](std::string_view line) { lines.emplace_back(line); }, settings, seed);
  policies.record_to(&recorder);

  Instant now = at(0ms);
  std::deque<std::unique_ptr<Fanout>> queries;
  for (std::uint32_t i = 0; i < 6; ++i) policies.on_leaf_up(leaf(i));
  for (int event = 0; event < 400; ++event) {
    now += from_milliseconds(random.uniform() * 3);
    const LeafId any{static_cast<std::uint32_t>(random.below(6))};
    if (random.chance(0.02)) policies.on_leaf_down(any);
    if (random.chance(0.04)) policies.on_leaf_up(any);
    if (random.chance(0.02)) policies.set_hedge_budget(random.uniform(), 1 + random.uniform() * 9, now);
    if (random.chance(0.05)) {  // a canary
      const std::vector<LeafId> leaves{leaf(0), leaf(3), leaf(5)};
      policies.healthy(now);
      if (const auto chosen = policies.choose(leaves, {})) {
        policies.on_sent(*chosen, AttemptKind::canary, now);
        switch (random.below(4)) {
          case 0: policies.on_answered(*chosen, AttemptKind::canary, {5ms, 5ms}, {.queued = 3}, now); break;
          case 1: policies.on_given_up(*chosen, AttemptKind::canary, 7ms, now); break;
          case 2: policies.on_failed(*chosen, AttemptKind::canary, AttemptFailure::expired, 7ms, now); break;
          default: policies.on_ended(*chosen);
        }
      }
    }
    if (queries.size() < 4 && random.chance(0.2)) {
      std::vector<Fanout::Partition> partitions;
      for (std::uint32_t i = 0; i < 5; ++i) {
        partitions.push_back({PartitionId{i}, {leaf(i), leaf((i + 1) % 6), leaf((i + 3) % 6)}, 1 + random.below(9)});
      }
      Fanout::Settings wanted;
      wanted.search_end = now + 60ms;
      if (random.chance(0.5)) wanted.early_fetch = now + 40ms;
      if (random.chance(0.7)) wanted.hedge = hedge_after(from_milliseconds(random.uniform() * 10));
      wanted.tied = random.chance(0.4);
      if (random.chance(0.4)) wanted.good_enough = {random.uniform(), 1ms};
      queries.push_back(std::make_unique<Fanout>(std::move(partitions), wanted, policies));
      if (random.chance(0.2)) queries.back()->adopt(2, leaf(1));
      queries.back()->start(now);
    }
    if (queries.empty()) continue;
    Fanout& query = *queries[random.below(queries.size())];
    const AttemptId attempt{static_cast<std::uint32_t>(query.attempts() == 0 ? 0 : random.below(query.attempts()))};
    const bool sent = query.attempts() > 0 && !query.attempt(attempt).planned;
    switch (random.below(sent ? 8 : 1)) {
      case 0: query.on_wake(now); break;
      case 1: query.on_failure(attempt, static_cast<AttemptFailure>(random.below(5)), now); break;
      case 2: query.on_started(attempt, now); break;
      case 3:
        if (random.chance(0.2)) query.abandon(now);
        break;
      default: query.on_answer(attempt, {.queue_time = 1ms, .service_time = 2ms, .queued = 1, .running = 2}, now);
    }
    if (random.chance(0.05)) queries.pop_front();
  }
  queries.clear();
  return lines;
}

Replay replayed(const std::vector<std::string>& lines) {
  Replay replay;
  for (const auto& line : lines) {
    CAPTURE(line);
    REQUIRE(replay.feed(line).has_value());
  }
  return replay;
}

}  // namespace

TEST_CASE("a recording replays with the same actions, whatever happened") {
  std::uint64_t decisions = 0, attempts = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    const Replay replay = replayed(random_recording(seed));
    for (const auto& difference : replay.differences()) {
      CAPTURE(difference.line);
      CAPTURE(difference.event);
      REQUIRE(difference.recorded == difference.replayed);
    }
    REQUIRE(replay.differing() == 0);
    decisions += replay.decisions();
    attempts += replay.attempts();
  }
  CHECK(decisions > 50'000);
  CHECK(attempts > 20'000);
}

TEST_CASE("a recording that was tampered with says where the first decision differs") {
  auto lines = random_recording(1);
  std::size_t changed = 0;
  for (std::size_t i = 0; i < lines.size() && changed == 0; ++i) {
    const auto place = lines[i].find(":primary");
    if (!lines[i].starts_with("start ") || place == std::string::npos) continue;
    lines[i].replace(place, 8, ":retry");
    changed = i + 1;
  }
  REQUIRE(changed > 0);
  const Replay replay = replayed(lines);
  REQUIRE(replay.differing() == 1);
  CHECK(replay.differences().front().line == changed);
  CHECK(replay.differences().front().recorded.find(":retry") != std::string::npos);
  CHECK(replay.differences().front().replayed.find(":primary") != std::string::npos);
}

TEST_CASE("another seed, or an event left out, is found out") {
  auto lines = random_recording(2);
  const auto seed = lines[1].find("seed=2 ");
  REQUIRE(seed != std::string::npos);
  auto other_seed = lines;
  other_seed[1].replace(seed, 7, "seed=3 ");
  CHECK(replayed(other_seed).differing() > 0);

  auto left_out = lines;
  std::erase_if(left_out, [](const std::string& line) { return line == "up 0"; });
  CHECK(replayed(left_out).differing() > 0);
}

TEST_CASE("what is no recording is named with its line, and none is trusted") {
  const auto lines = random_recording(3);
  struct Row {
    std::size_t line;
    std::string text;
  };
  for (const Row& row : {Row{0, "hedgerow-recording 2"}, Row{1, "settings seed=1"}, Row{1, "setting"}, Row{2, "up"},
                         Row{2, "up x"}, Row{2, "up -1"}, Row{2, ""}, Row{2, "frobnicate 1"}, Row{2, "wake 77 5 >"},
                         Row{2, "new 9 1 - 0 0.5 1 0 1 1 3:4"}, Row{2, "new 9 1 - 0 0.5 1 0 1 1 3:4:1,"},
                         Row{2, "answer 0"}, Row{2, "failed 1 canary tired 5 5"}}) {
    CAPTURE(row.text);
    Replay replay;
    for (std::size_t i = 0; i < row.line; ++i) REQUIRE(replay.feed(lines[i]).has_value());
    const auto fed = replay.feed(row.text);
    REQUIRE(fed.has_error());
    CHECK(fed.error().code == Errc::corrupt);
    CHECK(fed.error().context.find("line " + std::to_string(row.line + 1)) != std::string::npos);
  }
}

}  // namespace hedgerow::policy
