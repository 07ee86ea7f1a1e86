#include "leaf/session.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>

#include "base/log.hpp"

namespace hedgerow::leaf {

namespace asio = boost::asio;
using wire::FailureReason;

namespace {

constexpr std::uint32_t largest_k = 10'000;
// Calls under way on one link; a root that has more is broken or hostile.
constexpr std::size_t most_calls = 65'536;

Error broken_rule(const std::string& what) { return {Errc::protocol, what}; }

}  // namespace

bool SessionSetting::serves(PartitionId partition) const {
  return std::find(partitions.begin(), partitions.end(), partition) != partitions.end();
}

asio::awaitable<void> Session::run() {
  const auto self = shared_from_this();
  wire::Hello hello;
  hello.name = setting_.name;
  hello.sent_at_ns = std::chrono::steady_clock::now().time_since_epoch().count();
  hello.collection = setting_.manifest->collection;
  hello.generation = setting_.manifest->generation;
  hello.partitions = setting_.partitions;
  link_->send(hello);

  setting_.metrics.links.Increment();
  log_event(LogLevel::info, "link_up", {{"peer", link_->peer()}});
  const Error end = co_await link_->run(
      [this](wire::Message&& message) { return on_message(std::move(message), std::chrono::steady_clock::now()); });
  setting_.metrics.links.Decrement();
  const bool broken = end.code == Errc::protocol;
  if (broken) setting_.metrics.protocol_errors.Increment();
  log_event(broken ? LogLevel::warning : LogLevel::info, "link_down",
            {{"peer", link_->peer()}, {"reason", to_string(end)}});
  stop_everything();
}

result<void> Session::on_message(wire::Message&& message, Instant now) {
  if (auto* hello = std::get_if<wire::Hello>(&message)) {
    if (greeted_) return broken_rule("a second hello");
    transit_.excess(hello->sent_at_ns, now);
    return on_hello(*hello);
  }
  if (!greeted_) return broken_rule("a message before the hello");
  if (auto* search = std::get_if<wire::SearchCall>(&message)) return on_search(std::move(*search), now);
  if (auto* fetch = std::get_if<wire::FetchCall>(&message)) return on_fetch(std::move(*fetch), now);
  if (auto* cancel = std::get_if<wire::Cancel>(&message)) {
    on_cancel(*cancel);
    return {};
  }
  return broken_rule("a message that only leaves send");
}

result<void> Session::on_hello(const wire::Hello& hello) {
  if (hello.version != wire::protocol_version) {
    return broken_rule("protocol version " + std::to_string(hello.version) + ", but this leaf speaks " +
                       std::to_string(wire::protocol_version));
  }
  greeted_ = true;
  return {};
}

Instant Session::deadline_of(const wire::TimeLimit& time, Instant now) {
  // Bounded, so that no arithmetic on it can overflow.
  const Duration longest = std::chrono::hours(24);
  const Duration remaining = std::clamp(time.remaining, Duration::zero(), longest);
  return now + remaining - std::clamp(transit_.excess(time.sent_at_ns, now), Duration::zero(), longest);
}

result<void> Session::on_search(wire::SearchCall&& call, Instant now) {
  if (searches_.contains(call.call) || fetches_.contains(call.call)) return broken_rule("a call id that is in use");
  if (open_calls() >= most_calls) return broken_rule("too many calls at once");
  if (call.partitions.empty()) return broken_rule("a search of no partition");
  const Instant deadline = deadline_of(call.time, now);

  const auto fail_all = [&](FailureReason reason, const std::string& detail) {
    for (const auto partition : call.partitions) {
      wire::PartitionFailure failure;
      failure.call = call.call;
      failure.partition = partition;
      failure.reason = reason;
      failure.detail = detail;
      failure.load = setting_.pool.load();
      send(failure);
    }
  };
  if (deadline <= now) {
    setting_.metrics.attempts_expired.Increment(static_cast<double>(call.partitions.size()));
    fail_all(FailureReason::expired, "its time had run out when it came");
    return {};
  }
  if (setting_.draining) {
    setting_.metrics.attempts_refused.Increment(static_cast<double>(call.partitions.size()));
    fail_all(FailureReason::refused, "the leaf is stopping");
    return {};
  }
  if (call.generation != setting_.manifest->generation) {
    setting_.metrics.attempts_failed.Increment(static_cast<double>(call.partitions.size()));
    fail_all(FailureReason::not_served, "this leaf serves generation " + std::to_string(setting_.manifest->generation.value));
    return {};
  }
  if (call.k == 0 || call.k > largest_k) {
    setting_.metrics.attempts_failed.Increment(static_cast<double>(call.partitions.size()));
    fail_all(FailureReason::bad_query, "k is not from 1 to " + std::to_string(largest_k));
    return {};
  }
  QueryPlan plan;
  plan.serialised_query = std::move(call.plan.query);
  // Copied, not moved: a fault's word is looked for among them below.
  for (std::size_t i = 0; i < call.plan.terms.size(); ++i) {
    plan.terms.push_back({call.plan.terms[i], call.plan.document_frequencies[i]});
  }
  plan.collection_documents = call.plan.collection_documents;
  plan.average_length = call.plan.average_length;
  plan.generation = call.generation;
  auto prepared = PreparedQuery::prepare(plan);
  if (prepared.has_error()) {
    setting_.metrics.attempts_failed.Increment(static_cast<double>(call.partitions.size()));
    log_event(LogLevel::warning, "bad_query", {{"peer", link_->peer()}, {"error", to_string(prepared.error())}});
    fail_all(FailureReason::bad_query, to_string(prepared.error()));
    return {};
  }

  auto task = std::make_shared<SearchTask>(std::move(*prepared), setting_.metrics, setting_.pool);
  task->call = call.call;
  task->k = call.k;
  task->deadline = deadline;
  task->score_threshold = std::max(0.0, call.score_threshold);
  task->reply = replier();

  auto& search = searches_[call.call];
  search.task = task;
  search.answers_to_come = call.partitions.size();
  search.deadline = std::make_unique<asio::steady_timer>(setting_.io, deadline);
  search.deadline->async_wait([this, self = weak_from_this(), id = call.call](boost::system::error_code error) {
    const auto alive = self.lock();
    if (error || !alive) return;
    if (const auto found = searches_.find(id); found != searches_.end()) stop(found->second, {}, FailureReason::expired);
  });

  for (const auto partition : call.partitions) {
    task->parts.push_back(std::make_unique<SearchPart>());
    SearchPart& part = *task->parts.back();
    part.partition = partition;
    if (!setting_.serves(partition)) {
      setting_.metrics.attempts_failed.Increment();
      answer(part_failure(*task, part, FailureReason::not_served, "this leaf does not hold the partition", {}), {});
      continue;
    }
    part.fault = setting_.faults.decide(&call.plan.terms);
    if (part.fault.error) {
      setting_.metrics.attempts_failed.Increment();
      answer(part_failure(*task, part, FailureReason::failed, "an injected error", {}), part.fault.late);
      continue;
    }
    part.place = setting_.pool.submit(std::make_shared<SearchWork>(task, part), call.service_class, deadline, now);
    if (!part.place) {
      setting_.metrics.attempts_refused.Increment();
      answer(part_failure(*task, part, FailureReason::refused, "the queue is full", {}), part.fault.late);
    }
  }
  return {};
}

result<void> Session::on_fetch(wire::FetchCall&& call, Instant now) {
  if (searches_.contains(call.call) || fetches_.contains(call.call)) return broken_rule("a call id that is in use");
  if (open_calls() >= most_calls) return broken_rule("too many calls at once");
  const auto fail = [&](FailureReason reason, const std::string& detail) -> result<void> {
    setting_.metrics.fetches_failed.Increment();
    send(wire::CallFailure{call.call, reason, detail});
    return {};
  };
  const Instant deadline = deadline_of(call.time, now);
  if (deadline <= now) return fail(FailureReason::expired, "its time had run out when it came");
  // A fetch ends a query that this leaf has answered already: it is welcome even while draining.
  if (call.generation != setting_.manifest->generation) return fail(FailureReason::not_served, "another generation");
  for (const auto& address : call.documents) {
    if (!setting_.serves(address.partition)) {
      return fail(FailureReason::not_served, "this leaf does not hold partition " + std::to_string(address.partition.value));
    }
  }
  auto task = std::make_shared<FetchTask>(setting_.metrics, setting_.pool);
  task->call = call.call;
  task->documents = std::move(call.documents);
  task->deadline = deadline;
  task->fault = setting_.faults.decide(nullptr);
  task->reply = replier();
  fetches_[call.call] = task;
  if (task->fault.error) {
    setting_.metrics.fetches_failed.Increment();
    answer(wire::CallFailure{call.call, FailureReason::failed, "an injected error"}, task->fault.late);
    return {};
  }
  task->place = setting_.pool.submit(std::make_shared<FetchWork>(task), ServiceClass::interactive, deadline, now);
  if (!task->place) {
    fetches_.erase(call.call);
    return fail(FailureReason::refused, "the queue is full");
  }
  return {};
}

void Session::on_cancel(const wire::Cancel& cancel) {
  if (const auto found = searches_.find(cancel.call); found != searches_.end()) {
    stop(found->second, cancel.partitions, FailureReason::cancelled);
  } else if (const auto fetch = fetches_.find(cancel.call); fetch != fetches_.end()) {
    stop(*fetch->second);
  }
}

Replier Session::replier() {
  // Workers never own the session: it would keep itself alive through its own tasks, and could end on a worker's thread.
  return [weak = weak_from_this(), &io = setting_.io](wire::Message&& message, Duration late) {
    asio::post(io, [weak, late, message = std::move(message)]() mutable {
      if (const auto self = weak.lock()) self->answer(std::move(message), late);
    });
  };
}

void Session::answer(wire::Message&& message, Duration late) {
  if (ended_) return;
  if (late > Duration::zero()) {
    auto timer = std::make_shared<asio::steady_timer>(setting_.io, late);
    timer->async_wait([self = shared_from_this(), timer, message = std::move(message)](boost::system::error_code) mutable {
      self->answer(std::move(message), {});
    });
    return;
  }
  // A call is over when its last part is answered.
  const CallId call = std::visit(
      [](const auto& m) {
        if constexpr (requires { m.call; }) return m.call;
        return CallId{};
      },
      message);
  if (const auto found = searches_.find(call); found != searches_.end()) {
    if (--found->second.answers_to_come == 0) searches_.erase(found);
  } else {
    fetches_.erase(call);
  }
  send(message);
}

void Session::send(const wire::Message& message) { link_->send(message); }

void Session::stop(Search& search, const std::vector<PartitionId>& partitions, FailureReason reason) {
  const auto task = search.task;  // answering its last part ends the search
  bool running = false;
  for (const auto& part : task->parts) {
    const bool named = partitions.empty() || std::find(partitions.begin(), partitions.end(), part->partition) != partitions.end();
    if (!named || part->stop.exchange(true)) continue;
    if (part->place && setting_.pool.remove(*part->place)) {
      (reason == FailureReason::expired ? setting_.metrics.attempts_expired : setting_.metrics.attempts_cancelled_queued)
          .Increment();
      answer(part_failure(*task, *part, reason, "", {}), {});
    } else {
      running = true;
    }
  }
  if (running) setting_.pool.wake();
}

void Session::stop(FetchTask& task) {
  if (task.stop.exchange(true)) return;
  if (task.place && setting_.pool.remove(*task.place)) {
    answer(wire::CallFailure{task.call, FailureReason::cancelled, ""}, {});
  } else {
    setting_.pool.wake();
  }
}

void Session::stop_everything() {
  ended_ = true;
  for (auto& [call, search] : searches_) stop(search, {}, FailureReason::cancelled);
  for (auto& [call, fetch] : fetches_) stop(*fetch);
  searches_.clear();
  fetches_.clear();
}

}  // namespace hedgerow::leaf
