#include "lab/simulation/invariants.hpp"

#include <algorithm>

#include "root/policy/query/subsystems.hpp"

namespace hedgerow::lab::simulation {

namespace {

constexpr std::size_t violations_told = 10;
constexpr double rounding = 1e-6;  // of a sum of many shares of a token

std::string number(std::uint64_t value) { return std::to_string(value); }

}  // namespace

Invariants::Invariants(std::vector<const policy::SearchPolicies*> policies, std::size_t leaves,
                       const policy::SearchPolicySettings& settings, Report& report)
    : up_(leaves, true), report_(report) {
  const Bucket hedges{settings.hedge.budget_fill, settings.hedge.budget_depth, settings.hedge.budget_depth};
  const Bucket retries{settings.retry_fill, settings.retry_depth, settings.retry_depth};
  for (const auto* of : policies) roots_.push_back({of, hedges, retries, std::vector<std::uint32_t>(leaves), nullptr, nullptr, {}});
}

void Invariants::Bucket::put() { tokens = std::min(depth, tokens + fill); }

bool Invariants::Bucket::take() {
  tokens -= 1;
  return tokens >= -rounding;
}

std::uint64_t Invariants::replica_bit(const Books& books, std::uint32_t index, LeafId leaf) const {
  const auto& replicas = books.fanout->partitions()[index].replicas;
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    if (replicas[i] == leaf) return std::uint64_t{1} << (i & 63);
  }
  return 0;
}

void Invariants::on_query(Query query, std::uint32_t root, const policy::Fanout& fanout, Instant search_end) {
  if (books_.size() <= query) books_.resize(query + 1);
  Books& books = books_[query];
  books.open = true;
  books.answered = false;
  books.root = root;
  books.fanout = &fanout;
  books.search_end = search_end;
  books.wake = Instant::max();
  books.asked.assign(fanout.partitions().size(), 0);
  books.merged.assign(fanout.partitions().size(), 0);
  books.merges = 0;
  books.attempts.clear();
  books.planned.clear();
  books.under_way = books.probes = 0;
  touched_queries_.push_back(query);
}

void Invariants::on_sent(Query query, const policy::SendAttempt& sent, std::uint32_t index, Instant now) {
  Books& books = books_[query];
  Root& root = roots_[books.root];
  if (books.answered) violate("an attempt was sent for an answered query", now);
  if (now >= books.search_end) violate("an attempt was sent at the search's end or after it", now);
  if (!up_[sent.leaf.value]) violate("an attempt was sent to leaf " + number(sent.leaf.value) + ", which is gone", now);

  const std::uint64_t bit = replica_bit(books, index, sent.leaf);
  if (bit == 0) violate("leaf " + number(sent.leaf.value) + " does not hold what it was asked for", now);
  if ((books.asked[index] & bit) != 0) violate("leaf " + number(sent.leaf.value) + " was asked twice for one partition", now);
  const bool first = books.asked[index] == 0;
  books.asked[index] |= bit;
  if (first && (sent.kind == AttemptKind::primary || sent.kind == AttemptKind::tied)) {
    root.hedges.put();
    root.retries.put();
  }
  if (sent.kind == AttemptKind::hedge && !root.hedges.take()) violate("a hedge beyond the budget", now);
  if (sent.kind == AttemptKind::retry && !root.retries.take()) violate("a retry beyond the budget", now);

  if (books.attempts.size() <= sent.attempt.value) books.attempts.resize(sent.attempt.value + 1);
  Sent& attempt = books.attempts[sent.attempt.value];
  if (attempt.state != State::unsent) violate("an attempt was sent twice", now);
  attempt = {index, sent.leaf, sent.kind, State::under_way};
  if (sent.twin && books.fanout->attempt(sent.twin->attempt).planned) books.planned.push_back(*sent.twin);
  ++books.under_way;
  if (sent.kind == AttemptKind::probe) ++books.probes;
  ++root.in_flight[sent.leaf.value];
  touched_leaves_.emplace_back(books.root, sent.leaf);
}

void Invariants::end(Books& books, Sent& sent) {
  if (sent.state != State::under_way) return;
  sent.state = State::over;
  --books.under_way;
  if (sent.kind == AttemptKind::probe) --books.probes;
  --roots_[books.root].in_flight[sent.leaf.value];
  touched_leaves_.emplace_back(books.root, sent.leaf);
}

void Invariants::on_told(Query query, AttemptId attempt, bool never_ran) {
  Books& books = books_[query];
  Sent& sent = books.attempts[attempt.value];
  end(books, sent);
  if (never_ran) books.asked[sent.index] &= ~replica_bit(books, sent.index, sent.leaf);
  touched_queries_.push_back(query);
}

void Invariants::on_cancelled(Query query, AttemptId attempt) {
  Books& books = books_[query];
  end(books, books.attempts[attempt.value]);
}

void Invariants::on_merged(Query query, AttemptId attempt, Instant now) {
  Books& books = books_[query];
  if (books.answered) violate("an answer was merged into an answered query", now);
  if (books.attempts.size() <= attempt.value || books.attempts[attempt.value].state == State::unsent) {
    return violate("an answer was merged that nobody was asked for", now);
  }
  const std::uint32_t index = books.attempts[attempt.value].index;
  if (books.merged[index]) return violate("a partition was merged twice", now);
  books.merged[index] = 1;
  ++books.merges;
  if (books.fanout->answered_by(index) != books.attempts[attempt.value].leaf) {
    violate("a partition's answer is credited to another leaf", now);
  }
}

void Invariants::on_adopted(Query query, std::uint32_t index) {
  Books& books = books_[query];
  books.merged[index] = 1;
  ++books.merges;
}

void Invariants::on_canary_sent(LeafId leaf, Instant now) {
  if (!up_[leaf.value]) violate("a canary was sent to leaf " + number(leaf.value) + ", which is gone", now);
}

void Invariants::on_let_in(std::uint32_t root, ServiceClass service_class, Instant give_up, Instant now) {
  Root& of = roots_[root];
  const std::size_t let_in = ++of.let_in[static_cast<std::size_t>(service_class)];
  const bool batch = service_class == ServiceClass::batch;
  const std::size_t most = batch ? of.admission->settings().most_batch : of.admission->limit();
  if (let_in > most) violate("a query was let in beyond the limit of " + number(most), now);
  if (now > give_up) violate("a query was let in after it should have given up", now);
}

void Invariants::on_turned_away(Instant deadline, Instant now) {
  if (now > deadline) violate("a query was turned away after its deadline", now);
}

void Invariants::check_admission(const Root& root, Instant now) {
  if (!root.admission) return;
  for (const auto service_class : {ServiceClass::interactive, ServiceClass::batch}) {
    const std::size_t counted = root.admission->in_flight(service_class), there = root.let_in[static_cast<std::size_t>(service_class)];
    if (counted != there) violate("admission counts " + number(counted) + " queries in flight, and there are " + number(there), now);
  }
}

void Invariants::on_concluded(Query query, Instant now) {
  const Books& books = books_[query];
  if (!books.answered) violate("an answer was sent before its search had ended", now);
  if (now > books.search_end) violate("an answer waited beyond its deadline for what is optional", now);
  if (now > books.answered_at + policy::Subsystems::default_grace) violate("an answer waited too long for what is optional", now);
}

void Invariants::on_answered(Query query, policy::FinishReason reason, bool abandoned, Instant now) {
  Books& books = books_[query];
  if (books.answered) return violate("a query was answered twice", now);
  books.answered = true;
  books.answered_at = now;
  if (now > books.search_end) violate("a query was answered after its search's end", now);
  if (reason == policy::FinishReason::deadline && now < books.search_end) violate("a deadline that had not come", now);
  const bool complete = books.merges == books.merged.size();
  if (!abandoned && complete != (reason == policy::FinishReason::complete)) {
    violate("an answer's completeness is not what was merged", now);
  }
  for (std::size_t i = 0; i < books.merged.size(); ++i) {
    const bool answered = books.fanout->state_of(i) == policy::PartitionState::answered;
    if (answered != (books.merged[i] != 0)) violate("a partition's state is not what was merged", now);
  }
  touched_queries_.push_back(query);
}

void Invariants::on_dropped(Query query, Instant now) {
  Books& books = books_[query];
  // Probes may outlast a query's answer; they end with the query. Nothing else may.
  if (books.under_way > books.probes) violate("a query ends with attempts under way", now);
  for (Sent& sent : books.attempts) {
    if (sent.state == State::under_way) end(books, sent);
  }
  books.open = false;
  books.fanout = nullptr;
}

void Invariants::on_budget(std::uint32_t root, double fill, double depth) {
  Bucket& bucket = roots_[root].hedges;
  bucket.fill = fill;
  bucket.depth = depth;
  bucket.tokens = std::min(bucket.tokens, depth);
}

bool Invariants::after_event(Instant now) {
  for (const Query query : touched_queries_) {
    const Books& books = books_[query];
    if (!books.open) continue;
    if (books.answered) {
      if (books.under_way > books.probes) violate("attempts are under way for an answered query", now);
    } else if (books.wake > books.search_end || books.wake < now) {
      violate("an unanswered query has no wake ahead", now);
    }
  }
  touched_queries_.clear();
  for (const auto& [root, leaf] : touched_leaves_) {
    const std::uint32_t counted = roots_[root].policies->replica_choice.in_flight(leaf);
    const std::uint32_t there = roots_[root].under_way(leaf);
    if (counted != there && counted != there + planned_for(root, leaf)) {
      violate("the policies count " + number(counted) + " attempts under way at leaf " + number(leaf.value) + ", and there are " +
                  number(there), now);
    }
  }
  touched_leaves_.clear();
  for (const Root& root : roots_) check_admission(root, now);

  events_at_once_ = now == latest_event_ ? events_at_once_ + 1 : 1;
  latest_event_ = now;
  if (events_at_once_ <= most_events_at_once) return true;
  violate("time stands still", now);
  return false;
}

void Invariants::at_end(std::size_t queries, std::size_t records, std::size_t work, Instant now) {
  if (queries > 0) violate(number(queries) + " queries are left when all is over", now);
  if (records > 0) violate(number(records) + " attempts are left when all is over", now);
  if (work > 0) violate(number(work) + " pieces of work are left on leaves when all is over", now);
  for (const Root& root : roots_) {
    for (std::size_t leaf = 0; leaf < root.in_flight.size(); ++leaf) {
      const auto counted = root.policies->replica_choice.in_flight(LeafId{static_cast<std::uint32_t>(leaf)});
      if (counted != 0) violate("the policies count " + number(counted) + " attempts under way when all is over", now);
    }
    if (root.let_in != std::array<std::size_t, 2>{}) violate("queries that were let in have not left when all is over", now);
  }
}

std::uint32_t Invariants::planned_for(std::uint32_t root, LeafId leaf) const {
  std::uint32_t planned = 0;
  for (const Books& books : books_) {
    if (!books.open || books.root != root) continue;
    for (const policy::Twin& twin : books.planned) planned += twin.leaf == leaf && books.fanout->attempt(twin.attempt).planned;
  }
  return planned;
}

void Invariants::violate(const std::string& what, Instant now) {
  ++report_.violated;
  if (report_.violations.size() >= violations_told) return;
  report_.violations.push_back("at " + std::to_string(to_seconds(now - Instant{})) + " s: " + what);
}

}  // namespace hedgerow::lab::simulation
