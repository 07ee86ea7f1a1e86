#include "index/lookup.hpp"

#include <xapian.h>

#include "base/random.hpp"
#include "index/engine_error.hpp"
#include "index/fields.hpp"
#include "index/guard.hpp"
#include "index/open_partition.hpp"

namespace hedgerow {

PartitionId partition_of(std::string_view id, std::uint32_t partitions) {
  return PartitionId{static_cast<std::uint32_t>(stable_hash(id) % partitions)};
}

result<std::optional<DocumentNumber>> find_document(const PartitionSearcher& partition, std::string_view id) {
  const auto& self = partition.implementation();
  return translating_exceptions(self.name, [&]() -> result<std::optional<DocumentNumber>> {
    const std::string term = fields::id_term(id);
    const auto end = self.database.postlist_end(term);
    for (auto posting = self.database.postlist_begin(term); posting != end; ++posting) {
      if (!guard::is_document(*posting, self.collection_documents)) continue;
      // An id may look like the hash of another one.
      const auto stored = decode_stored_document(self.database.get_document(*posting).get_data());
      if (!stored) return stored.error();
      if (stored->id == id) return std::optional(guard::number_of(*posting));
    }
    return std::optional<DocumentNumber>();
  });
}

result<std::vector<DocumentTerm>> characteristic_terms(const PartitionSearcher&, DocumentNumber, std::size_t) {
  return Error{Errc::unsupported, "not built yet"};
}

}  // namespace hedgerow
