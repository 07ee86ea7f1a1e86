// Material for queries over a collection of any size, read from its reference: words drawn by how often they stand
// somewhere, pairs of neighbours, and facet values by how many documents have them.
#pragma once

#include "base/random.hpp"
#include "query_mixture.hpp"
#include "reference.hpp"

namespace hedgerow::test {

QueryMaterial material_of(const Reference& reference, Random& random);

}  // namespace hedgerow::test
