#include "index/scoring.hpp"

#include <cassert>
#include <cmath>

namespace hedgerow {

double inverse_document_frequency(std::uint64_t documents, std::uint64_t document_frequency) {
  assert(document_frequency <= documents);
  double ratio = (static_cast<double>(documents - document_frequency) + 0.5) /
                 (static_cast<double>(document_frequency) + 0.5);
  if (ratio < 2) ratio = ratio * 0.5 + 1;
  return std::log(ratio);
}

}  // namespace hedgerow
