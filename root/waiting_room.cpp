#include "root/waiting_room.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/steady_clock.hpp"

namespace hedgerow::root {

namespace asio = boost::asio;
using policy::Admission;

namespace {

std::size_t index(ServiceClass service_class) { return static_cast<std::size_t>(service_class); }

}  // namespace

// One query that waits; lives in its coroutine.
struct WaitingRoom::Waiter {
  explicit Waiter(const asio::any_io_executor& executor) : timer(executor) {}
  asio::steady_timer timer;
  bool admitted = false;
  bool gone = false;
};

WaitingRoom::WaitingRoom(asio::any_io_executor executor, const policy::AdmissionSettings& settings, const policy::ClusterLoad& load,
                         std::uint64_t seed, Metrics& metrics)
    : executor_(std::move(executor)), metrics_(metrics), admission_(settings, load, Random(seed)) {
  tell();
}

WaitingRoom::Place::Place(WaitingRoom& room, ServiceClass service_class, Duration given) : room_(&room) {
  const Instant now = clock_now();
  shedding_ = room.admission_.shedding(service_class, now);
  end_ = {.service_class = service_class, .admitted = now, .given = given};
}

WaitingRoom::Place::Place(Place&& other) noexcept
    : room_(std::exchange(other.room_, nullptr)), shedding_(other.shedding_), end_(other.end_) {}

WaitingRoom::Place::~Place() {
  if (room_) room_->leave(end_);
}

void WaitingRoom::Place::ended(bool at_deadline, bool answered_all, double answered) {
  end_.ran = true;
  end_.at_deadline = at_deadline;
  end_.answered_all = answered_all;
  end_.answered = answered;
}

asio::awaitable<WaitingRoom::Entered> WaitingRoom::enter(ServiceClass service_class, Instant received, Instant deadline,
                                                         wire::ClientWatch* client) {
  probe();
  const auto verdict = admission_.on_arrival({service_class, received, deadline}, clock_now());
  std::shared_ptr<Waiter> waiter;
  if (verdict.entry == Admission::Entry::waits) {
    waiter = std::make_shared<Waiter>(executor_);
    waiters_.emplace(verdict.number, waiter.get());
  }
  // It may be this one's turn already.
  call();
  if (verdict.entry == Admission::Entry::admitted) co_return Place(*this, service_class, deadline - received);
  if (verdict.entry == Admission::Entry::refused) {
    metrics_.queries_refused_on_arrival[index(service_class)]->Increment();
    co_return refusal(service_class, clock_now());
  }

  if (client) {
    client->on_gone([weak = std::weak_ptr(waiter)] {
      const auto alive = weak.lock();
      if (!alive) return;
      alive->gone = true;
      alive->timer.cancel();
    });
  }
  const Instant began = clock_now();
  waiter->timer.expires_at(verdict.give_up);
  // A cancel that comes before this line has nothing to cancel, but leaves its mark.
  if (!waiter->admitted && !waiter->gone) {
    tell();
    co_await waiter->timer.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  waiters_.erase(verdict.number);
  const Instant now = clock_now();
  metrics_.waiting_seconds[index(service_class)]->Observe(to_seconds(now - began));
  if (waiter->admitted) {
    Place place(*this, service_class, deadline - received);
    if (waiter->gone) co_return SearchRefusal{499, "client-gone", "The client closed the connection.", {}, {}, ""};
    co_return Entered(std::move(place));
  }
  admission_.on_left(verdict.number, !waiter->gone, now);
  call();
  if (waiter->gone) co_return SearchRefusal{499, "client-gone", "The client closed the connection.", {}, {}, ""};
  metrics_.queries_refused_after_waiting[index(service_class)]->Increment();
  co_return refusal(service_class, now);
}

SearchRefusal WaitingRoom::refusal(ServiceClass service_class, Instant now) {
  const std::string words = service_class == ServiceClass::batch
                                ? "There are as many batch queries as can be worked on; this one could not be begun in time."
                                : "There are as many queries as can be answered in time; this one could not.";
  return {503, "overloaded", words, {}, admission_.retry_after_seconds(now), ""};
}

void WaitingRoom::leave(const Admission::Ended& ended) {
  admission_.on_ended(ended, clock_now());
  call();
}

void WaitingRoom::call() {
  while (const auto number = admission_.next(clock_now())) {
    Waiter& waiter = *waiters_.at(*number);
    waiter.admitted = true;
    waiter.timer.cancel();
  }
  tell();
}

void WaitingRoom::probe() {
  if (probing_) return;
  probing_ = true;
  asio::post(executor_, [this, posted = clock_now()] {
    probing_ = false;
    const Instant now = clock_now();
    admission_.on_lag(now - posted, now);
    call();
  });
}

void WaitingRoom::tell() {
  metrics_.admission_limit.Set(static_cast<double>(admission_.limit()));
  metrics_.admission_level.Set(static_cast<double>(admission_.level(clock_now())));
  metrics_.queries_in_flight.Set(
      static_cast<double>(admission_.in_flight(ServiceClass::interactive) + admission_.in_flight(ServiceClass::batch)));
  for (const auto service_class : {ServiceClass::interactive, ServiceClass::batch}) {
    metrics_.queries_waiting[index(service_class)]->Set(static_cast<double>(admission_.waiting(service_class)));
  }
}

}  // namespace hedgerow::root
