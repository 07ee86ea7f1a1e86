// Links to other leaves, over which this leaf says that tied work has begun here.
//
// A link is opened when a leaf is first to be told something, kept while it is used, and closed when nothing was told for
// long. Nothing waits for a link: what cannot be told at once goes to the root instead (see tell), as does what was told
// just before a link broke. A leaf that cannot be reached is tried again after a pause that doubles. Addresses come from
// roots: a bounded number of them is kept, and those that are not up make room for new ones.
//
// On the I/O thread, owned by the server through shared_ptr, which waits for `open` to become 0 after close.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "leaf/metrics.hpp"
#include "wire/link.hpp"

namespace hedgerow::leaf {

struct TwinLinkSettings {
  wire::LinkSettings link;
  std::size_t most_leaves = 256;
  // Closed when nothing was told for so long.
  Duration keep = std::chrono::minutes(1);
  // Between two tries: doubled from the first to the longest.
  Duration first_pause = std::chrono::milliseconds(50);
  Duration longest_pause = std::chrono::seconds(10);
  // Bytes waiting to be sent, beyond which the root tells it sooner; half of what the link itself bears.
  std::size_t behind_bytes = 32 << 10;
  // What was told so shortly before a link broke may not have arrived: it goes to the root as well. At most so much of it.
  Duration doubt = std::chrono::seconds(1);
  std::size_t most_doubted = 256;
};

class TwinLinks : public std::enable_shared_from_this<TwinLinks> {
 public:
  TwinLinks(boost::asio::io_context& io, std::string own_name, TwinLinkSettings settings, Metrics& metrics);

  // Tells the leaf at an address that tied work has begun. False: it cannot be told now (the next one perhaps can). relay
  // is called at most once, when the link breaks soon after.
  bool tell(const std::string& address, std::uint64_t tie, std::function<void()> relay, Instant now);

  // Ends all links and opens no more.
  void close();
  // Links that are up, or about to be.
  std::size_t open() const { return open_; }
  std::size_t leaves() const { return twins_.size(); }

 private:
  struct Doubted {
    Instant told;
    std::function<void()> relay;
  };
  struct Twin {
    Twin(boost::asio::io_context& io, std::string at) : address(std::move(at)), idle(io) {}
    const std::string address;
    bool running = false;             // its coroutine is
    std::shared_ptr<wire::Link> link; // once connected
    bool greeted = false;             // and told that it speaks as we do
    Instant rest_until{};
    Duration pause{};
    Instant last_told{};
    std::deque<Doubted> doubted;
    boost::asio::steady_timer idle;
  };

  std::shared_ptr<Twin> twin_at(const std::string& address);
  boost::asio::awaitable<void> serve(std::shared_ptr<Twin> twin);
  boost::asio::awaitable<Error> serve_link(std::shared_ptr<Twin> twin);
  result<void> on_message(Twin& twin, const wire::Message& message);
  void close_when_idle(const std::shared_ptr<Twin>& twin);

  boost::asio::io_context& io_;
  std::string own_name_;
  TwinLinkSettings settings_;
  Metrics& metrics_;
  std::unordered_map<std::string, std::shared_ptr<Twin>> twins_;
  std::size_t open_ = 0;
  bool closed_ = false;
};

}  // namespace hedgerow::leaf
