// Optional subsystems in virtual time against leaves that answer, fail, stay silent, and answer twice, drawn from a seed;
// many queries one after another, so that what earlier ones taught has a hand in it. A failure replays from its seed.
#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "policy_fixture.hpp"
#include "root/policy/query/subsystems.hpp"

namespace hedgerow::policy {

namespace {

constexpr std::array kinds{SubsystemKind::spelling, SubsystemKind::snippets, SubsystemKind::facets};

class SubsystemWorld {
 public:
  explicit SubsystemWorld(std::uint64_t seed)
      : random_(seed), silence_(random_.chance(0.5) ? random_.uniform() : 0), failure_(random_.uniform() * 0.7),
        slowness_(random_.chance(0.5) ? 30 : 400), choice_(Random(seed)) {
    for (std::uint32_t i = 0; i < leaves; ++i) {
      if (random_.chance(0.9)) choice_.on_leaf_up(leaf(i));
    }
  }

  void run() {
    for (int i = 0; i < 6; ++i) one_query();
    for (std::uint32_t i = 0; i < leaves; ++i) REQUIRE(choice_.in_flight(leaf(i)) == 0);
  }

 private:
  static constexpr std::uint32_t leaves = 4;
  struct Sent {
    SubsystemKind kind;
    bool over = false;
  };

  Duration milliseconds(double most) { return from_milliseconds(random_.uniform() * most); }
  void schedule(Instant when, std::function<void()> event) { events_.emplace(std::tuple(when, ++order_), std::move(event)); }

  std::vector<Subsystems::Part> parts(std::size_t count) {
    std::vector<Subsystems::Part> out(count);
    for (auto& part : out) {
      for (std::uint32_t i = 0; i < leaves; ++i) {
        if (random_.chance(0.6)) part.replicas.push_back(leaf(i));
      }
      if (!part.replicas.empty() && random_.chance(0.5)) part.preferred = part.replicas.front();
    }
    return out;
  }

  void one_query() {
    deadline_ = now_ + milliseconds(100);
    const Instant final = now_ + milliseconds(120);
    const std::optional<Duration> grace = random_.chance(0.3) ? std::optional(milliseconds(40)) : std::nullopt;
    latest_end_ = std::max(final, std::min(deadline_, final + grace.value_or(Subsystems::default_grace)));
    query_ = std::make_unique<Subsystems>(deadline_, grace, choice_, models_);
    sent_.clear();
    taken_.clear();
    finishes_ = 0;
    settled_ = false;
    used_.clear();
    for (const auto kind : kinds) {
      if (random_.chance(0.3)) continue;
      const bool in_two = kind == SubsystemKind::snippets && random_.chance(0.5);
      const Instant first = kind == SubsystemKind::snippets ? std::min(final, now_ + milliseconds(100)) : now_;
      schedule(first, [this, kind] {
        if (finishes_ == 0) used_.insert(kind);  // else its client went away before
        perform(query_->add(kind, parts(random_.below(6)), now_));
      });
      schedule(in_two ? final : first, [this, kind, in_two] {
        if (in_two) perform(query_->add(kind, parts(random_.below(4)), now_));
        if (in_two && sent_.size() > 0 && has_parts(kind) && random_.chance(0.5)) query_->drop(kind, 0);
        perform(query_->close(kind, now_));
      });
    }
    const bool leaves_early = random_.chance(0.1);
    const Instant gone = now_ + milliseconds(100);
    schedule(final, [this] {
      if (query_->finished()) return;
      settled_ = true;
      perform(query_->settle(now_));
    });
    if (leaves_early) schedule(gone, [this] { perform(query_->abandon(now_)); });
    while (!events_.empty()) {
      auto event = events_.extract(events_.begin());
      now_ = std::get<0>(event.key());
      event.mapped()();
      if (finishes_ == 0 && settled_) REQUIRE(now_ <= latest_end_);  // the host wakes on the dot here
    }
    REQUIRE(finishes_ == 1);
    REQUIRE(query_->finished());
    for (const auto kind : kinds) {
      REQUIRE((query_->status(kind) == SubsystemStatus::off) == !used_.contains(kind));
      REQUIRE(query_->status(kind) == last_status_.at(kind));  // nothing that came later changed it
    }
    for (const auto& [id, one] : sent_) REQUIRE(one.over);
    query_.reset();
  }

  bool has_parts(SubsystemKind kind) const {
    return std::any_of(sent_.begin(), sent_.end(), [&](const auto& one) { return one.second.kind == kind; });
  }

  void perform(const Actions& actions) {
    if (finishes_ > 0) REQUIRE(actions.empty());
    for (const auto& action : actions) {
      REQUIRE(finishes_ == 0);
      if (const auto* parts = std::get_if<SendParts>(&action)) {
        on_send(*parts);
      } else if (const auto* cancel = std::get_if<CancelAttempt>(&action)) {
        REQUIRE_FALSE(sent_.at(cancel->attempt.value).over);
        sent_.at(cancel->attempt.value).over = true;
      } else if (const auto* wake = std::get_if<WakeAt>(&action)) {
        REQUIRE(settled_);
        REQUIRE(wake->at <= latest_end_);
        schedule(std::max(now_, wake->at), [this, query = query_.get(), at = wake->at] {
          if (query != query_.get() || query->finished()) return;
          perform(query->on_wake(now_));
          if (now_ >= at) REQUIRE(query->finished());
        });
      } else if (std::holds_alternative<Finish>(action)) {
        ++finishes_;
        REQUIRE(now_ <= latest_end_);
        for (const auto kind : kinds) last_status_[kind] = query_->status(kind);
      }
    }
  }

  void on_send(const SendParts& parts) {
    REQUIRE(now_ < deadline_);
    REQUIRE(choice_.is_up(parts.leaf));
    REQUIRE_FALSE(parts.places.empty());
    REQUIRE(used_.contains(parts.kind));
    REQUIRE(sent_.emplace(parts.attempt.value, Sent{parts.kind}).second);
    const AttemptId id = parts.attempt;
    if (random_.chance(silence_)) return;
    const Instant when = now_ + milliseconds(slowness_);
    const auto mine = [this, query = query_.get()] { return query == query_.get(); };
    if (random_.chance(failure_)) {
      schedule(when, [this, id, mine] {
        constexpr AttemptFailure failures[] = {AttemptFailure::refused, AttemptFailure::expired, AttemptFailure::failed,
                                               AttemptFailure::bad_query, AttemptFailure::unreachable};
        if (!mine()) return;
        const auto actions = query_->on_failure(id, failures[random_.below(5)], now_);
        sent_.at(id.value).over = true;
        perform(actions);
      });
      return;
    }
    const bool by_parts = random_.chance(0.5);
    for (int twice = random_.chance(0.2) ? 2 : 1; twice > 0; --twice) {
      schedule(when, [this, id, mine, by_parts, kind = parts.kind, places = parts.places] {
        if (!mine()) return;
        if (!by_parts) return take(kind, id, query_->on_answer(id, now_));
        for (const auto place : places) take(kind, id, query_->on_answer(id, place, now_));
      });
    }
  }

  void take(SubsystemKind kind, AttemptId id, const Subsystems::AnswerVerdict& verdict) {
    if (finishes_ > 0) REQUIRE(verdict.take.empty());
    for (const auto place : verdict.take) REQUIRE(taken_.insert({kind, place}).second);  // each part once
    if (query_->open_places(id).empty()) sent_.at(id.value).over = true;
    perform(verdict.actions);
  }

  Random random_;
  double silence_, failure_, slowness_;
  ReplicaChoice choice_;
  SubsystemModels models_;
  Instant now_ = at(0ms);
  Instant deadline_, latest_end_;
  std::unique_ptr<Subsystems> query_;
  std::map<std::uint32_t, Sent> sent_;
  std::set<std::pair<SubsystemKind, std::size_t>> taken_;
  std::set<SubsystemKind> used_;
  std::map<SubsystemKind, SubsystemStatus> last_status_;
  int finishes_ = 0;
  bool settled_ = false;
  std::uint64_t order_ = 0;
  std::map<std::tuple<Instant, std::uint64_t>, std::function<void()>> events_;
};

}  // namespace

TEST_CASE("optional subsystems keep their invariants whatever leaves do") {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    CAPTURE(seed);
    SubsystemWorld(seed).run();
  }
}

}  // namespace hedgerow::policy
