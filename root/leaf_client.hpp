// The root's side of one leaf: keeps a link to it, connects again when it breaks, and makes calls.
//
// On the root's thread. Owned by Cluster through shared_ptr; queries hold it while their calls are open. A leaf is
// serving from its hello (right version, collection and generation) until its link ends.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "index/manifest.hpp"
#include "root/topology.hpp"
#include "wire/link.hpp"
#include "wire/messages.hpp"
#include "wire/pending_calls.hpp"

namespace hedgerow::root {

struct LeafClientSettings {
  wire::LinkSettings link;
  // Between two tries to connect: doubled from the first to the longest, with chance in it. After the peer broke the
  // protocol, the longest at once.
  Duration first_pause = std::chrono::milliseconds(20);
  Duration longest_pause = std::chrono::milliseconds(500);
  // Calls that a leaf has not answered may weigh this much; beyond, the link is closed.
  std::size_t unanswered_bytes = 4 << 20;
  // A leaf that left the topology may answer its open calls for this long: as long as any query can last, and some air.
  Duration farewell = std::chrono::seconds(70);
  // Of the chance in the pauses: another one for every root, so that they do not all come at once.
  std::uint64_t seed = 0;
};

class LeafClient : public std::enable_shared_from_this<LeafClient> {
 public:
  enum class State { connecting, serving, waiting, mismatched, stopped };

  // Called at the moments when a leaf begins and stops to serve, and when a link ended because the leaf broke the
  // protocol before it served; why is empty for up, and cancelled after stop and retire.
  using StateListener = std::function<void(LeafClient&, bool up, const Error& why)>;

  LeafClient(boost::asio::any_io_executor executor, LeafId id, TopologyLeaf leaf, const Manifest& manifest,
             LeafClientSettings settings, StateListener listener);

  // Connects, serves and connects again, until stop.
  boost::asio::awaitable<void> run();
  // Ends the link at once; its open calls are lost.
  void stop();
  // Makes no new calls; ends the link once the open ones are answered.
  void retire();

  LeafId id() const { return id_; }
  const TopologyLeaf& leaf() const { return leaf_; }
  State state() const { return state_; }
  bool serving() const { return state_ == State::serving; }
  // Why the last try to reach the leaf ended; empty while it serves.
  const std::string& last_error() const { return last_error_; }

  // Sends a call (any message of a kind that wants answers, so many of them) on behalf of an observer, who gets
  // on_call_message until it is over, or on_call_lost. The message's call id is filled in. nullopt: the leaf is not
  // serving.
  template <class Call>
  std::optional<CallId> call(Call message, wire::CallObserver& observer, std::size_t answers = 1) {
    if (!serving()) return std::nullopt;
    message.call = pending_.open(observer, answers);
    return send_call(std::move(message), message.call);
  }
  // The observer does not want to hear of this call any more; who inherits it (null: nobody) does.
  void abandon(CallId call, wire::CallObserver* heir = nullptr);
  // The leaf is told to stop work of the call: that of these partitions, or all of it.
  void cancel(CallId call, std::vector<PartitionId> partitions);
  // The leaf answered what the protocol does not allow: ends the link, for that reason.
  void drop(Error why);

  struct Status {
    State state;
    std::string last_error;
    std::uint64_t links = 0;  // how often a link came up
    std::size_t open_calls = 0;
    std::size_t unanswered_bytes = 0;
    std::uint64_t late_answers = 0;
    wire::Load load;
  };
  Status status() const;

 private:
  boost::asio::awaitable<Error> serve_link();
  void end_link(const Error& why);
  void tell_down(const Error& why);
  result<void> on_message(wire::Message&& message);
  result<void> on_hello(const wire::Hello& hello);
  std::optional<CallId> send_call(wire::Message&& message, CallId call);
  boost::asio::awaitable<void> pause(Duration time);

  boost::asio::any_io_executor executor_;
  LeafId id_;
  TopologyLeaf leaf_;
  const Manifest& manifest_;
  LeafClientSettings settings_;
  StateListener listener_;
  boost::asio::steady_timer timer_;
  State state_ = State::connecting;
  bool told_up_ = false;  // the listener's last word was up
  std::shared_ptr<wire::Link> link_;
  wire::PendingCalls pending_;
  std::string last_error_;
  std::uint64_t links_ = 0;
  wire::Load load_;
};

std::string_view to_string(LeafClient::State state);

}  // namespace hedgerow::root
