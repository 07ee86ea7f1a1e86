// Where the queries of a simulated root wait until they are let in: the host of policy::Admission in virtual time, as
// root/waiting_room is on Asio. Each simulated root that admits has one, and asks it after every event.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/random.hpp"
#include "root/policy/cluster/admission.hpp"

namespace hedgerow::lab::simulation {

class SimulatedWaitingRoom {
 public:
  struct Guest {
    std::size_t shape = 0;
    bool measured = false;
    Instant arrived;
    Duration given{};  // until its deadline
    ServiceClass service_class = ServiceClass::interactive;
    Instant give_up = Instant::max();  // of one that waited
  };

  // The load outlives this.
  SimulatedWaitingRoom(const policy::AdmissionSettings& settings, const policy::ClusterLoad& load, Random random)
      : admission_(settings, load, random) {}

  // Whether it is let in at once, refused, or waits until the verdict's give_up.
  policy::Admission::Verdict on_arrival(const Guest& guest, Instant now) {
    const auto verdict = admission_.on_arrival({guest.service_class, guest.arrived, guest.arrived + guest.given}, now);
    if (verdict.entry == policy::Admission::Entry::waits) waiting_.emplace(verdict.number, guest).first->second.give_up = verdict.give_up;
    return verdict;
  }
  // After every event until nullopt: who waited and is let in now.
  std::optional<Guest> next(Instant now) {
    const auto number = admission_.next(now);
    if (!number) return std::nullopt;
    return take(*number);
  }
  // Its time is over; nullopt: it was let in before.
  std::optional<Guest> give_up(policy::Admission::Number number, Instant now) {
    const auto guest = take(number);
    if (guest) admission_.on_left(number, true, now);
    return guest;
  }
  void on_ended(const policy::Admission::Ended& ended, Instant now) { admission_.on_ended(ended, now); }

  std::size_t waiting() const { return waiting_.size(); }
  const policy::Admission& admission() const { return admission_; }

 private:
  std::optional<Guest> take(policy::Admission::Number number) {
    auto found = waiting_.extract(number);
    if (found.empty()) return std::nullopt;
    return found.mapped();
  }

  policy::Admission admission_;
  std::map<policy::Admission::Number, Guest> waiting_;
};

}  // namespace hedgerow::lab::simulation
