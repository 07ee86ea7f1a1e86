#include "root/subsystem_runner.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <unordered_set>

#include "base/steady_clock.hpp"
#include "root/answer_check.hpp"
#include "root/calls.hpp"
#include "root/spelling_suggestion.hpp"

namespace hedgerow::root {

namespace asio = boost::asio;
using policy::AttemptFailure;
using policy::SubsystemKind;
using policy::SubsystemStatus;

namespace {

constexpr std::uint32_t most_facet_values = 1000;  // that a partition tells of one facet
constexpr std::size_t shown_facet_values = 10;

}  // namespace

// One call on one leaf, with the parts that travel in it.
class SubsystemRunner::Call final : public wire::CallObserver {
 public:
  Call(SubsystemRunner& runner, std::shared_ptr<LeafClient> leaf, const policy::SendParts& action)
      : leaf_client(std::move(leaf)), attempt(action.attempt), kind(action.kind), places(action.places), runner_(runner) {}

  void on_call_message(CallId, wire::Message&& message, bool over) override {
    if (over) id.reset();
    runner_.on_message(*this, std::move(message));
  }
  void on_call_lost(CallId) override {
    id.reset();
    runner_.fail(*this, AttemptFailure::unreachable, "unreachable");
  }

  std::shared_ptr<LeafClient> leaf_client;
  AttemptId attempt;
  SubsystemKind kind;
  std::vector<std::size_t> places;
  std::optional<CallId> id;  // while it is open
  std::optional<std::size_t> trace_place;

 private:
  SubsystemRunner& runner_;
};

SubsystemRunner::SubsystemRunner(asio::any_io_executor executor, Cluster& cluster, const Query& query)
    : executor_(std::move(executor)),
      cluster_(cluster),
      query_(query),
      subsystems_(query.deadline, query.grace, cluster.policies().side_choice, cluster.policies().subsystems),
      timer_(executor_) {}

SubsystemRunner::~SubsystemRunner() {
  for (auto& call : calls_) {
    if (call.id) call.leaf_client->abandon(*call.id);
  }
}

void SubsystemRunner::ask_spelling() {
  const auto spellers = cluster_.spellers();
  if (spellers->empty()) return;  // nobody offers it: off
  words_ = words_to_ask(query_.plan);
  const Instant now = clock_now();
  if (!words_.empty()) perform(subsystems_.add(SubsystemKind::spelling, {{*spellers, std::nullopt}}, now));
  perform(subsystems_.close(SubsystemKind::spelling, now));
}

void SubsystemRunner::count_facets(const Assignment& assignment, std::vector<std::string> names) {
  facet_names_ = std::move(names);
  facet_sums_.resize(facet_names_.size());
  all_partitions_ = assignment.not_asked.empty() && assignment.unassigned.empty();
  std::vector<policy::Subsystems::Part> parts;
  for (const auto& asked : assignment.asked) {
    facet_partitions_.push_back(asked.partition);
    parts.push_back({asked.replicas, std::nullopt});
  }
  if (facet_names_.empty()) parts.clear();
  const Instant now = clock_now();
  perform(subsystems_.add(SubsystemKind::facets, std::move(parts), now));
  perform(subsystems_.close(SubsystemKind::facets, now));
}

void SubsystemRunner::make_snippets(std::span<const MergedHit> hits, const std::vector<policy::SecondPhase::Hit>& places) {
  std::vector<policy::Subsystems::Part> parts;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    snippet_places_[hits[i].hit.document] = snippet_hits_.size();
    snippet_hits_.push_back(hits[i]);
    parts.push_back({places[i].replicas, places[i].found_by});
  }
  snippets_.resize(snippet_hits_.size());
  perform(subsystems_.add(SubsystemKind::snippets, std::move(parts), clock_now()));
}

void SubsystemRunner::close_snippets(std::span<const MergedHit> final_hits) {
  std::unordered_set<DocumentNumber> wanted;
  for (const auto& hit : final_hits) wanted.insert(hit.hit.document);
  for (std::size_t place = 0; place < snippet_hits_.size(); ++place) {
    if (!wanted.contains(snippet_hits_[place].hit.document)) subsystems_.drop(SubsystemKind::snippets, place);
  }
  perform(subsystems_.close(SubsystemKind::snippets, clock_now()));
}

asio::awaitable<void> SubsystemRunner::settle() {
  perform(subsystems_.settle(clock_now()));
  while (!finished_) {
    co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
    if (!finished_) perform(subsystems_.on_wake(clock_now()));
  }
}

void SubsystemRunner::abandon() { perform(subsystems_.abandon(clock_now())); }

void SubsystemRunner::perform(policy::Actions actions) {
  for (auto& action : actions) {
    if (const auto* parts = std::get_if<policy::SendParts>(&action)) {
      send(*parts);
    } else if (const auto* cancelled = std::get_if<policy::CancelAttempt>(&action)) {
      for (auto& call : calls_) {
        if (call.attempt == cancelled->attempt) cancel(call);
      }
    } else if (const auto* wake = std::get_if<policy::WakeAt>(&action)) {
      timer_.expires_at(wake->at);
    } else if (std::holds_alternative<policy::Finish>(action)) {
      finished_ = true;
      timer_.cancel();
    }
  }
}

void SubsystemRunner::send(const policy::SendParts& action) {
  LeafClient* client = cluster_.client(action.leaf);
  if (!client) return perform(subsystems_.on_failure(action.attempt, AttemptFailure::unreachable, clock_now()));
  auto& call = calls_.emplace_back(*this, client->shared_from_this(), action);
  if (query_.trace) {
    AttemptTrace trace;
    trace.work = to_string(action.kind);
    trace.leaf = client->leaf().name;
    trace.sent = clock_now() - query_.received;
    call.trace_place = trace_.size();
    trace_.push_back(std::move(trace));
  }
  call.id = send_call(action, *client, call);
  if (!call.id) fail(call, AttemptFailure::unreachable, "unreachable");
}

std::optional<CallId> SubsystemRunner::send_call(const policy::SendParts& action, LeafClient& client, Call& call) {
  const auto time = time_limit(query_.deadline, clock_now());
  const auto generation = query_.plan.generation;
  switch (action.kind) {
    case SubsystemKind::spelling: {
      wire::SpellCall message;
      message.time = time;
      message.generation = generation;
      message.words = words_;
      return client.call(std::move(message), call);
    }
    case SubsystemKind::snippets: {
      wire::SnippetCall message;
      message.time = time;
      message.generation = generation;
      message.plan = planned_query(query_.plan);
      message.service_class = query_.service_class;
      for (const auto place : action.places) {
        message.documents.push_back({snippet_hits_[place].partition, snippet_hits_[place].hit.document});
      }
      return client.call(std::move(message), call);
    }
    case SubsystemKind::facets: {
      wire::FacetCall message;
      message.time = time;
      message.generation = generation;
      message.plan = planned_query(query_.plan);
      message.service_class = query_.service_class;
      for (const auto place : action.places) message.partitions.push_back(facet_partitions_[place]);
      message.facets = facet_names_;
      message.most_values = most_facet_values;
      return client.call(std::move(message), call, action.places.size());
    }
  }
  return std::nullopt;
}

void SubsystemRunner::cancel(Call& call) {
  if (call.id) call.leaf_client->cancel(*call.id, {});
  end_trace(call, "cancelled");
}

// What was injected, as the leaf tells it; of a call of several partitions what it tells first.
void SubsystemRunner::trace_fault(const Call& call, const wire::Message& message) {
  if (!call.trace_place || *call.trace_place >= trace_.size()) return;
  std::string& fault = trace_[*call.trace_place].fault;
  std::visit(
      [&](const auto& m) {
        if constexpr (requires { m.fault; }) {
          if (fault.empty()) fault = m.fault;
        }
      },
      message);
}

void SubsystemRunner::on_message(Call& call, wire::Message&& message) {
  trace_fault(call, message);
  if (subsystems_.open_places(call.attempt).empty()) return;  // nobody waits for it any more
  if (const auto* failure = std::get_if<wire::CallFailure>(&message); failure && call.kind != SubsystemKind::facets) {
    return fail(call, failure_of(failure->reason), to_string(failure->reason).data());
  }
  if (const auto* failure = std::get_if<wire::PartitionFailure>(&message); failure && call.kind == SubsystemKind::facets) {
    const auto place = place_of(call, failure->partition);
    if (!place) return drop_leaf_of(call, {Errc::protocol, "facets of a partition that the call did not ask for"});
    end_trace(call, to_string(failure->reason).data());
    return perform(subsystems_.on_failure(call.attempt, *place, failure_of(failure->reason), clock_now()));
  }
  auto* spelled = std::get_if<wire::SpellAnswer>(&message);
  auto* snippets = std::get_if<wire::SnippetAnswer>(&message);
  auto* facets = std::get_if<wire::FacetAnswer>(&message);
  if (spelled && call.kind == SubsystemKind::spelling) return on_answer(call, std::move(*spelled));
  if (snippets && call.kind == SubsystemKind::snippets) return on_answer(call, std::move(*snippets));
  if (facets && call.kind == SubsystemKind::facets) return on_answer(call, std::move(*facets));
  drop_leaf_of(call, {Errc::protocol, std::string(to_string(call.kind)) + " answered with something else"});
}

void SubsystemRunner::on_answer(Call& call, wire::SpellAnswer&& answer) {
  if (const auto checked = check_answer(answer, words_.size(), cluster_.manifest().documents); checked.has_error()) {
    return drop_leaf_of(call, checked.error());
  }
  auto verdict = subsystems_.on_answer(call.attempt, clock_now());
  if (!verdict.take.empty()) suggestion_ = suggested_text(query_.text, query_.plan, words_, answer);
  end_trace(call, "answered");
  perform(std::move(verdict.actions));
}

void SubsystemRunner::on_answer(Call& call, wire::SnippetAnswer&& answer) {
  if (const auto checked = check_answer(answer, call.places.size()); checked.has_error()) {
    return drop_leaf_of(call, checked.error());
  }
  end_trace(call, "answered");
  auto verdict = subsystems_.on_answer(call.attempt, clock_now());
  for (std::size_t i = 0, next = 0; i < call.places.size() && next < verdict.take.size(); ++i) {
    if (call.places[i] != verdict.take[next]) continue;  // both are in rising order
    snippets_[call.places[i]] = std::move(answer.snippets[i]);
    ++next;
  }
  perform(std::move(verdict.actions));
}

void SubsystemRunner::on_answer(Call& call, wire::FacetAnswer&& answer) {
  const auto place = place_of(call, answer.partition);
  if (!place) return drop_leaf_of(call, {Errc::protocol, "facets of a partition that the call did not ask for, or has"});
  const auto documents = cluster_.manifest().partitions[answer.partition.value].documents;
  const auto checked = check_answer(answer, {facet_names_.size(), most_facet_values, documents});
  if (checked.has_error()) return drop_leaf_of(call, checked.error());

  auto verdict = subsystems_.on_answer(call.attempt, *place, clock_now());
  if (!verdict.take.empty()) {
    for (std::size_t i = 0; i < facet_sums_.size(); ++i) {
      auto& facet = answer.facets[i];
      facet_sums_[i].cut = facet_sums_[i].cut || facet.cut;
      for (std::size_t k = 0; k < facet.values.size(); ++k) facet_sums_[i].counts[std::move(facet.values[k])] += facet.counts[k];
    }
  }
  if (subsystems_.open_places(call.attempt).empty()) end_trace(call, "answered");
  perform(std::move(verdict.actions));
}

std::optional<std::size_t> SubsystemRunner::place_of(const Call& call, PartitionId partition) const {
  for (const auto place : subsystems_.open_places(call.attempt)) {
    if (facet_partitions_[place] == partition) return place;
  }
  return std::nullopt;
}

void SubsystemRunner::fail(Call& call, AttemptFailure failure, const char* outcome) {
  end_trace(call, outcome);
  perform(subsystems_.on_failure(call.attempt, failure, clock_now()));
}

void SubsystemRunner::drop_leaf_of(Call& call, Error why) {
  if (call.id) call.leaf_client->abandon(*std::exchange(call.id, std::nullopt));
  call.leaf_client->drop(std::move(why));
  fail(call, AttemptFailure::failed, "failed");
}

void SubsystemRunner::end_trace(Call& call, const char* outcome) {
  if (!call.trace_place || *call.trace_place >= trace_.size() || trace_[*call.trace_place].ended) return;
  trace_[*call.trace_place].ended = clock_now() - query_.received;
  trace_[*call.trace_place].outcome = outcome;
}

AnswerSubsystems SubsystemRunner::statuses() const {
  AnswerSubsystems all;
  for (std::size_t i = 0; i < policy::subsystem_kinds; ++i) {
    const auto kind = static_cast<SubsystemKind>(i);
    all[i] = {subsystems_.status(kind), subsystems_.duration(kind)};
  }
  return all;
}

std::optional<std::string> SubsystemRunner::suggestion() const { return suggestion_; }

std::vector<AnswerFacet> SubsystemRunner::facets() const {
  bool partial = !all_partitions_;
  for (std::size_t place = 0; place < facet_partitions_.size() && !facet_names_.empty(); ++place) {
    partial = partial || !subsystems_.has(SubsystemKind::facets, place);
  }
  std::vector<AnswerFacet> out;
  for (std::size_t i = 0; i < facet_names_.size(); ++i) {
    const FacetSum& sum = facet_sums_[i];
    AnswerFacet facet{facet_names_[i], {sum.counts.begin(), sum.counts.end()}, sum.counts.size(), partial, sum.cut};
    // In rising byte order so far, which equal counts keep.
    std::stable_sort(facet.counts.begin(), facet.counts.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    if (facet.counts.size() > shown_facet_values) facet.counts.resize(shown_facet_values);
    out.push_back(std::move(facet));
  }
  return out;
}

std::optional<std::string> SubsystemRunner::snippet_of(const MergedHit& hit) const {
  const auto place = snippet_places_.find(hit.hit.document);
  return place == snippet_places_.end() ? std::nullopt : snippets_[place->second];
}

}  // namespace hedgerow::root
