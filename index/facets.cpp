#include "index/facets.hpp"

namespace hedgerow {

result<std::vector<FacetCounts>> count_facets(const PartitionSearcher&, const PreparedQuery&,
                                              const std::vector<std::string>&, const FacetSettings&,
                                              const std::atomic<bool>*) {
  return Error{Errc::unsupported, "not built yet"};
}

}  // namespace hedgerow
