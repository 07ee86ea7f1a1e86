// Second phases in virtual time against leaves that answer, fail and stay silent, drawn from a seed.

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "policy_fixture.hpp"

namespace hedgerow::policy {

namespace {

class SecondPhaseSimulation {
 public:
  explicit SecondPhaseSimulation(std::uint64_t seed)
      : random_(seed), silence_(random_.chance(0.6) ? random_.uniform() : 0), failure_(random_.uniform() * 0.8),
        deadline_(at(from_milliseconds(random_.uniform() * 20))),
        patience_(from_milliseconds(random_.uniform() * 20)), choice_(Random(seed)) {
    for (std::uint32_t i = 0; i < leaves; ++i) {
      if (random_.chance(0.8)) choice_.on_leaf_up(leaf(i));
    }
    const auto hits = random_.below(12);
    for (std::uint64_t i = 0; i < hits; ++i) {
      SecondPhase::Hit hit{leaf(static_cast<std::uint32_t>(random_.below(leaves))), {}};
      for (std::uint32_t l = 0; l < leaves; ++l) {
        if (leaf(l) == hit.found_by || random_.chance(0.3)) hit.replicas.push_back(leaf(l));
      }
      hits_.push_back(std::move(hit));
    }
    taken_.assign(hits_.size(), 0);
    asked_.resize(hits_.size());
    phase_ = std::make_unique<SecondPhase>(hits_, deadline_, patience_, choice_);
  }

  void run() {
    perform(phase_->start(now_));
    while (!events_.empty()) {
      auto event = events_.extract(events_.begin());
      now_ = std::get<0>(event.key());
      event.mapped()();
    }
    REQUIRE(phase_->finished());
    REQUIRE(finishes_ == 1);
    bool all = true;
    for (std::size_t i = 0; i < hits_.size(); ++i) {
      REQUIRE(phase_->has(i) == (taken_[i] == 1));
      all = all && phase_->has(i);
    }
    REQUIRE((reason_ == FinishReason::complete) == all);
    phase_.reset();
    for (std::uint32_t i = 0; i < leaves; ++i) REQUIRE(choice_.in_flight(leaf(i)) == 0);
  }

 private:
  static constexpr std::uint32_t leaves = 4;

  void schedule(Instant when, std::function<void()> event) { events_.emplace(std::tuple(when, ++order_), std::move(event)); }

  void perform(const Actions& actions) {
    if (finishes_ > 0) REQUIRE(actions.empty());
    for (const auto& action : actions) {
      REQUIRE(finishes_ == 0);
      if (const auto* fetch = std::get_if<SendFetch>(&action)) {
        on_send(*fetch);
      } else if (const auto* wake = std::get_if<WakeAt>(&action)) {
        schedule(std::max(now_, wake->at), [this] {
          perform(phase_->on_wake(now_));
          if (now_ >= deadline_) REQUIRE(phase_->finished());
        });
      } else if (const auto* finish = std::get_if<Finish>(&action)) {
        ++finishes_;
        reason_ = finish->reason;
      }
    }
  }

  void on_send(const SendFetch& fetch) {
    REQUIRE(now_ < deadline_);
    REQUIRE(choice_.is_up(fetch.leaf));
    REQUIRE_FALSE(fetch.places.empty());
    REQUIRE(phase_->places_of(fetch.attempt) == fetch.places);
    for (const auto place : fetch.places) {
      const auto& replicas = hits_.at(place).replicas;
      REQUIRE(std::find(replicas.begin(), replicas.end(), fetch.leaf) != replicas.end());
      REQUIRE(asked_[place].insert(fetch.leaf).second);
      REQUIRE_FALSE(phase_->has(place));
    }
    const AttemptId id = fetch.attempt;
    if (random_.chance(silence_)) return;
    const Instant when = now_ + from_milliseconds(random_.uniform() * 15);
    if (random_.chance(failure_)) {
      schedule(when, [this, id] { perform(phase_->on_failure(id, now_)); });
      return;
    }
    schedule(when, [this, id] {
      const auto verdict = phase_->on_answer(id, now_);
      for (const auto place : verdict.take) REQUIRE(++taken_[place] == 1);
      if (finishes_ > 0) REQUIRE(verdict.take.empty());
      perform(verdict.actions);
    });
  }

  Random random_;
  double silence_, failure_;
  Instant now_ = at(0ms);
  Instant deadline_;
  Duration patience_;
  ReplicaChoice choice_;
  std::vector<SecondPhase::Hit> hits_;
  std::unique_ptr<SecondPhase> phase_;
  std::vector<int> taken_;
  std::vector<std::set<LeafId>> asked_;
  int finishes_ = 0;
  FinishReason reason_{};
  std::uint64_t order_ = 0;
  std::map<std::tuple<Instant, std::uint64_t>, std::function<void()>> events_;
};

}  // namespace

TEST_CASE("second phases keep their invariants whatever leaves do") {
  for (std::uint64_t seed = 1; seed <= 5000; ++seed) {
    CAPTURE(seed);
    SecondPhaseSimulation(seed).run();
  }
}

}  // namespace hedgerow::policy
