#include "index/scoring.hpp"

#include <cassert>
#include <cmath>

namespace hedgerow {

const char* what_is_wrong_with(const Bm25Parameters& parameters) {
  // Written so that what is no number is wrong, too.
  const auto within = [](double value, double highest) { return value >= 0 && value <= highest; };
  if (!within(parameters.k1, 1000)) return "k1: from 0 to 1000";
  if (!within(parameters.k3, 1000)) return "k3: from 0 to 1000";
  if (!within(parameters.b, 1)) return "b: from 0 to 1";
  if (!within(parameters.min_normalised_length, 1)) return "min_normalised_length: from 0 to 1";
  return nullptr;
}

double inverse_document_frequency(std::uint64_t documents, std::uint64_t document_frequency) {
  assert(document_frequency <= documents);
  double ratio = (static_cast<double>(documents - document_frequency) + 0.5) /
                 (static_cast<double>(document_frequency) + 0.5);
  if (ratio < 2) ratio = ratio * 0.5 + 1;
  return std::log(ratio);
}

}  // namespace hedgerow
