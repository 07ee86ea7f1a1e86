#include "leaf/tie_book.hpp"

namespace hedgerow::leaf {

TieBook::Arrival TieBook::on_copy(std::uint64_t tie, Drop drop, Instant now) {
  forget_old(now);
  const auto found = ties_.find(tie);
  if (found == ties_.end()) {
    ties_.emplace(tie, Known{State::waiting, std::move(drop)});
    return Arrival::queue;
  }
  if (found->second.state != State::twin_started) return Arrival::known;
  ties_.erase(found);
  return Arrival::twin_started;
}

bool TieBook::on_begun(std::uint64_t tie, Instant now) {
  forget_old(now);
  const auto found = ties_.find(tie);
  if (found == ties_.end() || found->second.state != State::waiting) return false;
  remember(tie, found->second, State::begun, now);
  return true;
}

void TieBook::on_ended(std::uint64_t tie) {
  const auto found = ties_.find(tie);
  if (found != ties_.end() && found->second.state == State::waiting) ties_.erase(found);
}

TieBook::News TieBook::on_twin_started(std::uint64_t tie, Instant now) {
  forget_old(now);
  const auto found = ties_.find(tie);
  if (found == ties_.end()) {
    remember(tie, ties_[tie], State::twin_started, now);
    return News::remembered;
  }
  switch (found->second.state) {
    case State::waiting: {
      const auto drop = std::move(found->second.drop);
      ties_.erase(found);  // before the copy is answered: that ends its call
      const Dropped dropped = drop();
      if (dropped != Dropped::running) return dropped == Dropped::yes ? News::dropped : News::remembered;
      remember(tie, ties_[tie], State::raced, now);
      return News::raced;
    }
    case State::begun: found->second.state = State::raced; return News::raced;
    case State::twin_started:
    case State::raced: break;
  }
  return News::known;
}

void TieBook::remember(std::uint64_t tie, Known& known, State state, Instant now) {
  known = {state, {}, ++marks_};
  remembered_.push_back({tie, known.mark, now + settings_.memory});
  if (remembered_.size() > settings_.most_remembered) forget_oldest();
}

void TieBook::forget_old(Instant now) {
  while (!remembered_.empty() && remembered_.front().until <= now) forget_oldest();
}

void TieBook::forget_oldest() {
  const auto found = ties_.find(remembered_.front().tie);
  // Another mark: what was remembered is over, and the tie has been named again since.
  if (found != ties_.end() && found->second.mark == remembered_.front().mark) ties_.erase(found);
  remembered_.pop_front();
}

}  // namespace hedgerow::leaf
