#include "leaf/twin_links.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <utility>

#include "base/log.hpp"
#include "base/steady_clock.hpp"
#include "wire/http_client.hpp"

namespace hedgerow::leaf {

namespace asio = boost::asio;

TwinLinks::TwinLinks(asio::io_context& io, std::string own_name, TwinLinkSettings settings, Metrics& metrics)
    : io_(io), own_name_(std::move(own_name)), settings_(settings), metrics_(metrics) {
  settings_.link.send_queue_bytes = 2 * settings_.behind_bytes;
}

bool TwinLinks::tell(const std::string& address, std::uint64_t tie, std::function<void()> relay, Instant now) {
  if (closed_) return false;
  const auto twin = twin_at(address);
  if (!twin) return false;
  twin->last_told = now;
  if (!twin->running) {
    if (now < twin->rest_until) return false;
    twin->running = true;
    ++open_;
    asio::co_spawn(io_, serve(twin), asio::detached);
  }
  if (!twin->greeted || twin->link->waiting_bytes() > settings_.behind_bytes) return false;
  if (twin->link->send(wire::TieStarted{tie, {}, {}}) == 0) return false;

  auto& doubted = twin->doubted;
  while (!doubted.empty() && (doubted.size() >= settings_.most_doubted || now - doubted.front().told > settings_.doubt)) {
    doubted.pop_front();
  }
  doubted.push_back({now, std::move(relay)});
  return true;
}

std::shared_ptr<TwinLinks::Twin> TwinLinks::twin_at(const std::string& address) {
  if (const auto found = twins_.find(address); found != twins_.end()) return found->second;
  if (twins_.size() >= settings_.most_leaves) {
    // Of those without a link, the one that was not told anything for the longest.
    auto oldest = twins_.end();
    for (auto each = twins_.begin(); each != twins_.end(); ++each) {
      if (each->second->running) continue;
      if (oldest == twins_.end() || each->second->last_told < oldest->second->last_told) oldest = each;
    }
    if (oldest == twins_.end()) return nullptr;
    twins_.erase(oldest);
  }
  return twins_.emplace(address, std::make_shared<Twin>(io_, address)).first->second;
}

asio::awaitable<void> TwinLinks::serve(std::shared_ptr<Twin> twin) {
  const auto self = shared_from_this();
  Error why;
  try {
    why = co_await serve_link(twin);
  } catch (const std::exception& problem) {
    why = {Errc::internal, problem.what()};
  }
  const bool was_up = std::exchange(twin->greeted, false);
  if (twin->link) twin->link->close(why);
  twin->link.reset();
  twin->idle.cancel();
  twin->running = false;
  --open_;
  if (was_up) metrics_.twin_links_out.Decrement();
  const Instant now = clock_now();
  if (why.code != Errc::cancelled) {
    twin->pause = was_up ? settings_.first_pause
                         : std::clamp(2 * twin->pause, settings_.first_pause, settings_.longest_pause);
    twin->rest_until = now + twin->pause;
    log_event(LogLevel::info, "twin_not_reached", {{"address", twin->address}, {"reason", to_string(why)}});
  }
  const auto doubted = std::exchange(twin->doubted, {});
  if (closed_) co_return;
  for (const auto& each : doubted) {
    if (now - each.told <= settings_.doubt) each.relay();
  }
}

asio::awaitable<Error> TwinLinks::serve_link(std::shared_ptr<Twin> twin) {
  const Error closed{Errc::cancelled, "stopping"};
  const auto endpoint = co_await wire::resolve_address(twin->address);
  if (endpoint.has_error()) co_return endpoint.error();
  if (closed_) co_return closed;
  auto link = co_await wire::connect_link(*endpoint, settings_.link);
  if (link.has_error()) co_return link.error();
  if (closed_) {
    (*link)->close(closed);
    co_return closed;
  }
  twin->link = *link;
  wire::Hello hello;
  hello.name = own_name_;
  hello.sent_at_ns = clock_now().time_since_epoch().count();
  hello.twin = true;
  twin->link->send(hello);
  close_when_idle(twin);
  co_return co_await (*link)->run([this, &twin](wire::Message&& message) { return on_message(*twin, message); });
}

result<void> TwinLinks::on_message(Twin& twin, const wire::Message& message) {
  const auto* hello = std::get_if<wire::Hello>(&message);
  if (!hello || twin.greeted) return Error{Errc::protocol, "a leaf says more to another leaf than hello"};
  if (hello->version != wire::protocol_version) {
    return Error{Errc::protocol, "the leaf speaks protocol version " + std::to_string(hello->version)};
  }
  twin.greeted = true;
  metrics_.twin_links_out.Increment();
  return {};
}

void TwinLinks::close_when_idle(const std::shared_ptr<Twin>& twin) {
  twin->idle.expires_at(twin->last_told + settings_.keep);
  twin->idle.async_wait([this, weak = std::weak_ptr(twin), self = weak_from_this()](boost::system::error_code error) {
    const auto owner = self.lock();
    const auto idle = weak.lock();
    if (error || !owner || !idle || !idle->link) return;
    if (clock_now() - idle->last_told < settings_.keep) return close_when_idle(idle);
    idle->link->close({Errc::cancelled, "nothing was told for long"});
  });
}

void TwinLinks::close() {
  closed_ = true;
  for (const auto& [address, twin] : twins_) {
    if (twin->link) twin->link->close({Errc::cancelled, "stopping"});
  }
}

}  // namespace hedgerow::leaf
