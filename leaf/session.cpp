#include "leaf/session.hpp"

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

#include "base/log.hpp"
#include "base/steady_clock.hpp"
#include "leaf/calls.hpp"

namespace hedgerow::leaf {

namespace asio = boost::asio;
using wire::FailureReason;

namespace {

// Calls under way on one link; a root that has more is broken or hostile.
constexpr std::size_t most_calls = 65'536;

// A link whose queue is longer takes no answers of side work: they must never be what fills it, which would end the link
// and with it the calls for hits. Half of the queue's bound; no answer of side work is longer than the other half.
constexpr std::size_t most_waiting_bytes = 4 << 20;

constexpr std::size_t most_ended_searches = 256;

Error broken_rule(const std::string& what) { return {Errc::protocol, what}; }

// They end a query that this leaf has answered already: they are welcome even while draining.
bool ends_a_query(WorkKind kind) { return kind == WorkKind::fetch || kind == WorkKind::snippets; }

CallId call_of(const wire::Message& message) {
  return std::visit(
      [](const auto& m) {
        if constexpr (requires { m.call; }) return m.call;
        return CallId{};
      },
      message);
}

// A cancel that names no partition is of all.
bool is_named(PartitionId partition, const std::vector<PartitionId>& named) {
  return named.empty() || std::find(named.begin(), named.end(), partition) != named.end();
}

bool is_side_answer(const wire::Message& message) {
  return std::holds_alternative<wire::SnippetAnswer>(message) || std::holds_alternative<wire::FacetAnswer>(message) ||
         std::holds_alternative<wire::SpellAnswer>(message) || std::holds_alternative<wire::LookupAnswer>(message);
}

wire::Message refusal_instead_of(const wire::Message& side_answer) {
  const std::string detail = "the link is behind";
  const std::string fault = std::visit(
      [](const auto& m) -> std::string {
        if constexpr (requires { m.fault; }) return m.fault;
        return {};
      },
      side_answer);
  if (const auto* facets = std::get_if<wire::FacetAnswer>(&side_answer)) {
    return wire::PartitionFailure{facets->call, facets->partition, FailureReason::refused, detail, {}, false, facets->load, fault};
  }
  return wire::CallFailure{call_of(side_answer), FailureReason::refused, detail, fault};
}

void count(WorkMetrics& metrics, FailureReason reason) {
  (reason == FailureReason::expired   ? metrics.expired
   : reason == FailureReason::refused ? metrics.refused
                                      : metrics.failed)
      .Increment();
}

}  // namespace

asio::awaitable<void> Session::run() {
  const auto self = shared_from_this();
  wire::Hello hello;
  hello.name = setting_.name;
  hello.sent_at_ns = clock_now().time_since_epoch().count();
  hello.collection = setting_.serving.manifest->collection;
  hello.generation = setting_.serving.manifest->generation;
  hello.partitions = setting_.serving.partitions;
  hello.spelling = setting_.serving.spelling;
  link_->send(hello);

  setting_.metrics.links.Increment();
  log_event(LogLevel::info, "link_up", {{"peer", link_->peer()}});
  const Error end = co_await link_->run(
      [this](wire::Message&& message) { return on_message(std::move(message), clock_now()); });
  (of_twin_ ? setting_.metrics.twin_links_in : setting_.metrics.links).Decrement();
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
  if (of_twin_) {
    const auto* started = std::get_if<wire::TieStarted>(&message);
    if (!started) return broken_rule("a leaf says more to another leaf than that tied work has begun");
    on_twin_started(started->tie, now);
    return {};
  }
  if (const auto* cancel = std::get_if<wire::Cancel>(&message)) {
    on_cancel(*cancel);
    return {};
  }
  if (const auto task = task_of(std::move(message))) return on_call(task, now);
  return broken_rule("a message that only leaves send");
}

result<void> Session::on_hello(const wire::Hello& hello) {
  if (hello.version != wire::protocol_version) {
    return broken_rule("protocol version " + std::to_string(hello.version) + ", but this leaf speaks " +
                       std::to_string(wire::protocol_version));
  }
  greeted_ = true;
  if (hello.twin) {
    of_twin_ = true;
    setting_.metrics.links.Decrement();
    setting_.metrics.twin_links_in.Increment();
  }
  return {};
}

Instant Session::deadline_of(const wire::TimeLimit& time, Instant now) {
  // Bounded, so that no arithmetic on it can overflow.
  const Duration longest = std::chrono::hours(24);
  const Duration remaining = std::clamp(time.remaining, Duration::zero(), longest);
  return now + remaining - std::clamp(transit_.excess(time.sent_at_ns, now), Duration::zero(), longest);
}

result<void> Session::on_call(const std::shared_ptr<CallTask>& task, Instant now) {
  if (calls_.contains(task->call)) return broken_rule("a call id that is in use");
  if (calls_.size() >= most_calls) return broken_rule("too many calls at once");
  if (task->parts.empty()) return broken_rule("a call of no partition");
  task->arrived = now;
  task->deadline = deadline_of(task->time, now);
  task->reply = replier();
  task->metrics = &setting_.metrics;
  task->pool = &setting_.pool;
  task->standstills = &setting_.faults.standstills();
  const bool tied = std::any_of(task->parts.begin(), task->parts.end(), [](const auto& part) { return part->tied.has_value(); });
  if (tied) task->on_tied_begun = tied_begun_teller();

  if (const auto refusal = refusal_of(*task, now)) {
    if (refusal->reason == FailureReason::bad_query) {
      log_event(LogLevel::warning, "bad_query", {{"peer", link_->peer()}, {"error", refusal->detail}});
    }
    for (const auto& part : task->parts) {
      count(setting_.metrics.of(task->kind), refusal->reason);
      send(task->failure(*part, refusal->reason, refusal->detail));
    }
    return {};
  }
  open(task);
  const std::size_t parts = task->parts.size();
  const Duration yields = setting_.pool.yields(task->kind, task->service_class, parts, task->deadline - now);
  // A tied part's twin is told between its turn and its work, which this thread can only do when it has no work.
  const bool here = !tied && setting_.pool.may_work_here(task->kind, task->service_class, parts, task->postings(), now);
  for (const auto& part : task->parts) start(task, *part, yields, now);
  if (ended_) return {};
  const bool held = std::any_of(task->parts.begin(), task->parts.end(), [](const auto& part) { return part->fault.occupies(); });
  if (here && !held) {
    setting_.metrics.light_calls.Increment();
    setting_.pool.work_here(parts);
  } else {
    setting_.pool.call_workers(task->service_class, parts);
  }
  watch_deadline(task->call);
  return {};
}

std::optional<Refusal> Session::refusal_of(CallTask& task, Instant now) const {
  const Generation generation = setting_.serving.manifest->generation;
  if (task.deadline <= now) return Refusal{FailureReason::expired, "its time had run out when it came"};
  if (setting_.draining && !ends_a_query(task.kind)) return Refusal{FailureReason::refused, "the leaf is stopping"};
  if (task.generation != generation) {
    return Refusal{FailureReason::not_served, "this leaf serves generation " + std::to_string(generation.value)};
  }
  return task.prepare(setting_.serving);
}

void Session::open(const std::shared_ptr<CallTask>& task) {
  auto& call = calls_[task->call];
  call.task = task;
  call.answers_to_come = task->parts.size();
}

// What waits or runs when the time is over ends then, and not when its turn comes.
void Session::watch_deadline(CallId call_id) {
  const auto open = calls_.find(call_id);
  if (open == calls_.end()) return;  // done already
  OpenCall& call = open->second;
  call.deadline = std::make_unique<asio::steady_timer>(setting_.io, call.task->deadline);
  call.deadline->async_wait([this, self = weak_from_this(), id = call_id](boost::system::error_code error) {
    const auto alive = self.lock();
    if (error || !alive) return;
    if (const auto found = calls_.find(id); found != calls_.end()) stop(found->second, {}, FailureReason::expired);
  });
}

void Session::start(const std::shared_ptr<CallTask>& task, CallPart& part, Duration yields, Instant now) {
  const auto fail = [&](FailureReason reason, const char* detail) {
    count(setting_.metrics.of(task->kind), reason);
    answer(task->failure(part, reason, detail), part.fault.late);
  };
  if (task->answered_by_partition && !setting_.serving.has(part.partition)) {
    return fail(FailureReason::not_served, "this leaf does not hold the partition");
  }
  part.fault = setting_.faults.decide(task->in_hand(part), now);
  switch (part.fault.ending) {
    case FaultEnding::none: break;
    case FaultEnding::error: return fail(FailureReason::failed, "an injected error");
    case FaultEnding::refused: return fail(FailureReason::refused, "an injected refusal");
    case FaultEnding::garbage: link_->send_garbage(setting_.faults.garbage()); [[fallthrough]];
    case FaultEnding::black_hole: return swallow(*task, part);
    case FaultEnding::crash: return;  // it is over
  }
  if (part.tied) {
    auto drop = [weak = weak_from_this(), task, &part] {
      const auto self = weak.lock();
      return self ? self->drop_copy(task, part) : TieBook::Dropped::gone;
    };
    switch (setting_.ties.on_copy(part.tied->tie, std::move(drop), now)) {
      case TieBook::Arrival::twin_started: return answer_superseded(*task, part);
      case TieBook::Arrival::known: part.tied.reset(); break;
      case TieBook::Arrival::queue: break;
    }
  }
  part.place = setting_.pool.submit(std::make_shared<PartWork>(task, part),
                                    {task->kind, task->service_class, task->deadline, yields}, now, WorkerPool::Tell::later);
  if (part.place) return;
  if (part.tied) setting_.ties.on_ended(part.tied->tie);
  fail(FailureReason::refused, "the queue is full");
}

// Nobody is told what became of it. Its call stays open for as long as somebody might wait for it.
void Session::swallow(CallTask& task, CallPart& part) {
  part.swallowed = true;
  setting_.metrics.of(task.kind).swallowed.Increment();
}

TieBook::Dropped Session::drop_copy(const std::shared_ptr<CallTask>& task, CallPart& part) {
  if (part.stop.load()) return TieBook::Dropped::gone;
  if (!part.place || !setting_.pool.remove(*part.place)) return TieBook::Dropped::running;
  part.stop.store(true);
  answer_superseded(*task, part);
  return TieBook::Dropped::yes;
}

void Session::answer_superseded(CallTask& task, CallPart& part) {
  part.stop.store(true);
  setting_.metrics.ties.dropped.Increment();
  setting_.metrics.of(task.kind).superseded.Increment();
  answer(task.failure(part, FailureReason::superseded, ""), {});
}

void Session::on_twin_started(std::uint64_t tie, Instant now) {
  if (setting_.ties.on_twin_started(tie, now) == TieBook::News::raced) setting_.metrics.ties.raced.Increment();
}

void Session::on_tied_begun(const std::shared_ptr<CallTask>& task, const CallPart& part) {
  const Instant now = clock_now();
  if (!setting_.ties.on_begun(part.tied->tie, now)) return;
  const wire::TieStarted started{part.tied->tie, task->call, part.partition};
  const auto relay_it = [weak = weak_from_this(), started] {
    if (const auto self = weak.lock()) self->relay(started);
  };
  if (setting_.twins.tell(part.tied->twin_address, started.tie, relay_it, now)) {
    setting_.metrics.ties.told.Increment();
  } else {
    relay(started);
  }
}

void Session::relay(const wire::TieStarted& started) {
  // The root takes no word of a call that is over.
  const bool possible = !ended_ && calls_.contains(started.call);
  if (possible) link_->send(started);
  (possible ? setting_.metrics.ties.relayed : setting_.metrics.ties.untold).Increment();
}

void Session::on_cancel(const wire::Cancel& cancel) {
  const auto found = calls_.find(cancel.call);
  if (found != calls_.end()) return stop(found->second, cancel.partitions, FailureReason::cancelled);
  const auto ended = std::find_if(ended_searches_.begin(), ended_searches_.end(),
                                  [&](const EndedSearch& search) { return search.call == cancel.call; });
  if (ended == ended_searches_.end()) return;
  const auto in_vain = std::partition(ended->executed.begin(), ended->executed.end(), [&](PartitionId partition) {
    return !is_named(partition, cancel.partitions);
  });
  setting_.metrics.count_attempts_cancelled(ended->kind, Cancelled::executed,
                                            static_cast<std::size_t>(ended->executed.end() - in_vain));
  ended->executed.erase(in_vain, ended->executed.end());
}

// A call's last part is answered.
void Session::end(const OpenCall& call) {
  const CallTask& task = *call.task;
  if (!task.attempt_kind) return;
  std::vector<PartitionId> executed;
  for (const auto& part : task.parts) {
    if (part->tied) setting_.ties.on_ended(part->tied->tie);
    // What was stopped has been counted.
    if (part->executed.load() && !part->stop.load()) executed.push_back(part->partition);
  }
  if (executed.empty()) return;
  if (ended_searches_.size() >= most_ended_searches) ended_searches_.pop_front();
  ended_searches_.push_back({task.call, *task.attempt_kind, std::move(executed)});
}

TiedBegun Session::tied_begun_teller() {
  return [weak = weak_from_this(), &io = setting_.io](const std::shared_ptr<CallTask>& task, const CallPart& part) {
    asio::post(io, [weak, task, &part] {  // the part is the task's
      if (const auto self = weak.lock()) self->on_tied_begun(task, part);
    });
  };
}

Replier Session::replier() {
  // Workers never own the session: it would keep itself alive through its own tasks, and could end on a worker's thread.
  return [weak = weak_from_this(), &io = setting_.io](wire::Message&& message, Duration late) {
    // At once where this thread has done the work.
    asio::dispatch(io, [weak, late, message = std::move(message)]() mutable {
      if (const auto self = weak.lock()) self->answer(std::move(message), late);
    });
  };
}

void Session::answer(wire::Message&& message, Duration late) {
  if (ended_) return;
  if (late > Duration::zero()) {
    setting_.metrics.of(FaultKind::late).seconds.Increment(to_seconds(late));
    const auto held = held_back_.emplace(held_back_.end(), setting_.io, late);
    held->async_wait([this, weak = weak_from_this(), held, message = std::move(message)](boost::system::error_code) mutable {
      const auto self = weak.lock();
      if (!self || ended_) return;
      held_back_.erase(held);
      answer(std::move(message), {});
    });
    return;
  }
  part_is_over(call_of(message));
  send(message);
}

// A call is over when its last part is.
void Session::part_is_over(CallId call) {
  if (ended_) return;  // then all are
  const auto found = calls_.find(call);
  if (found == calls_.end() || --found->second.answers_to_come > 0) return;
  end(found->second);
  calls_.erase(found);
}

void Session::send(const wire::Message& message) {
  if (is_side_answer(message) && link_->waiting_bytes() > most_waiting_bytes) {
    link_->send(refusal_instead_of(message));
  } else {
    link_->send(message);
  }
}

void Session::stop(OpenCall& call, const std::vector<PartitionId>& partitions, FailureReason reason) {
  const auto task = call.task;  // answering its last part ends the call
  bool running = false;
  for (const auto& part : task->parts) {
    const bool named = !task->answered_by_partition || is_named(part->partition, partitions);
    if (!named || part->stop.exchange(true)) continue;
    if (part->swallowed) {
      part_is_over(task->call);
    } else if (part->executed.load()) {
      // Its answer is under way, or its worker has just handed it over: executed for nothing, if nobody wants it now.
      if (reason == FailureReason::cancelled && task->attempt_kind && !part->in_vain.exchange(true)) {
        setting_.metrics.count_attempts_cancelled(*task->attempt_kind, Cancelled::executed, 1);
      }
    } else if (part->place && setting_.pool.remove(*part->place)) {
      if (part->tied) setting_.ties.on_ended(part->tied->tie);
      if (reason == FailureReason::expired) {
        setting_.metrics.of(task->kind).expired.Increment();
      } else {
        setting_.metrics.count_cancelled(task->kind, task->attempt_kind, Cancelled::queued);
      }
      answer(task->failure(*part, reason, ""), {});
    } else {
      running = true;
    }
  }
  if (running) setting_.pool.wake();
}

void Session::stop_everything() {
  ended_ = true;
  for (auto& [id, call] : calls_) {
    stop(call, {}, FailureReason::cancelled);
    end(call);
  }
  calls_.clear();
  held_back_.clear();
}

}  // namespace hedgerow::leaf
