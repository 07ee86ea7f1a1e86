#include "lab/simulation/simulated_root.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "lab/placement.hpp"

namespace hedgerow::lab::simulation {

namespace {

policy::AttemptFailure failure_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::refused: return policy::AttemptFailure::refused;
    case Outcome::expired: return policy::AttemptFailure::expired;
    case Outcome::superseded: return policy::AttemptFailure::superseded;
    case Outcome::unreachable: return policy::AttemptFailure::unreachable;
    case Outcome::failed:
    case Outcome::answered: break;
  }
  return policy::AttemptFailure::failed;
}

}  // namespace

SimulatedRoots::SimulatedRoots(const WorldSettings& settings, EventQueue& events, AttemptPool& attempts, Network& network,
                               std::vector<SimulatedLeaf>& leaves, Report& report, const QueryObserver& observer, Random random)
    : settings_(settings),
      events_(events),
      attempts_(attempts),
      network_(network),
      leaves_(leaves),
      report_(report),
      random_(random),
      observer_(observer),
      missed_(settings.leaves),
      frames_(settings.leaves) {
  const auto placement = place_partitions(settings.partitions, settings.replicas, settings.leaves);
  if (placement.has_error()) throw std::invalid_argument(placement.error().context);
  for (std::uint32_t i = 0; i < settings.partitions; ++i) partitions_.push_back({PartitionId{i}, {}, 1});
  for (std::uint32_t leaf = 0; leaf < settings.leaves; ++leaf) {
    for (const PartitionId partition : (*placement)[leaf]) partitions_[partition.value].replicas.push_back(LeafId{leaf});
  }
  for (std::uint32_t i = 0; i < settings.partitions; ++i) order_.push_back(i);
  for (const QueryShape& shape : settings.shapes) weights_ += shape.weight;

  std::vector<const policy::SearchPolicies*> views;
  for (std::size_t root = 0; root < settings.roots; ++root) {
    policies_.push_back(std::make_unique<policy::SearchPolicies>(settings.policies, random_.next()));
    views.push_back(policies_.back().get());
    for (std::uint32_t leaf = 0; leaf < settings.leaves; ++leaf) policies_.back()->on_leaf_up(LeafId{leaf});
    if (settings.admission) {
      rooms_.push_back(std::make_unique<SimulatedWaitingRoom>(*settings.admission, policies_.back()->load, Random(random_.next())));
    }
  }
  for (std::size_t root = 0; settings.spellers && root < settings.roots; ++root) {
    subsystem_models_.push_back(std::make_unique<policy::SubsystemModels>());
    // Their numbers follow those of the leaves.
    for (std::size_t i = 0; i < settings.spellers->count; ++i) {
      policies_[root]->on_leaf_up(LeafId{static_cast<std::uint32_t>(settings.leaves + i)});
    }
  }
  invariants_.emplace(views, settings.leaves, settings.policies, report);
  for (std::uint32_t root = 0; root < rooms_.size(); ++root) invariants_->on_admission(root, rooms_[root]->admission());
  if (!settings.canaries) return;
  for (std::uint32_t root = 0; root < settings.roots; ++root) {
    const SimulatedCanaries::Ways ways{[this](AttemptSlot attempt, Instant now) {
                                         const LeafId leaf = attempts_[attempt].leaf;
                                         invariants_->on_canary_sent(leaf, now);
                                         attempts_[attempt].link = network_.term(leaf);
                                         send_on(attempt, std::nullopt, now);
                                       },
                                       [this](AttemptSlot attempt, Instant now) { cancel_on(attempt, now); }};
    canaries_.push_back(std::make_unique<SimulatedCanaries>(root, *settings.canaries, *policies_[root], events, attempts, ways, Random(random_.next())));
    for (std::uint32_t leaf = 0; leaf < settings.leaves; ++leaf) canaries_.back()->on_leaf_up(LeafId{leaf});
    invariants_->on_canaries(root, canaries_.back()->leaves());
  }
}

SimulatedRoots::Query* SimulatedRoots::find(QuerySlot slot, std::uint32_t generation) {
  Query& query = queries_[slot];
  return query.generation == generation && query.fanout ? &query : nullptr;
}

std::vector<policy::Fanout::Partition> SimulatedRoots::draw_partitions(std::size_t width) {
  if (width == 0 || width >= partitions_.size()) return partitions_;
  std::vector<policy::Fanout::Partition> drawn;
  drawn.reserve(width);
  for (std::size_t i = 0; i < width; ++i) {
    std::swap(order_[i], order_[i + random_.below(order_.size() - i)]);
    drawn.push_back(partitions_[order_[i]]);
  }
  return drawn;
}

std::size_t SimulatedRoots::draw_shape() {
  const std::size_t last = settings_.shapes.size() - 1;
  if (last == 0) return 0;
  double at = random_.uniform() * weights_;
  for (std::size_t shape = 0; shape < last; ++shape) {
    if (at < settings_.shapes[shape].weight) return shape;
    at -= settings_.shapes[shape].weight;
  }
  return last;
}

void SimulatedRoots::begin(std::uint32_t root, SimulatedCanaries::Told word, Instant now) {
  const Guest& guest = word.candidate.guest;
  QuerySlot slot;
  if (free_.empty()) {
    slot = static_cast<QuerySlot>(queries_.size());
    queries_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  const QueryShape& shape = settings_.shapes[guest.shape];
  Query& query = queries_[slot];
  query.root = root;
  query.arrived = guest.arrived;
  query.admitted = word.candidate.admitted;
  query.fingerprint = std::move(word.candidate.fingerprint);
  query.shape = guest.shape;
  query.search_end = guest.arrived + guest.given;
  query.wake_at = query.next_wake = Instant::max();
  query.measured = guest.measured;
  query.service_class = shape.service_class;
  query.shared = word.candidate.shared;
  query.answered = query.abandoned = query.concluded = false;
  query.records.clear();
  query.twins_begun.clear();

  policy::Fanout::Settings settings;
  settings.search_end = query.search_end;
  settings.hedge = shape.hedge;
  settings.tied = shape.tied;
  settings.good_enough = shape.good_enough;
  query.fanout.emplace(std::move(word.candidate.partitions), settings, *policies_[root]);
  ++open_;
  ++report_.queries;
  invariants_->on_query(slot, root, *query.fanout, query.search_end);
  count(query, [&](QueryFigures& figures) {
    figures.partitions += query.fanout->partitions().size();
    figures.answered += word.place ? 1 : 0;
    figures.attempts[static_cast<std::size_t>(AttemptKind::canary)] += word.place ? 1 : 0;
  });
  if (word.place) {
    query.fanout->adopt(*word.place, word.leaf);
    invariants_->on_adopted(slot, static_cast<std::uint32_t>(*word.place));
  }
  if (shape.client_leaves > 0 && random_.chance(shape.client_leaves)) {
    const auto after = static_cast<Duration::rep>(random_.uniform() * static_cast<double>(shape.deadline.count()));
    events_.push(std::max(now, guest.arrived + Duration(after)), EventKind::client_leaves, slot, query.generation);
  }
  if (settings_.spellers) ask_spellers(slot, word.candidate.sheds_subsystems, now);
  perform(slot, query.fanout->start(now), now);
}

void SimulatedRoots::perform(QuerySlot slot, policy::Actions actions, Instant now) {
  ++batch_;
  const std::uint32_t generation = queries_[slot].generation;
  for (const policy::Action& action : actions) {
    const auto* sent = std::get_if<policy::SendAttempt>(&action);
    if (!sent) continue;
    Frame& frame = frames_[sent->leaf.value];
    if (frame.batch != batch_) frame = {batch_, 0, std::nullopt};
    ++frame.parts;
  }
  for (const policy::Action& action : actions) {
    if (const auto* sent = std::get_if<policy::SendAttempt>(&action)) {
      send(slot, *sent, now);
    } else if (const auto* cancelled = std::get_if<policy::CancelAttempt>(&action)) {
      cancel(slot, cancelled->attempt, now);
    } else if (const auto* wake = std::get_if<policy::WakeAt>(&action)) {
      wake_at(slot, wake->at, now);
    } else if (const auto* finish = std::get_if<policy::Finish>(&action)) {
      answer(slot, finish->reason, now);
    }
  }
  Query* query = find(slot, generation);
  if (query && query->concluded && settings_.linger <= Duration::zero()) drop(slot, now);
}

void SimulatedRoots::send(QuerySlot slot, const policy::SendAttempt& action, Instant now) {
  Query& query = queries_[slot];
  const AttemptSlot at = attempts_.take();
  AttemptRecord& record = attempts_[at];
  record.query = slot;
  record.query_generation = query.generation;
  record.root = query.root;
  record.id = action.attempt;
  record.partition = action.partition;
  record.index = static_cast<std::uint32_t>(query.fanout->attempt(action.attempt).partition_index);
  record.leaf = action.leaf;
  record.kind = action.kind;
  record.twin = action.twin;
  record.deadline = query.search_end;
  record.link = network_.term(action.leaf);
  Frame& frame = frames_[action.leaf.value];
  record.parts = frame.parts;
  record.service_class = query.service_class;
  record.draws = static_cast<std::uint32_t>(settings_.shapes[query.shape].draws);
  record.shared = query.shared;
  record.deadly = settings_.shapes[query.shape].deadly;
  if (query.records.size() <= action.attempt.value) query.records.resize(action.attempt.value + 1, none);
  query.records[action.attempt.value] = at;
  if (!query.twins_begun.empty()) {
    record.superseded_early = std::erase(query.twins_begun, action.attempt) > 0;
  }

  policy::SendAttempt told = action;
  if (settings_.sabotage == Sabotage::hedge_unpaid && action.kind == AttemptKind::primary && random_.chance(0.2)) {
    told.kind = AttemptKind::hedge;
  }
  if (settings_.sabotage == Sabotage::ask_again && action.kind != AttemptKind::primary) {
    for (const AttemptSlot earlier : query.records) {
      if (earlier != none && earlier != at && attempts_[earlier].index == record.index) told.leaf = attempts_[earlier].leaf;
    }
  }
  invariants_->on_sent(slot, told, record.index, now);
  count(query, [&](QueryFigures& figures) {
    ++figures.attempts[static_cast<std::size_t>(action.kind)];
  });

  if (!frame.arrives && !network_.instant()) frame.arrives = network_.at_leaf(query.root, action.leaf, now);
  send_on(at, frame.arrives, now);
}

void SimulatedRoots::send_on(AttemptSlot attempt, std::optional<Instant> with_frame, Instant now) {
  const AttemptRecord& record = attempts_[attempt];
  if (network_.instant() && network_.is_whole(record.leaf) && !leaves_[record.leaf.value].frozen_until(now)) {
    return leaves_[record.leaf.value].receive(attempt, now);
  }
  const Instant arrives = with_frame ? *with_frame : network_.at_leaf(record.root, record.leaf, now);
  attempts_.hold(attempt);
  events_.push(arrives, EventKind::attempt_arrives, attempt);
}

void SimulatedRoots::cancel(QuerySlot slot, AttemptId id, Instant now) {
  if (settings_.sabotage == Sabotage::forget_cancel) return;
  Query& query = queries_[slot];
  invariants_->on_cancelled(slot, id);
  cancel_on(query.records[id.value], now);
}

void SimulatedRoots::cancel_on(AttemptSlot attempt, Instant now) {
  const AttemptRecord& record = attempts_[attempt];
  if (network_.instant() && !leaves_[record.leaf.value].frozen_until(now)) {
    if (network_.carries(record.leaf, record.link)) leaves_[record.leaf.value].cancel(attempt, now);
    return;
  }
  attempts_.hold(attempt);
  events_.push(network_.at_leaf(record.root, record.leaf, now), EventKind::cancel_arrives, attempt);
}

void SimulatedRoots::wake_at(QuerySlot slot, Instant at, Instant now) {
  Query& query = queries_[slot];
  if (settings_.sabotage == Sabotage::forget_wake && random_.chance(0.1)) return;
  query.wake_at = at;
  invariants_->on_wake_wished(slot, std::max(at, now));
  if (settings_.sabotage == Sabotage::answer_late && at == query.search_end) query.wake_at += std::chrono::milliseconds(1);
  if (query.wake_at >= query.next_wake) return;  // it will be looked at then
  query.next_wake = std::max(query.wake_at, now);
  events_.push(query.next_wake, EventKind::query_wakes, slot, query.generation);
}

void SimulatedRoots::on_wake(QuerySlot slot, std::uint32_t generation, Instant at, Instant now) {
  Query* query = find(slot, generation);
  if (!query || query->answered) return;
  if (at == query->next_wake) query->next_wake = Instant::max();
  if (now < query->wake_at) {
    if (query->next_wake == Instant::max()) {
      query->next_wake = query->wake_at;
      events_.push(query->wake_at, EventKind::query_wakes, slot, generation);
    }
    return;
  }
  query->wake_at = Instant::max();
  invariants_->on_wake_wished(slot, Instant::max());
  perform(slot, query->fanout->on_wake(now), now);
}

void SimulatedRoots::on_outcome(AttemptSlot attempt, Outcome outcome, Instant now) {
  const AttemptRecord record = attempts_[attempt];
  if (!network_.carries(record.leaf, record.link) && outcome != Outcome::unreachable) return;  // lost with the link
  if (record.trial > 0) {
    const auto failure = outcome == Outcome::answered ? std::nullopt : std::optional(failure_of(outcome));
    canaries_[record.root]->on_outcome(attempt, failure, now);
    return listen_to_canaries(record.root, now);
  }
  Query* query = find(record.query, record.query_generation);
  if (!query) {
    ++report_.leaves.late_answers;
    return;
  }
  if (outcome != Outcome::answered) {
    invariants_->on_told(record.query, record.id, outcome == Outcome::superseded);
    return perform(record.query, query->fanout->on_failure(record.id, failure_of(outcome), now), now);
  }

  const policy::AttemptReport report{record.queue_time, record.service_time, record.queued, record.running};
  policy::Fanout::AnswerVerdict verdict = query->fanout->on_answer(record.id, report, now);
  invariants_->on_told(record.query, record.id, false);
  if (verdict.merge || settings_.sabotage == Sabotage::merge_twice) {
    invariants_->on_merged(record.query, record.id, now);
    report_.leaves.merged += record.service_time;
    count(*query, [&](QueryFigures& figures) {
      ++figures.answered;
      if (record.kind == AttemptKind::hedge) ++figures.hedges_won;
    });
  } else {
    ++(query->answered ? report_.leaves.late_answers : report_.leaves.second_answers);
  }
  perform(record.query, std::move(verdict.actions), now);
}

std::optional<AttemptSlot> SimulatedRoots::twin_of(AttemptSlot attempt) {
  const AttemptRecord& record = attempts_[attempt];
  Query* query = find(record.query, record.query_generation);
  if (!query) return std::nullopt;  // all of it was cancelled
  const AttemptId twin = record.twin->attempt;
  if (twin.value < query->records.size() && query->records[twin.value] != none) return query->records[twin.value];
  query->twins_begun.push_back(twin);
  return std::nullopt;
}

void SimulatedRoots::on_leaf_missed(LeafId leaf, policy::LeafLoss how, Instant now) {
  missed_[leaf.value] = true;
  invariants_->on_leaf(leaf, false);
  for (auto& policies : policies_) policies->on_leaf_down(leaf);
  for (auto& canaries : canaries_) canaries->on_leaf_lost(leaf, how, now);
  std::vector<AttemptSlot> lost;
  for (AttemptSlot at = 0; at < attempts_.size(); ++at) {
    if (attempts_[at].holds > 0 && attempts_[at].leaf == leaf) lost.push_back(at);
  }
  for (const AttemptSlot at : lost) attempts_.hold(at);
  for (const AttemptSlot at : lost) {
    if (attempts_[at].trial > 0) {
      on_outcome(at, Outcome::unreachable, now);
      attempts_.release(at);
      continue;
    }
    const Query* query = find(attempts_[at].query, attempts_[at].query_generation);
    if (query && query->fanout->attempt(attempts_[at].id).outstanding) on_outcome(at, Outcome::unreachable, now);
    attempts_.release(at);
  }
}

void SimulatedRoots::on_leaf_returned(LeafId leaf, Instant) {
  missed_[leaf.value] = false;
  invariants_->on_leaf(leaf, true);
  for (auto& policies : policies_) policies->on_leaf_up(leaf);
  for (auto& canaries : canaries_) canaries->on_leaf_up(leaf);
}

void SimulatedRoots::set_budget(double fill, double depth, Instant now) {
  for (std::uint32_t root = 0; root < policies_.size(); ++root) {
    policies_[root]->set_hedge_budget(fill, depth, now);
    invariants_->on_budget(root, fill, depth);
  }
}

}  // namespace hedgerow::lab::simulation
