// What facets a collection has, found while it is indexed: how many documents have each, and what its values are.
//
// Each worker of a build owns one; the building thread merges them. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "corpus/document.hpp"
#include "index/manifest.hpp"

namespace hedgerow {

class FacetTally {
 public:
  // Errors: input, once there are more than Manifest::most_facets names.
  result<void> add(const Document& document);
  result<void> merge(const FacetTally& other);

  // By name. A facet is a number, or a date, where the first value of every document that has it is one.
  // Errors: input, for two names that share a slot (see fields::values_slot).
  result<std::vector<FacetField>> fields() const;

 private:
  struct Tally {
    std::uint32_t documents = 0;
    std::uint32_t numbers = 0;  // documents whose first value is a number
    std::uint32_t dates = 0;
  };
  std::map<std::string, Tally> tallies_;
};

}  // namespace hedgerow
