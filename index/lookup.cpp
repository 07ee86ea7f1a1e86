#include "index/lookup.hpp"

namespace hedgerow {

result<std::optional<DocumentNumber>> find_document(const PartitionSearcher&, std::string_view) {
  return Error{Errc::unsupported, "not built yet"};
}

result<std::vector<DocumentTerm>> characteristic_terms(const PartitionSearcher&, DocumentNumber, std::size_t) {
  return Error{Errc::unsupported, "not built yet"};
}

}  // namespace hedgerow
