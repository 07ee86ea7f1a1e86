#include "lab/simulation/simulation.hpp"

#include <algorithm>
#include <cmath>

#include "lab/placement.hpp"
#include "lab/simulation/simulated_leaf.hpp"
#include "lab/simulation/simulated_root.hpp"
#include "leaf/background_schedule.hpp"

namespace hedgerow::lab::simulation {

namespace {

bool breaks_links(FaultKind kind) {
  return kind == FaultKind::crash || kind == FaultKind::cut || kind == FaultKind::cut_silently;
}

class Simulation {
 public:
  Simulation(const WorldSettings& settings, const QueryObserver& observer)
      : settings_(settings),
        random_(settings.seed),
        network_(settings, Random(random_.next())),
        shared_slow_periods_(settings.shared_slow_periods, Random(random_.next())),
        breaks_(settings.leaves) {
    report_.seed = settings.seed;
    const LeafSurroundings surroundings{settings_, events_, attempts_, network_, report_.leaves, shared_slow_periods_};
    leaves_.reserve(settings.leaves);
    for (std::uint32_t i = 0; i < settings.leaves; ++i) leaves_.emplace_back(LeafId{i}, surroundings, Random(random_.next()));
    roots_.emplace(settings_, events_, attempts_, network_, leaves_, report_, observer, Random(random_.next()));
  }

  Report run() {
    schedule();
    while (!events_.empty()) {
      const Event event = events_.pop();
      now_ = event.at;
      ++report_.events;
      handle(event);
      if (!roots_->invariants().after_event(now_)) break;
    }
    std::size_t work = 0;
    for (const SimulatedLeaf& leaf : leaves_) work += leaf.waiting() + leaf.running();
    roots_->invariants().at_end(roots_->open_queries() + roots_->waiting_queries(), attempts_.taken(), work, now_);
    return std::move(report_);
  }

 private:
  void schedule() {
    const auto at = [](Duration after) { return Instant{} + after; };
    for (std::uint32_t i = 0; i < settings_.faults.size(); ++i) {
      events_.push(at(settings_.faults[i].from), EventKind::fault_begins, i);
    }
    for (std::uint32_t i = 0; i < settings_.budget_changes.size(); ++i) {
      events_.push(at(settings_.budget_changes[i].at), EventKind::budget_changes, i);
    }
    if (settings_.background.rate > 0) {
      for (std::uint32_t leaf = 0; leaf < settings_.leaves; ++leaf) schedule_background(leaf);
    }
    if (settings_.upkeep.period > Duration::zero()) {
      for (std::uint32_t leaf = 0; leaf < settings_.leaves; ++leaf) change_upkeep(leaf);
    }
    if (settings_.canaries) events_.push(at(Duration::zero()), EventKind::canaries_beat, 0);
    if (settings_.timeline) events_.push(at(std::chrono::seconds(1)), EventKind::second_passes, 0);
    if (settings_.warm_up + settings_.queries > 0) schedule_arrival();
  }

  double rate() const {
    double rate = settings_.rate;
    for (const RateChange& change : settings_.rate_changes) {
      if (now_ >= Instant{} + change.at) rate = change.rate;
    }
    return rate;
  }
  Duration gap(double rate) { return Duration{static_cast<Duration::rep>(random_.exponential(1e9 / rate))}; }
  void schedule_arrival() {
    const auto root = settings_.roots == 1 ? 0 : static_cast<std::uint32_t>(random_.below(settings_.roots));
    events_.push(now_ + gap(rate()), EventKind::query_arrives, root);
  }
  void schedule_background(std::uint32_t leaf) {
    events_.push(now_ + gap(settings_.background.rate), EventKind::background_arrives, leaf);
  }
  leaf::BackgroundSchedule upkeep_of(std::uint32_t leaf) const {
    const Upkeep& upkeep = settings_.upkeep;
    const bool aligned = upkeep.phase == Upkeep::Phase::aligned;
    return {Instant{}, upkeep.period, upkeep.length, aligned ? Duration::zero() : leaf::staggered_phase(upkeep.period, leaf, settings_.leaves)};
  }
  // At the simulation's begin, and then whenever a leaf's upkeep begins or ends.
  void change_upkeep(std::uint32_t leaf) {
    const auto schedule = upkeep_of(leaf);
    if (schedule.is_active(now_)) {
      leaves_[leaf].begin_upkeep();
    } else if (now_ > Instant{}) {
      leaves_[leaf].end_upkeep(now_);
      if (is_over()) return;
    }
    events_.push(schedule.next_change(now_), EventKind::upkeep_changes, leaf);
  }
  bool all_arrived() const { return arrived_ == settings_.warm_up + settings_.queries; }
  // A query that nothing can end any more, by a mistake, must not keep the beats going: it is found when all is over.
  bool is_over() const {
    return all_arrived() && (events_.only_beats() || (roots_->open_queries() == 0 && roots_->waiting_queries() == 0));
  }

  void handle(const Event& event) {
    switch (event.kind()) {
      case EventKind::query_arrives:
        roots_->on_arrival(event.subject, ++arrived_ > settings_.warm_up, now_);
        if (!all_arrived()) schedule_arrival();
        report_.simulated = now_ - Instant{};
        break;
      case EventKind::query_wakes: roots_->on_wake(event.subject, event.detail, event.at, now_); break;
      case EventKind::client_leaves: roots_->on_client_gone(event.subject, event.detail, now_); break;
      case EventKind::query_is_dropped: roots_->on_drop(event.subject, event.detail, now_); break;
      case EventKind::attempt_arrives:
      case EventKind::service_ends:
      case EventKind::outcome_arrives:
      case EventKind::cancel_arrives:
      case EventKind::twin_began:
      case EventKind::time_is_over:
        if (handle_attempt(event)) attempts_.release(event.subject);
        break;
      case EventKind::background_arrives:
        if (is_over()) break;
        leaves_[event.subject].receive_background(now_);
        schedule_background(event.subject);
        break;
      case EventKind::background_ends: leaves_[event.subject].end_background(event.detail, now_); break;
      case EventKind::upkeep_changes: change_upkeep(event.subject); break;
      case EventKind::canaries_wake: roots_->on_canaries_wake(event.subject, now_); break;
      case EventKind::canaries_beat:
        roots_->on_canaries_beat(now_);
        if (!is_over()) events_.push(now_ + policy::CanaryLeaves::beat, EventKind::canaries_beat, 0);
        break;
      case EventKind::leaf_dies: kill_leaf(event.subject); break;
      case EventKind::leaf_restarts: restart_leaf(event.subject); break;
      case EventKind::speller_answers: roots_->on_speller_answer(event.subject, now_); break;
      case EventKind::subsystems_wake: roots_->on_subsystems_wake(event.subject, event.detail, now_); break;
      case EventKind::place_is_free: roots_->call_waiting(event.subject, now_); break;
      case EventKind::waiting_ends: roots_->on_waiting_ends(event.subject, event.detail, now_); break;
      case EventKind::fault_begins: begin_fault(event.subject); break;
      case EventKind::fault_ends: end_fault(event.subject); break;
      case EventKind::leaf_is_missed: miss(LeafId{event.subject}, static_cast<policy::LeafLoss>(event.detail)); break;
      case EventKind::leaf_returns: bring_back(LeafId{event.subject}); break;
      case EventKind::budget_changes: {
        const BudgetChange& change = settings_.budget_changes[event.subject];
        roots_->set_budget(change.fill, change.depth, now_);
        break;
      }
      case EventKind::second_passes:
        report_.obstacles.emplace_back(policy::to_string(roots_->policies(0).hedging.obstacle()));
        if (!is_over()) events_.push(now_ + std::chrono::seconds(1), EventKind::second_passes, 0);
        break;
    }
  }

  // False: the event was put off, and still holds its attempt.
  bool handle_attempt(const Event& event) {
    const AttemptSlot attempt = event.subject;
    if (event.kind() == EventKind::outcome_arrives) {
      roots_->on_outcome(attempt, static_cast<Outcome>(event.detail), now_);
      return true;
    }
    AttemptSlot of = attempt;
    if (event.kind() == EventKind::twin_began) {
      const auto twin = roots_->twin_of(attempt);
      if (!twin) return true;
      of = *twin;
    }
    SimulatedLeaf& leaf = leaves_[attempts_[of].leaf.value];
    if (const auto thaw = leaf.frozen_until(now_)) {
      events_.push(*thaw, event.kind(), event.subject, event.detail);
      return false;
    }
    if (event.kind() == EventKind::service_ends) {
      if (leaf.end_service(attempt, now_)) roots_->on_outcome(attempt, Outcome::answered, now_);
      return true;
    }
    if (event.kind() == EventKind::time_is_over) {
      leaf.expire(attempt, now_);
      return true;
    }
    if (!leaf.runs() || !network_.carries(attempts_[of].leaf, attempts_[of].link)) return true;  // lost on the way
    switch (event.kind()) {
      case EventKind::attempt_arrives: leaf.receive(attempt, now_); break;
      case EventKind::cancel_arrives: leaf.cancel(attempt, now_); break;
      default: leaf.supersede(of, attempt, now_); break;
    }
    return true;
  }

  template <class Each>
  void each_leaf_of(const Fault& fault, Each&& each) {
    for (std::uint32_t leaf = 0; leaf < settings_.leaves; ++leaf) {
      if (!fault.leaf || fault.leaf->value == leaf) each(leaf);
    }
  }

  void begin_fault(std::uint32_t index) {
    const Fault& fault = settings_.faults[index];
    each_leaf_of(fault, [&](std::uint32_t leaf) {
      leaves_[leaf].begin_fault(fault, now_);
      if (!breaks_links(fault.kind)) return;
      ++breaks_[leaf];
      network_.break_links(LeafId{leaf});
      // Who closes a link is taken for dead; whoever says nothing more is only silent.
      const bool silently = fault.kind == FaultKind::cut_silently;
      const auto how = silently ? policy::LeafLoss::silent : policy::LeafLoss::died;
      events_.push(now_ + (silently ? settings_.link_idle_time : Duration::zero()), EventKind::leaf_is_missed, leaf, static_cast<std::uint32_t>(how));
    });
    if (fault.until) events_.push(Instant{} + *fault.until, EventKind::fault_ends, index);
  }

  void end_fault(std::uint32_t index) {
    const Fault& fault = settings_.faults[index];
    each_leaf_of(fault, [&](std::uint32_t leaf) {
      leaves_[leaf].end_fault(fault, now_);
      if (!breaks_links(fault.kind)) return;
      --breaks_[leaf];
      events_.push(now_ + settings_.reconnect_time, EventKind::leaf_returns, leaf);
    });
  }

  void kill_leaf(std::uint32_t leaf) {
    if (!leaves_[leaf].runs()) return;  // it did not live to see this
    leaves_[leaf].die(now_);
    ++breaks_[leaf];
    network_.break_links(LeafId{leaf});
    events_.push(now_, EventKind::leaf_is_missed, leaf, static_cast<std::uint32_t>(policy::LeafLoss::died));
    events_.push(now_ + settings_.restart_time, EventKind::leaf_restarts, leaf);
  }
  void restart_leaf(std::uint32_t leaf) {
    leaves_[leaf].restart();
    --breaks_[leaf];
    events_.push(now_ + settings_.reconnect_time, EventKind::leaf_returns, leaf);
  }

  // Both sides notice that their links have ended; the leaf stops what nobody can be told of.
  void miss(LeafId leaf, policy::LeafLoss how) {
    if (network_.is_whole(leaf) || roots_->misses(leaf)) return;
    leaves_[leaf.value].lose_work(now_);
    roots_->on_leaf_missed(leaf, how, now_);
  }

  void bring_back(LeafId leaf) {
    if (breaks_[leaf.value] > 0 || network_.is_whole(leaf)) return;
    miss(leaf, policy::LeafLoss::silent);  // if nobody had noticed
    network_.mend_links(leaf);
    roots_->on_leaf_returned(leaf, now_);
  }

  const WorldSettings& settings_;
  Report report_;
  Random random_;
  EventQueue events_;
  AttemptPool attempts_;
  Network network_;
  SlowPeriodProcess shared_slow_periods_;
  std::vector<SimulatedLeaf> leaves_;
  std::optional<SimulatedRoots> roots_;
  std::vector<int> breaks_;  // of each leaf's links, that last
  Instant now_;
  std::uint64_t arrived_ = 0;
};

}  // namespace

Report simulate(const WorldSettings& settings, const QueryObserver& observer) { return Simulation(settings, observer).run(); }

std::string settings_error(const WorldSettings& settings) {
  if (settings.roots == 0 || settings.partitions == 0 || settings.shapes.empty()) {
    return "a world has at least one root, one partition and one shape of queries";
  }
  if (const auto placement = place_partitions(settings.partitions, settings.replicas, settings.leaves); placement.has_error()) {
    return placement.error().context;
  }
  if (settings.replicas > 64) return "at most 64 replicas";
  if (!(settings.rate > 0) || std::any_of(settings.rate_changes.begin(), settings.rate_changes.end(),
                                          [](const RateChange& change) { return !(change.rate > 0); })) {
    return "a rate is above 0";
  }
  for (const QueryShape& shape : settings.shapes) {
    if (shape.deadline <= Duration::zero()) return "a deadline is above 0";
    if (shape.deadly && settings.restart_time <= Duration::zero()) return "a leaf that a query took down takes time to start again";
    if (shape.draws == 0) return "an attempt is at least one draw of the service time";
    if (!(shape.weight > 0)) return "a weight is above 0";
  }
  if (settings.spellers && settings.spellers->count == 0) return "at least one speller, or none wanted";
  if (settings.upkeep.period < Duration::zero()) return "a period of upkeep is above 0";
  if (settings.upkeep.period > Duration::zero() &&
      (settings.upkeep.length <= Duration::zero() || settings.upkeep.length >= settings.upkeep.period)) {
    return "upkeep takes time, and ends before it begins again";
  }
  for (const Fault& fault : settings.faults) {
    if (fault.leaf && fault.leaf->value >= settings.leaves) return "a fault names a leaf that is not there";
    if (fault.until && *fault.until < fault.from) return "a fault ends before it begins";
    if (fault.kind == FaultKind::freeze && !fault.until) return "a freeze needs an end";
  }
  return "";
}

}  // namespace hedgerow::lab::simulation
