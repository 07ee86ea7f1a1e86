// Where queries wait until they are let in: the Asio host of policy/cluster/admission.
//
// On the root's thread, owned by the query service, which every query enters before anything else is done for it. What
// is let in holds a Place until it is answered. What waits costs a timer; it is ended when its turn comes, when it could
// not be begun in time any more (refused), or when its client goes away.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/system/result.hpp>
#include <unordered_map>

#include "root/answer.hpp"
#include "root/metrics.hpp"
#include "root/policy/cluster/admission.hpp"
#include "wire/http.hpp"

namespace hedgerow::root {

class WaitingRoom {
 public:
  // The load and the metrics outlive this; this outlives every Place.
  WaitingRoom(boost::asio::any_io_executor executor, const policy::AdmissionSettings& settings, const policy::ClusterLoad& load,
              std::uint64_t seed, Metrics& metrics);
  WaitingRoom(const WaitingRoom&) = delete;
  WaitingRoom& operator=(const WaitingRoom&) = delete;

  // A query in flight, for as long as it lives.
  class Place {
   public:
    Place(WaitingRoom& room, ServiceClass service_class, Duration given);
    Place(Place&& other) noexcept;
    Place& operator=(Place&&) = delete;
    ~Place();

    const policy::Admission::Shedding& shedding() const { return shedding_; }
    // What its leaves made of it, where they were asked: admission learns from it.
    void ended(bool at_deadline, bool answered_all, double answered);

   private:
    WaitingRoom* room_;
    policy::Admission::Shedding shedding_;
    policy::Admission::Ended end_;
  };
  // Lets it in, perhaps after a while, or says why not. client may be null.
  using Entered = boost::system::result<Place, SearchRefusal>;
  boost::asio::awaitable<Entered> enter(ServiceClass service_class, Instant received, Instant deadline, wire::ClientWatch* client);

  const policy::Admission& admission() const { return admission_; }

 private:
  struct Waiter;
  SearchRefusal refusal(ServiceClass service_class, Instant now);
  void leave(const policy::Admission::Ended& ended);
  // Lets in whose turn it is.
  void call();
  // Measures how far the thread is behind its events: how long it takes until something that could run does.
  void probe();
  void tell();

  boost::asio::any_io_executor executor_;
  Metrics& metrics_;
  policy::Admission admission_;
  std::unordered_map<policy::Admission::Number, Waiter*> waiters_;
  bool probing_ = false;
};

}  // namespace hedgerow::root
