#include "index/global_weight.hpp"

#include <algorithm>
#include <cassert>

#include "index/guard.hpp"

namespace hedgerow {

GlobalWeight::GlobalWeight(const Bm25Parameters& parameters, double average_length, const std::atomic<bool>* stop)
    : parameters_(parameters), average_length_(average_length), stop_(stop) {
  assert(average_length > 0);
  need_stat(WQF);
  need_stat(WDF);
  need_stat(WDF_MAX);
  need_stat(DOC_LENGTH);
  need_stat(DOC_LENGTH_MIN);
  need_stat(TERMFREQ);
  need_stat(COLLECTION_FREQ);
}

GlobalWeight* GlobalWeight::clone() const { return new GlobalWeight(parameters_, average_length_, stop_); }

void GlobalWeight::init(double factor) {
  // A factor of 0 asks for the part of a score that belongs to no term; there is none.
  if (factor == 0) return;
  const double wqf = get_wqf();
  term_weight_ = factor;
  term_weight_ *= (parameters_.k3 + 1) * wqf / (parameters_.k3 + wqf);
  term_weight_ *= parameters_.k1 + 1;
  length_factor_ = 1 / average_length_;

  // Every document of the term holds it once at least, so no document holds it more often than what the others leave.
  // (The engine's own bound is loose here: it takes what the first posting, a guard's 0, leaves.)
  const Xapian::termcount documents = std::max(get_termfreq(), guard::count + 1) - guard::count;
  const Xapian::termcount left = get_collection_freq() > documents ? get_collection_freq() - documents + 1 : 1;
  const Xapian::termcount wdf = std::min(get_wdf_upper_bound(), left);
  // A document is at least as long as the term is frequent in it, and no shorter than the shortest (Macdonald, Ounis
  // and Tonellotto, Upper-bound Approximations for Dynamic Pruning, 2011).
  highest_part_ = part(wdf, std::max(wdf, get_doclength_lower_bound())) * bound_slack;
}

std::string GlobalWeight::name() const { return "hedgerow::GlobalWeight"; }

double GlobalWeight::part(double wdf, double length) const {
  // A guard, which may be 0/0 below: with k1 = 0, or without a least length.
  if (wdf == 0) return 0;
  const double normalised = std::max(length * length_factor_, parameters_.min_normalised_length);
  const double denominator = parameters_.k1 * (normalised * parameters_.b + (1 - parameters_.b)) + wdf;
  return term_weight_ * (wdf / denominator);
}

double GlobalWeight::get_sumpart(Xapian::termcount wdf, Xapian::termcount length, Xapian::termcount) const {
  if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) throw MatchStopped{};
  return part(wdf, length);
}

double GlobalWeight::get_maxpart() const { return highest_part_; }

}  // namespace hedgerow
