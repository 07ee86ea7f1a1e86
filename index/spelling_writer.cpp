#include "index/spelling_writer.hpp"

#include <map>

#include "index/partition_writer.hpp"
#include "index/spelling.hpp"

namespace hedgerow {

Xapian::doccount smallest_spelling_frequency(const Xapian::Database& statistics, std::uint64_t most_words) {
  std::map<Xapian::termcount, std::uint64_t> words;  // by document frequency
  const auto end = statistics.allterms_end();
  for (auto term = statistics.allterms_begin(); term != end; ++term) {
    if (is_spelling_word(*term)) ++words[statistics.get_collection_freq(*term)];
  }
  std::uint64_t kept = 0;
  for (auto level = words.rbegin(); level != words.rend(); ++level) {
    kept += level->second;
    if (kept > most_words) return level->first + 1;
  }
  return 1;
}

std::string write_spelling(const std::filesystem::path& statistics, const std::filesystem::path& file,
                           const std::filesystem::path& scratch, const DatabaseLabel& label,
                           std::uint64_t memory_bytes) {
  constexpr std::uint64_t bytes_per_letter = 100;
  const Xapian::Database terms(statistics.string());
  Xapian::WritableDatabase database(
      scratch.string(), Xapian::DB_CREATE | Xapian::DB_BACKEND_GLASS | Xapian::DB_NO_SYNC | Xapian::DB_DANGEROUS);
  const Xapian::doccount smallest = smallest_spelling_frequency(terms);
  std::uint64_t held = 0;
  const auto end = terms.allterms_end();
  for (auto term = terms.allterms_begin(); term != end; ++term) {
    const std::string word = *term;
    if (!is_spelling_word(word)) continue;
    const Xapian::termcount frequency = terms.get_collection_freq(word);
    if (frequency < smallest) continue;
    database.add_spelling(word, frequency);
    held += bytes_per_letter * word.size();
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
