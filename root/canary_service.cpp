#include "root/canary_service.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.hpp"
#include "base/steady_clock.hpp"
#include "root/answer_check.hpp"
#include "root/calls.hpp"

namespace hedgerow::root {

namespace asio = boost::asio;
namespace canary_action = policy::canary_action;
using policy::AttemptFailure;
using policy::CanaryAnswer;

namespace {

std::vector<policy::Canary::Partition> partitions_of(const Assignment& assignment) {
  std::vector<policy::Canary::Partition> partitions;
  partitions.reserve(assignment.asked.size());
  for (const auto& asked : assignment.asked) partitions.push_back({asked.partition, asked.replicas});
  return partitions;
}

// How a leaf was lost, by what ended its link (see wire/link).
policy::LeafLoss loss_of(const Error& why) {
  switch (why.code) {
    case Errc::unavailable: return policy::LeafLoss::died;
    case Errc::expired: return policy::LeafLoss::silent;
    default: return policy::LeafLoss::let_go;
  }
}

}  // namespace

std::string fingerprint_of(const QueryPlan& plan) {
  // With lengths before texts, so that no two plans make the same bytes.
  std::string out = std::to_string(plan.generation.value) + ' ' + std::to_string(plan.serialised_query.size()) + ' ' +
                    plan.serialised_query;
  for (const auto& term : plan.terms) out += std::to_string(term.term.size()) + ' ' + term.term;
  return out;
}

// One canary on its way.
class CanaryService::Call final : public wire::CallObserver {
 public:
  Call(CanaryService& service, policy::TrialId trial_in, const canary_action::Send& sent, std::shared_ptr<LeafClient> leaf)
      : leaf_client(std::move(leaf)), trial(trial_in), attempt(sent.attempt), leaf_id(sent.leaf), partition(sent.partition),
        service_(service) {}

  void on_call_message(CallId, wire::Message&& message, bool over) override {
    if (over) id.reset();
    service_.on_message(*this, std::move(message));
  }
  void on_call_lost(CallId) override {
    id.reset();
    service_.failed(*this, AttemptFailure::unreachable, AttemptEnding::unreachable, "unreachable");
  }

  std::shared_ptr<LeafClient> leaf_client;
  policy::TrialId trial;
  AttemptId attempt;
  LeafId leaf_id;
  PartitionId partition;
  std::optional<CallId> id;  // while it is open

 private:
  CanaryService& service_;
};

// What a trial asks, copied from its leader's query, which it may outlive.
struct CanaryService::Trial {
  wire::SearchCall message;
  Instant received;
  Instant began;
  bool trace = false;
  bool decided = false;  // nobody waits for its calls any more
  std::vector<std::unique_ptr<Call>> calls;  // by attempt; null where it could not be sent
  std::optional<CanaryRequest::Answered> answered;
  std::vector<AttemptTrace> attempts;  // by attempt

  void end_trace(AttemptId attempt, std::string_view outcome) {
    AttemptTrace& trace_of = attempts[attempt.value];
    if (trace_of.ended) return;
    trace_of.ended = clock_now() - received;
    trace_of.outcome = outcome;
  }
};

CanaryRequest::CanaryRequest(CanaryService& service, const Query& query)
    : service_(service), query_(query), fingerprint_(fingerprint_of(query.plan)), told_(service.executor_) {}

CanaryRequest::~CanaryRequest() {
  if (waiter_) service_.leave(*this);
}

asio::awaitable<CanaryAnswer> CanaryRequest::wait() {
  service_.ask(*this);
  while (!answer_ && !abandoned_) {
    told_.expires_at(Instant::max());
    co_await told_.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  co_return answer_.value_or(CanaryAnswer::late);
}

void CanaryRequest::abandon() {
  if (answer_ || abandoned_) return;
  abandoned_ = true;
  if (waiter_) service_.leave(*this);
  told_.cancel();
}

CanaryService::CanaryService(asio::any_io_executor executor, Cluster& cluster, Metrics& metrics,
                             const policy::CanariesSettings& settings, std::uint64_t seed)
    : executor_(std::move(executor)),
      cluster_(cluster),
      metrics_(metrics),
      canaries_(settings, cluster.policies().search, seed),
      timer_(executor_),
      beat_(executor_) {
  for (const auto& leaf : cluster_.leaves()) {
    if (leaf->serving()) canaries_.on_leaf_up(leaf->id());
  }
  cluster_.on_leaf_change([this](const LeafClient& leaf, bool up, const Error& why) {
    if (up) return canaries_.on_leaf_up(leaf.id());
    canaries_.on_leaf_lost(leaf.id(), loss_of(why), clock_now());
  });
  keep_beat();
}

CanaryService::~CanaryService() { stop(); }

void CanaryService::ask(CanaryRequest& request) {
  const auto& query = request.query_;
  const Instant now = clock_now();
  if (stopped_) {
    request.answer_ = CanaryAnswer::late;
    return;
  }
  request.answer_ = canaries_.known(request.fingerprint_, query.use == CanaryUse::always, now);
  // Without a partition to be asked, nothing can happen to any leaf.
  if (!request.answer_ && (query.use == CanaryUse::off || query.assignment.asked.empty())) request.answer_ = CanaryAnswer::go;
  if (request.answer_) return;
  auto asked = canaries_.ask({request.fingerprint_, query.shown, partitions_of(query.assignment), query.search_end}, now);
  if (asked.follows) metrics_.canary_followers.Increment();
  request.waiter_ = asked.waiter;
  requests_.emplace(asked.waiter, &request);
  perform(std::move(asked.actions));
}

void CanaryService::leave(CanaryRequest& request) {
  const auto waiter = *std::exchange(request.waiter_, std::nullopt);
  requests_.erase(waiter);
  perform(canaries_.leave(waiter, clock_now()));
}

void CanaryService::perform(policy::CanaryActions actions) {
  for (const auto& action : actions) {
    if (const auto* begun = std::get_if<canary_action::Begin>(&action)) {
      begin(*begun);
    } else if (const auto* sent = std::get_if<canary_action::Send>(&action)) {
      send(*sent);
    } else if (const auto* cancelled = std::get_if<canary_action::Cancel>(&action)) {
      cancel(*cancelled);
    } else if (const auto* told = std::get_if<canary_action::Tell>(&action)) {
      tell(*told);
    } else if (const auto* verdict = std::get_if<canary_action::Decided>(&action)) {
      decided(*verdict);
    } else if (std::holds_alternative<canary_action::Lifted>(action)) {
      metrics_.canaries_lifted.Increment();
      log_event(LogLevel::info, "quarantine_lifted");
    } else if (const auto* ended = std::get_if<canary_action::End>(&action)) {
      end(ended->trial);
    }
  }
  metrics_.canary_trials.Set(static_cast<double>(canaries_.trials()));
  metrics_.safe_queries.Set(static_cast<double>(canaries_.quarantine().safe()));
  set_timer();
}

void CanaryService::begin(const canary_action::Begin& action) {
  const auto& query = requests_.at(action.leader)->query_;
  auto trial = std::make_shared<Trial>();
  trial->message.generation = query.plan.generation;
  trial->message.plan = planned_query(query.plan);
  trial->message.k = query.most_hits;
  trial->message.titles = query.titles;
  trial->message.service_class = query.service_class;
  trial->message.kind = AttemptKind::canary;
  trial->received = query.received;
  trial->began = clock_now();
  trial->trace = query.trace;
  trials_.emplace(action.trial, std::move(trial));
}

void CanaryService::send(const canary_action::Send& action) {
  const auto trial = trials_.at(action.trial);
  const Instant now = clock_now();
  LeafClient* client = cluster_.client(action.leaf);
  trial->calls.resize(action.attempt.value + 1);
  trial->attempts.resize(action.attempt.value + 1);
  AttemptTrace& trace = trial->attempts[action.attempt.value];
  trace.work = "search";
  trace.kind = AttemptKind::canary;
  trace.partition = action.partition;
  trace.leaf = name_of(action.leaf);
  trace.sent = now - trial->received;
  metrics_.attempts_sent[static_cast<std::size_t>(AttemptKind::canary)]->Increment();

  if (client) {
    auto& call = trial->calls[action.attempt.value];
    call = std::make_unique<Call>(*this, action.trial, action, client->shared_from_this());
    wire::SearchCall message = trial->message;
    message.time = time_limit(action.end, now);
    message.partitions = {action.partition};
    call->id = client->call(std::move(message), *call);
    if (call->id) return;
  }
  // It never went out: that says nothing of the query. Told later, for we are in the midst of what the policy wished.
  asio::post(executor_, [this, alive = std::weak_ptr(alive_), id = action.trial, attempt = action.attempt] {
    if (alive.expired() || !trials_.contains(id)) return;
    trials_.at(id)->end_trace(attempt, "unreachable");
    count_ending(metrics_, AttemptKind::canary, AttemptEnding::unreachable, nullptr, false);
    perform(canaries_.on_failure(id, attempt, AttemptFailure::refused, clock_now()));
  });
}

void CanaryService::cancel(const canary_action::Cancel& action) {
  const auto trial = trials_.find(action.trial);
  if (trial == trials_.end()) return;
  trial->second->end_trace(action.attempt, "cancelled");
  metrics_.attempts_cancelled.Increment();
  if (auto& call = trial->second->calls[action.attempt.value]; call && call->id) call->leaf_client->cancel(*call->id, {});
}

void CanaryService::tell(const canary_action::Tell& action) {
  const auto found = requests_.find(action.waiter);
  if (found == requests_.end()) return;
  CanaryRequest& request = *found->second;
  requests_.erase(found);
  request.waiter_.reset();
  request.answer_ = action.answer;
  if (const auto trial = trials_.find(action.trial); action.own && trial != trials_.end()) {
    request.attempts_ = static_cast<std::uint32_t>(trial->second->attempts.size());
    if (request.query_.trace) request.trace_ = trial->second->attempts;
    if (action.answered) request.answered_ = std::move(trial->second->answered);
  }
  request.told_.cancel();
}

void CanaryService::decided(const canary_action::Decided& action) {
  auto& trial = *trials_.at(action.trial);
  trial.decided = true;
  metrics_.canary_verdicts[static_cast<std::size_t>(action.verdict)]->Increment();
  metrics_.canary_seconds.Observe(to_seconds(clock_now() - trial.began));
  if (action.suspected.empty()) return;
  nlohmann::json leaves = nlohmann::json::array();
  for (const auto leaf : action.suspected) leaves.push_back(name_of(leaf));
  const bool guilty = action.verdict == policy::CanaryVerdict::guilty;
  log_event(LogLevel::warning, guilty ? "query_quarantined" : "query_suspected", {{"leaves", leaves}});
  refresh_metrics();
}

void CanaryService::end(policy::TrialId id) {
  const auto found = trials_.find(id);
  if (found == trials_.end()) return;
  for (auto& call : found->second->calls) {
    if (!call || !call->id) continue;
    cluster_.aftermath().take_over(*call->leaf_client, *std::exchange(call->id, std::nullopt), AttemptKind::canary,
                                   {{call->partition, nullptr}});
  }
  // One of its calls may be the one that is speaking.
  asio::post(executor_, [trial = found->second] {});
  trials_.erase(found);
}

void CanaryService::on_message(Call& call, wire::Message&& message) {
  const auto found = trials_.find(call.trial);
  if (found == trials_.end() || std::holds_alternative<wire::TieStarted>(message)) return;
  const auto trial = found->second;
  AttemptTrace& trace = trial->attempts[call.attempt.value];

  if (const auto* failure = std::get_if<wire::PartitionFailure>(&message); failure && failure->partition == call.partition) {
    trace.fault = failure->fault;
    trace.queue_time = failure->queue_time;
    trace.executed = failure->started;
    // Where the partition is not served, nothing ran.
    const bool ran = failure->reason != wire::FailureReason::not_served;
    return failed(call, ran ? failure_of(failure->reason) : AttemptFailure::refused, ending_of(*failure),
                  to_string(failure->reason));
  }
  auto* answer = std::get_if<wire::PartitionAnswer>(&message);
  result<void> checked = Error{Errc::protocol, "a canary answered with something else"};
  if (answer && answer->partition == call.partition) {
    const Manifest& manifest = cluster_.manifest();
    checked = check_answer(
        *answer, {trial->message.k, trial->message.titles, manifest.partitions[call.partition.value].documents, manifest.documents});
  }
  if (checked.has_error()) {
    if (call.id) call.leaf_client->abandon(*std::exchange(call.id, std::nullopt));
    const auto leaf = call.leaf_client;
    failed(call, AttemptFailure::refused, AttemptEnding::failed, "failed");
    leaf->drop(checked.error());
    return;
  }
  trace.fault = answer->fault;
  trace.queue_time = answer->queue_time;
  trace.service_time = answer->service_time;
  trace.executed = true;
  metrics_.attempt_seconds.Observe(to_seconds(clock_now() - trial->received - trace.sent));
  if (trial->decided) metrics_.answers_late.Increment();
  count_ending(metrics_, AttemptKind::canary, trial->decided ? AttemptEnding::late : AttemptEnding::answered, nullptr, true);
  trial->end_trace(call.attempt, "answered");
  const policy::AttemptReport report{answer->queue_time, answer->service_time, answer->load.queued, answer->load.running};
  if (!trial->answered) trial->answered = CanaryRequest::Answered{call.partition, call.leaf_id, std::move(*answer)};
  perform(canaries_.on_answer(call.trial, call.attempt, report, clock_now()));
}

void CanaryService::failed(Call& call, AttemptFailure failure, AttemptEnding ending, std::string_view outcome) {
  const auto found = trials_.find(call.trial);
  if (found == trials_.end()) return;
  count_ending(metrics_, AttemptKind::canary, ending, nullptr, false);
  found->second->end_trace(call.attempt, outcome);
  perform(canaries_.on_failure(call.trial, call.attempt, failure, clock_now()));
}

void CanaryService::set_timer() {
  const auto at = stopped_ ? std::nullopt : canaries_.wake_at();
  if (at == timer_at_) return;
  timer_at_ = at;
  timer_.cancel();
  if (!at) return;
  timer_.expires_at(*at);
  timer_.async_wait([this, alive = std::weak_ptr(alive_)](boost::system::error_code error) {
    if (error || alive.expired()) return;
    timer_at_.reset();
    perform(canaries_.on_wake(clock_now()));
  });
}

// Whether the root itself is held up now and then.
void CanaryService::keep_beat() {
  canaries_.on_beat(clock_now());
  beat_.expires_after(policy::CanaryLeaves::beat);
  beat_.async_wait([this, alive = std::weak_ptr(alive_)](boost::system::error_code error) {
    if (!error && !alive.expired() && !stopped_) keep_beat();
  });
}

void CanaryService::on_searched(const CanaryRequest& request, const Completeness& completeness,
                                const std::vector<LeafId>& lost) {
  const Instant now = clock_now();
  if (completeness.partitions_answered > 0) canaries_.on_search_answered(now);
  if (lost.empty()) {
    if (completeness.partitions_answered == completeness.partitions_total) canaries_.on_answered_whole(request.fingerprint_);
    return;
  }
  canaries_.on_leaves_lost(request.fingerprint_, request.query_.shown, lost, request.query_.received, now);
  refresh_metrics();
}

CanaryService::Entry CanaryService::shown(const policy::Quarantine::Entry& entry) const {
  const Instant now = clock_now();
  const auto wall = std::chrono::system_clock::now();
  const auto clock_of = [&](Instant instant) {
    return wall + std::chrono::duration_cast<std::chrono::system_clock::duration>(instant - now);
  };
  Entry out{entry.id, entry.shown, entry.reason, {}, clock_of(entry.since), clock_of(entry.until), entry.until - now, entry.refused};
  for (const auto leaf : entry.leaves) out.leaves.push_back(name_of(leaf));
  return out;
}

std::vector<CanaryService::Entry> CanaryService::entries() {
  std::vector<Entry> out;
  for (const auto& entry : canaries_.quarantine().entries(clock_now())) out.push_back(shown(entry));
  return out;
}

std::optional<CanaryService::Entry> CanaryService::entry_of(const std::string& fingerprint) {
  const auto* entry = canaries_.quarantine().find_quarantined(fingerprint, clock_now());
  if (!entry) return std::nullopt;
  return shown(*entry);
}

std::size_t CanaryService::clear() {
  const std::size_t cleared = canaries_.quarantine().clear(clock_now());
  log_event(LogLevel::info, "quarantine_cleared", {{"queries", cleared}});
  refresh_metrics();
  return cleared;
}

bool CanaryService::clear(std::uint64_t id) {
  const bool cleared = canaries_.quarantine().clear(id, clock_now());
  if (cleared) log_event(LogLevel::info, "quarantine_cleared", {{"queries", 1}});
  refresh_metrics();
  return cleared;
}

void CanaryService::refresh_metrics() {
  metrics_.quarantined_queries.Set(static_cast<double>(canaries_.quarantine().quarantined(clock_now())));
}

void CanaryService::stop() {
  stopped_ = true;
  timer_.cancel();
  beat_.cancel();
  cluster_.on_leaf_change({});
  while (!trials_.empty()) end(trials_.begin()->first);
  for (const auto& [waiter, request] : std::exchange(requests_, {})) {
    request->waiter_.reset();
    request->answer_ = CanaryAnswer::late;
    request->told_.cancel();
  }
}

std::string CanaryService::name_of(LeafId leaf) const {
  const LeafClient* client = cluster_.client(leaf);
  return client ? client->leaf().name : "(gone)";
}

}  // namespace hedgerow::root
