#include "root/fanout_runner.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "base/steady_clock.hpp"

namespace hedgerow::root {

namespace asio = boost::asio;
using policy::AttemptFailure;

namespace {

std::vector<policy::Fanout::Partition> fanout_partitions(const Assignment& assignment, const Manifest& manifest) {
  std::vector<policy::Fanout::Partition> partitions;
  partitions.reserve(assignment.asked.size());
  for (const auto& asked : assignment.asked) {
    partitions.push_back({asked.partition, asked.replicas, manifest.partitions[asked.partition.value].documents});
  }
  return partitions;
}

policy::Fanout::Settings fanout_settings(const FanoutRunner::Query& query) {
  policy::Fanout::Settings settings;
  settings.search_end = query.search_end;
  settings.early_fetch = policy::early_fetch_instant(query.received, query.search_end, query.deadline - query.search_end);
  settings.hedge = query.hedge;
  settings.tied = query.tied;
  settings.good_enough = query.good_enough;
  return settings;
}

policy::AttemptReport report_of(const wire::PartitionAnswer& answer) {
  return {answer.queue_time, answer.service_time, answer.load.queued, answer.load.running};
}

}  // namespace

FanoutRunner::FanoutRunner(asio::any_io_executor executor, Cluster& cluster, Metrics& metrics, const Query& query,
                           const Assignment& assignment)
    : executor_(std::move(executor)),
      cluster_(cluster),
      metrics_(metrics),
      query_(query),
      fanout_(fanout_partitions(assignment, cluster.manifest()), fanout_settings(query), cluster.policies().search),
      second_phase_({}, query.deadline, query.deadline - query.search_end, cluster.policies().side_choice),
      merge_(query.most_hits),
      timer_(executor_),
      traces_(query.trace, query.received),
      search_calls_(cluster, metrics, traces_, {query.plan, query.most_hits, query.service_class, query.search_end, query.titles}, *this),
      fetch_calls_(cluster, traces_, {query.plan.generation, query.service_class, query.deadline}, *this) {}

FanoutRunner::~FanoutRunner() = default;

std::size_t FanoutRunner::index_of(PartitionId partition) const {
  const auto& asked = fanout_.partitions();
  const auto found = std::find_if(asked.begin(), asked.end(), [&](const auto& p) { return p.partition == partition; });
  return static_cast<std::size_t>(found - asked.begin());
}

void FanoutRunner::adopt(PartitionId partition, LeafId leaf, const wire::PartitionAnswer& answer) {
  const std::size_t index = index_of(partition);
  if (index == fanout_.partitions().size()) return;
  fanout_.adopt(index, leaf);
  merge_answer(answer, std::vector(answer.shown));
}

void FanoutRunner::begin() {
  begun_ = true;
  perform(fanout_.start(clock_now()), Phase::search);
}

asio::awaitable<void> FanoutRunner::search() {
  if (!begun_) begin();
  co_await wait();
}

policy::SecondPhase::Hit FanoutRunner::fetchable(const MergedHit& hit) const {
  const std::size_t index = index_of(hit.partition);
  return {fanout_.answered_by(index), fanout_.partitions()[index].replicas};
}

policy::SecondPhase::Hit FanoutRunner::take_in(const MergedHit& hit) {
  auto place = fetchable(hit);
  fetching_.push_back(hit);
  auto& document = fetched_.emplace_back();
  if (const auto came = shown_.find({hit.partition, hit.hit.document}); came != shown_.end()) {
    document = std::move(came->second);
    place.delivered = true;
  }
  (place.delivered ? metrics_.titles_with_hits : metrics_.titles_fetched).Increment();
  return place;
}

void FanoutRunner::fetch_early() {
  std::vector<policy::SecondPhase::Hit> wanted;
  for (std::size_t i = query_.offset; i < merge_.hits().size(); ++i) {
    wanted.push_back(take_in(merge_.hits()[i]));
  }
  perform(second_phase_.add(wanted, clock_now()), Phase::fetch);
  if (on_fetching_) on_fetching_(fetching_, wanted);
}

asio::awaitable<std::vector<std::optional<wire::FetchedDocument>>> FanoutRunner::fetch(const std::vector<MergedHit>& hits) {
  // What was fetched early keeps its place; what is no hit any more is dropped, what is new is added.
  const auto same = [](const MergedHit& hit) {
    return [&hit](const MergedHit& other) { return other.partition == hit.partition && other.hit.document == hit.hit.document; };
  };
  const std::size_t early = fetching_.size();
  for (std::size_t place = 0; place < early; ++place) {
    if (std::none_of(hits.begin(), hits.end(), same(fetching_[place]))) second_phase_.drop(place);
  }
  std::vector<std::size_t> places;
  std::vector<policy::SecondPhase::Hit> late;
  for (const auto& hit : hits) {
    const auto found = std::find_if(fetching_.begin(), fetching_.end(), same(hit));
    places.push_back(static_cast<std::size_t>(found - fetching_.begin()));
    if (found != fetching_.end()) continue;
    late.push_back(take_in(hit));
  }

  phase_ = Phase::fetch;
  phase_finished_ = false;
  const Instant started = clock_now();
  const bool asks = std::any_of(late.begin(), late.end(), [](const auto& hit) { return !hit.delivered; });
  perform(second_phase_.add(late, started), Phase::fetch);
  perform(second_phase_.start(started), Phase::fetch);
  if (on_fetching_ && !late.empty()) on_fetching_(std::span(fetching_).last(late.size()), late);
  co_await wait();
  if (asks) {  // a phase that had nothing left to ask says nothing of how long one takes
    const Duration took = clock_now() - started;
    metrics_.second_phase_seconds.Observe(to_seconds(took));
    cluster_.policies().second_phase.record(took, clock_now());
  }

  std::vector<std::optional<wire::FetchedDocument>> documents;
  documents.reserve(places.size());
  for (const std::size_t place : places) documents.push_back(std::move(fetched_[place]));
  co_return documents;
}

void FanoutRunner::abandon() {
  if (abandoned_) return;
  abandoned_ = true;
  fetch_calls_.cancel_all();
  if (phase_ == Phase::search) {
    perform(fanout_.abandon(clock_now()), Phase::search);
  } else {
    phase_finished_ = true;
    timer_.cancel();
  }
}

// Until the phase's policy finishes it, waking it when it wished to be.
asio::awaitable<void> FanoutRunner::wait() {
  while (!phase_finished_) {
    co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
    const Instant now = clock_now();
    if (phase_finished_ || now < wake_at_) continue;
    perform(phase_ == Phase::search ? fanout_.on_wake(now) : second_phase_.on_wake(now), phase_);
  }
}

void FanoutRunner::perform(policy::Actions actions, Phase phase) {
  std::vector<policy::SendAttempt> attempts;
  std::vector<AttemptId> given_up;
  for (auto& action : actions) {
    if (const auto* attempt = std::get_if<policy::SendAttempt>(&action)) {
      attempts.push_back(*attempt);
    } else if (const auto* cancelled = std::get_if<policy::CancelAttempt>(&action)) {
      if (phase == Phase::search) {
        given_up.push_back(cancelled->attempt);
      } else {
        fetch_calls_.cancel(cancelled->attempt);
      }
    } else if (const auto* wake = std::get_if<policy::WakeAt>(&action)) {
      wake_at_ = wake->at;
      timer_.expires_at(wake_at_);
    } else if (std::holds_alternative<policy::FetchEarly>(action)) {
      fetch_early();
    } else if (const auto* fetch_action = std::get_if<policy::SendFetch>(&action)) {
      send(*fetch_action);
    } else if (std::holds_alternative<policy::Finish>(action)) {
      phase_finished_ = true;
      timer_.cancel();
    }
  }
  if (!given_up.empty()) cancel(given_up);
  // Attempts of one batch and kind that go to the same leaf travel in one frame.
  const auto frame_of = [](const policy::SendAttempt& attempt) { return std::pair(attempt.leaf, attempt.kind); };
  std::stable_sort(attempts.begin(), attempts.end(), [&](const auto& a, const auto& b) { return frame_of(a) < frame_of(b); });
  for (auto begin = attempts.begin(); begin != attempts.end();) {
    const auto end = std::find_if(begin, attempts.end(), [&](const auto& attempt) { return frame_of(attempt) != frame_of(*begin); });
    send(std::span(begin, end));
    begin = end;
  }
}

void FanoutRunner::send(std::span<const policy::SendAttempt> attempts) {
  const auto count = static_cast<std::uint32_t>(attempts.size());
  switch (attempts.front().kind) {
    case AttemptKind::primary: counts_.primary += count; break;
    case AttemptKind::retry: counts_.retry += count; break;
    case AttemptKind::hedge: counts_.hedge += count; break;
    case AttemptKind::tied: counts_.tied += count; break;
    case AttemptKind::canary: counts_.canary += count; break;
    case AttemptKind::probe: counts_.probe += count; break;
  }
  // Of what is asked later, after a canary's answer, or again, only what can still be among the best is of use.
  const auto& merged = merge_.hits();
  const bool enough = query_.most_hits > 0 && merged.size() >= query_.most_hits;
  search_calls_.send(attempts.front().leaf, attempts, enough ? merged.back().hit.score : 0);
}

void FanoutRunner::cancel(const std::vector<AttemptId>& attempts) {
  counts_.cancelled += static_cast<std::uint32_t>(attempts.size());
  std::vector<SearchCalls::Given> given_up;
  given_up.reserve(attempts.size());
  for (const auto id : attempts) {
    const auto& attempt = fanout_.attempt(id);
    const bool answered = fanout_.state_of(attempt.partition_index) == policy::PartitionState::answered;
    const char* outcome = answered && attempt.kind != AttemptKind::probe ? "lost"
                          : fanout_.finished()                          ? "cancelled"
                                                                        : "superseded";  // its twin has begun
    given_up.push_back({id, outcome});
  }
  search_calls_.cancel(given_up);
}

bool FanoutRunner::on_answered(AttemptId id, wire::PartitionAnswer&& answer) {
  const auto attempt = fanout_.attempt(id);
  auto verdict = fanout_.on_answer(id, report_of(answer), clock_now());
  if (verdict.merge) {
    merge_answer(answer, std::move(answer.shown));
    if (attempt.kind == AttemptKind::hedge) ++counts_.hedge_won;
  }
  perform(std::move(verdict.actions), Phase::search);
  // A probe is waited for to learn from it, whoever has answered its partition.
  return verdict.merge || (attempt.kind == AttemptKind::probe && attempt.outstanding);
}

void FanoutRunner::on_started(AttemptId attempt) {
  perform(fanout_.on_started(attempt, clock_now()), Phase::search);
}

void FanoutRunner::on_failed(AttemptId attempt, AttemptFailure failure) {
  const auto& budget = cluster_.policies().search.retry_budget;
  const auto refused_before = budget.refused();
  auto actions = fanout_.on_failure(attempt, failure, clock_now());
  metrics_.retries_refused_by_budget.Increment(static_cast<double>(budget.refused() - refused_before));
  perform(std::move(actions), Phase::search);
}

void FanoutRunner::merge_answer(const wire::PartitionAnswer& answer, std::vector<wire::FetchedDocument>&& shown) {
  std::vector<ScoredDocument> hits;
  hits.reserve(answer.documents.size());
  for (std::size_t i = 0; i < answer.documents.size(); ++i) {
    hits.push_back({DocumentNumber{answer.documents[i]}, answer.scores[i]});
  }
  merge_.add(answer.partition, hits);
  for (std::size_t i = 0; i < shown.size(); ++i) shown_.try_emplace({answer.partition, hits[i].document}, std::move(shown[i]));
  matches_ += answer.matches;
  matches_exact_ = matches_exact_ && answer.matches_exact;
}

void FanoutRunner::send(const policy::SendFetch& action) {
  std::vector<wire::DocumentAddress> documents;
  documents.reserve(action.places.size());
  for (const std::size_t place : action.places) {
    documents.push_back({fetching_[place].partition, fetching_[place].hit.document});
  }
  fetch_calls_.send(action.attempt, action.leaf, std::move(documents));
}

bool FanoutRunner::on_fetched(AttemptId attempt, std::vector<wire::FetchedDocument>&& documents) {
  const auto places = second_phase_.places_of(attempt);
  auto verdict = second_phase_.on_answer(attempt, clock_now());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool taken = std::find(verdict.take.begin(), verdict.take.end(), places[i]) != verdict.take.end();
    if (taken) fetched_[places[i]] = std::move(documents[i]);
  }
  const bool waited_for = !verdict.take.empty();
  perform(std::move(verdict.actions), Phase::fetch);
  return waited_for;
}

void FanoutRunner::on_fetch_failed(AttemptId attempt) {
  perform(second_phase_.on_failure(attempt, clock_now()), Phase::fetch);
}

}  // namespace hedgerow::root
