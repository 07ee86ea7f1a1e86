// A link: one WebSocket between two processes that carries messages both ways.
//
// Owned through shared_ptr by whoever runs it, and used on its executor's thread only. One reader (run), one writer
// (started by send, never two at once). What happens beyond the bounds: a send that would make the queue longer than
// its bound closes the link; a frame longer than its bound does too. A peer that is silent for the idle time, not even
// answering pings, is given up. Reconnecting belongs to root/leaf_client, correlation to pending_calls.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "wire/messages.hpp"

namespace hedgerow::wire {

struct LinkSettings {
  // How long connecting and the WebSocket handshake may take, together.
  Duration connect_time = std::chrono::milliseconds(500);
  // A peer from which nothing came for this long is gone; half-way through it is pinged.
  Duration idle_time = std::chrono::seconds(1);
  // Bytes waiting to be sent; beyond, the link is closed.
  std::size_t send_queue_bytes = 8 << 20;
  // The largest frame that is read; beyond, the link is closed.
  std::size_t frame_bytes = 16 << 20;
};

// The path at which leaves and roots offer links.
constexpr const char* link_path = "/v1/link";

class Link {
 public:
  virtual ~Link() = default;

  // Queues a message and sees to it that it is sent. Returns the bytes it takes on the wire, or 0 when the link is
  // closed or the queue's bound closed it just now.
  virtual std::size_t send(const Message& message) = 0;

  // Queues bytes that are no message, behind a break code: the peer will end the link. For injected faults.
  virtual void send_garbage(std::string_view bytes) = 0;

  // Bytes in the queue: what its bound bounds.
  virtual std::size_t waiting_bytes() const = 0;

  // Reads until the link ends, handing each message on; returns why it ended: expired (the peer was silent, or is cut
  // off), unavailable (it closed the link, or its process died), or what ended it here. Called once. An error of the
  // handler's (a peer that breaks the protocol) ends the link.
  using Handler = std::function<result<void>(Message&&)>;
  virtual boost::asio::awaitable<Error> run(Handler handler) = 0;

  // Ends the link at once, without the closing handshake: run returns soon after, with this reason.
  virtual void close(Error reason) = 0;

  virtual std::string peer() const = 0;
};

// Errors: unavailable (nobody there, or too slow), protocol (not a WebSocket of ours).
boost::asio::awaitable<result<std::shared_ptr<Link>>> connect_link(boost::asio::ip::tcp::endpoint endpoint,
                                                                   LinkSettings settings);

}  // namespace hedgerow::wire
