#include "root/leaf_client.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.hpp"
#include "base/random.hpp"
#include "base/steady_clock.hpp"
#include "wire/http_client.hpp"

namespace hedgerow::root {

namespace asio = boost::asio;

std::string_view to_string(LeafClient::State state) {
  switch (state) {
    case LeafClient::State::connecting: return "connecting";
    case LeafClient::State::serving: return "serving";
    case LeafClient::State::waiting: return "waiting";
    case LeafClient::State::mismatched: return "mismatched";
    case LeafClient::State::stopped: return "stopped";
  }
  return "stopped";
}

LeafClient::LeafClient(asio::any_io_executor executor, LeafId id, TopologyLeaf leaf, const Manifest& manifest,
                       LeafClientSettings settings, StateListener listener)
    : executor_(std::move(executor)),
      id_(id),
      leaf_(std::move(leaf)),
      manifest_(manifest),
      settings_(settings),
      listener_(std::move(listener)),
      timer_(executor_) {}

asio::awaitable<void> LeafClient::run() {
  const auto self = shared_from_this();
  Random random(settings_.seed ^ stable_hash(leaf_.name));
  Duration next_pause = settings_.first_pause;
  while (state_ != State::stopped) {
    const auto links_before = links_;
    Error why;
    try {
      why = co_await serve_link();
    } catch (const std::exception& problem) {
      why = {Errc::internal, problem.what()};  // whatever it was, this leaf is tried again, and its calls are not forgotten
    }
    end_link(why);
    if (state_ == State::stopped) break;

    const bool said_before = to_string(why) == last_error_;
    last_error_ = to_string(why);
    state_ = why.code == Errc::protocol ? State::mismatched : State::waiting;
    if (links_ > links_before) next_pause = settings_.first_pause;
    if (why.code == Errc::protocol) next_pause = settings_.longest_pause;
    log_event(said_before ? LogLevel::debug : LogLevel::warning, "leaf_not_reached",
              {{"leaf", leaf_.name}, {"address", leaf_.address}, {"reason", last_error_}});
    co_await pause(Duration{static_cast<Duration::rep>(static_cast<double>(next_pause.count()) * (0.5 + random.uniform() / 2))});
    next_pause = std::min(2 * next_pause, settings_.longest_pause);
  }
}

asio::awaitable<void> LeafClient::pause(Duration time) {
  timer_.expires_after(time);
  co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
}

void LeafClient::stop() {
  const Error why{Errc::cancelled, "the root is done with this leaf"};
  state_ = State::stopped;
  timer_.cancel();
  if (link_) link_->close(why);
  tell_down(why);
}

void LeafClient::retire() {
  if (pending_.size() == 0) return stop();
  state_ = State::stopped;
  tell_down({Errc::cancelled, "the root is done with this leaf"});
  timer_.expires_after(settings_.farewell);
  timer_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    const auto self = weak.lock();
    if (!error && self) self->stop();
  });
}

void LeafClient::tell_down(const Error& why) {
  if (std::exchange(told_up_, false)) listener_(*this, false, why);
}

// However a link ended: what waited for it is told.
void LeafClient::end_link(const Error& why) {
  const bool had_link = link_ != nullptr;
  if (had_link) link_->close(why);
  link_.reset();
  timer_.cancel();
  if (state_ == State::serving) state_ = State::waiting;
  if (had_link && !told_up_ && why.code == Errc::protocol) {
    listener_(*this, false, why);
  } else {
    tell_down(why);
  }
  pending_.lose_all();
}

// One link, until it ends, or did not begin; returns why.
asio::awaitable<Error> LeafClient::serve_link() {
  if (state_ != State::stopped) state_ = State::connecting;
  const auto endpoint = co_await wire::resolve_address(leaf_.address);
  if (endpoint.has_error()) co_return endpoint.error();
  auto link = co_await wire::connect_link(*endpoint, settings_.link);
  if (link.has_error()) co_return link.error();
  if (state_ == State::stopped) {
    (*link)->close({Errc::cancelled, "stopping"});
    co_return Error{Errc::cancelled, "stopping"};
  }
  link_ = *link;
  wire::Hello hello;
  hello.name = "root";
  hello.sent_at_ns = clock_now().time_since_epoch().count();
  link_->send(hello);

  co_return co_await link_->run([this](wire::Message&& message) { return on_message(std::move(message)); });
}

result<void> LeafClient::on_message(wire::Message&& message) {
  if (const auto* hello = std::get_if<wire::Hello>(&message)) return on_hello(*hello);
  if (state_ != State::serving && state_ != State::stopped) return Error{Errc::protocol, "a message before the hello"};
  std::visit(
      [this](const auto& m) {
        if constexpr (requires { m.load; }) load_ = m.load;
      },
      message);
  if (!pending_.deliver(std::move(message))) return Error{Errc::protocol, "an answer to no call"};
  if (state_ == State::stopped && pending_.size() == 0) stop();  // retired, and the last call is answered
  return {};
}

result<void> LeafClient::on_hello(const wire::Hello& hello) {
  const auto mismatch = [](const std::string& what) { return Error{Errc::protocol, what}; };
  if (state_ == State::stopped) return Error{Errc::cancelled, "the root is done with this leaf"};
  if (state_ == State::serving) return mismatch("a second hello");
  if (hello.version != wire::protocol_version) {
    return mismatch("the leaf speaks protocol version " + std::to_string(hello.version) + ", this root " +
                    std::to_string(wire::protocol_version));
  }
  if (hello.collection != manifest_.collection || hello.generation != manifest_.generation) {
    return mismatch("the leaf serves generation " + std::to_string(hello.generation.value) + " of '" + hello.collection +
                    "', this root asks for generation " + std::to_string(manifest_.generation.value) + " of '" +
                    manifest_.collection + "'");
  }
  for (const auto partition : leaf_.partitions) {
    if (std::find(hello.partitions.begin(), hello.partitions.end(), partition) == hello.partitions.end()) {
      log_event(LogLevel::warning, "leaf_lacks_partition", {{"leaf", leaf_.name}, {"partition", partition.value}});
    }
  }
  if (leaf_.spelling && !hello.spelling) log_event(LogLevel::warning, "leaf_lacks_spelling", {{"leaf", leaf_.name}});
  state_ = State::serving;
  last_error_.clear();
  ++links_;
  told_up_ = true;
  listener_(*this, true, {});
  return {};
}

std::optional<CallId> LeafClient::send_call(wire::Message&& message, CallId call) {
  const std::size_t bytes = link_->send(message);
  pending_.add_weight(call, bytes);
  if (pending_.unanswered_bytes() > settings_.unanswered_bytes) {
    link_->close({Errc::too_large, "more than " + std::to_string(settings_.unanswered_bytes) +
                                       " bytes of calls are unanswered"});
  }
  return call;
}

void LeafClient::abandon(CallId call, wire::CallObserver* heir) { pending_.abandon(call, heir); }

void LeafClient::cancel(CallId call, std::vector<PartitionId> partitions) {
  if (link_) link_->send(wire::Cancel{call, std::move(partitions)});
}

void LeafClient::drop(Error why) {
  if (link_) link_->close(std::move(why));
}

LeafClient::Status LeafClient::status() const {
  return {state_, last_error_, links_, pending_.size(), pending_.unanswered_bytes(), pending_.late_messages(), load_};
}

}  // namespace hedgerow::root
