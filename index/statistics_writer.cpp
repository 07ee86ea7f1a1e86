#include "index/statistics_writer.hpp"

#include <xapian.h>

#include "index/fields.hpp"
#include "index/guard.hpp"
#include "index/partition_writer.hpp"

namespace hedgerow {

bool is_described(std::string_view term) {
  return term != guard::marker_term && !term.starts_with(fields::id_prefix) &&
         !term.starts_with(fields::name_prefix);
}

namespace {

// A document whose terms are the partition's, each with wdf = its document frequency there.
Xapian::Document frequencies_of(const Xapian::Database& partition) {
  Xapian::Document frequencies;
  const auto end = partition.allterms_end();
  for (auto term = partition.allterms_begin(); term != end; ++term) {
    if (!is_described(*term)) continue;
    frequencies.add_term(*term, term.get_termfreq() - guard::count);
  }
  return frequencies;
}

}  // namespace

std::string write_statistics(const std::vector<std::filesystem::path>& partitions, const std::filesystem::path& file,
                             const std::filesystem::path& scratch, const DatabaseLabel& label,
                             std::uint64_t memory_bytes) {
  constexpr std::uint64_t bytes_per_posting = 150;
  Xapian::WritableDatabase database(
      scratch.string(), Xapian::DB_CREATE | Xapian::DB_BACKEND_GLASS | Xapian::DB_NO_SYNC | Xapian::DB_DANGEROUS);
  std::uint64_t held = 0;
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    const Xapian::Document frequencies = frequencies_of(Xapian::Database(partitions[i].string()));
    database.replace_document(static_cast<Xapian::docid>(i + 1), frequencies);
    held += bytes_per_posting * frequencies.termlist_count();
    if (held > memory_bytes) {
      database.commit();
      held = 0;
    }
  }
  write_label(database, label);
  database.commit();
  std::string checksum = compact_to_file(database, file);
  database.close();
  std::filesystem::remove_all(scratch);
  return checksum;
}

}  // namespace hedgerow
