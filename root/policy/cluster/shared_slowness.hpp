// Whether most leaves are slow at once. Pure.
//
// Intuition: a hedge helps when the replica that it asks is not stuck behind the same thing. When most leaves are late
// at once (a heavy query, a shared disk or network, too much load), hedging everything only doubles the load (loki#4826).
// One sick leaf, however slow, is not the cluster: so leaves are counted, not attempts.
//
// Of each leaf a short memory of its latest attempts is kept, each overdue or in time (by a delay that nearly all attempts
// used to keep); the leaf is late when most of them were overdue. Slowness is shared from when more than half of the
// leaves heard of lately are late, until fewer than a quarter (or only one) have been for half a second.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "base/clock.hpp"
#include "base/ids.hpp"

namespace hedgerow::policy {

class SharedSlowness {
 public:
  void on_overdue(LeafId leaf, Instant now) { note(leaf, 1, now); }
  void on_in_time(LeafId leaf, Instant now) { note(leaf, 0, now); }
  // What was told so far has no meaning any more, for instance because another delay is used.
  void forget();

  bool lasts() const { return lasts_; }
  // Of the leaves heard of lately, the share that was late when last looked at.
  double late_share() const { return late_share_; }
  // When it began, if it lasts.
  Instant since() const { return since_; }

 private:
  struct Leaf {
    double overdue = 0;  // of its latest attempts
    Instant heard{};
  };
  void note(LeafId leaf, double overdue, Instant now);
  void look_around(Instant now);

  // Leaves count that were heard of since the earliest of these attempts, or within the last half second.
  static constexpr std::size_t evidence = 16;

  std::vector<Leaf> leaves_;
  std::array<Instant, evidence> latest_{};
  std::size_t noted_ = 0;
  Instant looked_{};
  bool lasts_ = false;
  double late_share_ = 0;
  Instant since_{}, last_widespread_{};
};

}  // namespace hedgerow::policy
