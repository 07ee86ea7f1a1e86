#include "index/partition_writer.hpp"

#include <stdexcept>

#include "base/sha256.hpp"
#include "index/document_indexer.hpp"
#include "index/generation.hpp"
#include "index/guard.hpp"

namespace hedgerow {

namespace {

// What is built here is thrown away if the machine goes down; only the compact file is synced.
constexpr int scratch_flags = Xapian::DB_CREATE | Xapian::DB_BACKEND_GLASS | Xapian::DB_NO_SYNC | Xapian::DB_DANGEROUS;

Xapian::Document guard_document(const Xapian::Database& database) {
  Xapian::Document guard;
  guard.add_boolean_term(guard::marker_term);
  const auto end = database.allterms_end();
  for (auto term = database.allterms_begin(); term != end; ++term) guard.add_boolean_term(*term);
  return guard;
}

}  // namespace

PartitionWriter::PartitionWriter(std::filesystem::path scratch, std::uint64_t memory_bytes)
    : scratch_(std::move(scratch)), memory_bytes_(memory_bytes), database_(scratch_.string(), scratch_flags) {}

void PartitionWriter::add(DocumentNumber number, const Xapian::Document& document) {
  database_.replace_document(guard::docid_of(number), document);
  held_bytes_ += memory_held_for(document);
  if (held_bytes_ > memory_bytes_) {
    database_.commit();
    held_bytes_ = 0;
  }
}

PartitionInfo PartitionWriter::finish(const std::filesystem::path& file, const DatabaseLabel& label) {
  database_.commit();
  PartitionInfo info;
  info.documents = database_.get_doccount();
  info.total_length = database_.get_total_length();

  const Xapian::Document guard = guard_document(database_);
  database_.replace_document(guard::front, guard);
  database_.replace_document(guard::back(label.documents), guard);
  write_label(database_, label);
  database_.commit();

  info.sha256 = compact_to_file(database_, file);
  database_.close();
  std::filesystem::remove_all(scratch_);
  return info;
}

std::string compact_to_file(Xapian::Database& database, const std::filesystem::path& file) {
  database.compact(file.string(), Xapian::DBCOMPACT_NO_RENUMBER | Xapian::DBCOMPACT_SINGLE_FILE);
  if (const auto synced = sync_to_disk(file); !synced) throw std::runtime_error(to_string(synced.error()));
  auto checksum = sha256_of_file(file);
  if (!checksum) throw std::runtime_error(to_string(checksum.error()));
  return *checksum;
}

}  // namespace hedgerow
