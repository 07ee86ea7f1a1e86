// BM25 that scores a document of a partition as if the partition were the whole collection.
//
// Xapian gives a weighting scheme the statistics of the database at hand. This one takes the average length of the
// whole collection from the query plan, and the global inverse document frequency as the factor of an
// OP_SCALE_WEIGHT around each term (so a term without one would score as if its idf were 1). The arithmetic is that of
// Xapian::BM25Weight in the same order, so a term's part of a score is the same to the last bit.
//
// It also ends a match: get_sumpart, which is called for every document that is scored, throws MatchStopped once the
// stop flag is set. Xapian unwinds cleanly and the database stays usable.
//
// One object per match; the engine clones it per term. Not shared between threads; the flag may be.
#pragma once

#include <xapian.h>

#include <atomic>

#include "index/scoring.hpp"

namespace hedgerow {

struct MatchStopped {};

// What every bound on a weight is multiplied by. The engine subtracts sums of bounds from scores to know what it may
// leave out, and rounding must not make a bound fall below what a document attains. A word that stands almost
// everywhere weighs a millionth of a rare one, so this is far above the rounding of a sum even for that.
inline constexpr double bound_slack = 1 + 1e-6;

class GlobalWeight final : public Xapian::Weight {
 public:
  // average_length > 0; stop may be null.
  GlobalWeight(const Bm25Parameters& parameters, double average_length, const std::atomic<bool>* stop);

  GlobalWeight* clone() const override;
  void init(double factor) override;
  std::string name() const override;
  double get_sumpart(Xapian::termcount wdf, Xapian::termcount length, Xapian::termcount unique) const override;
  double get_maxpart() const override;
  double get_sumextra(Xapian::termcount, Xapian::termcount) const override { return 0; }
  double get_maxextra() const override { return 0; }

 private:
  double part(double wdf, double length) const;

  Bm25Parameters parameters_;
  double average_length_;
  const std::atomic<bool>* stop_;
  double term_weight_ = 0;
  double length_factor_ = 0;
  double highest_part_ = 0;
};

}  // namespace hedgerow
