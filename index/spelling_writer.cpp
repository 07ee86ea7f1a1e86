#include "index/spelling_writer.hpp"

#include <xapian.h>

#include "index/partition_writer.hpp"

namespace hedgerow {

namespace {

constexpr std::size_t shortest_word = 3;
constexpr std::size_t longest_word = 32;

// Scripts without spaces, and all that stands behind them (symbols, private use): nothing that is mistyped by a letter.
bool is_indexed_by_characters(unsigned character) {
  return (character >= 0x1100 && character <= 0x11ff) || character >= 0x2e80;
}

}  // namespace

bool is_spelling_word(std::string_view term) {
  // Plain words are in lower case: a capital opens the prefix of a stem or a field.
  if (term.empty() || (term.front() >= 'A' && term.front() <= 'Z')) return false;
  std::size_t letters = 0;
  std::size_t characters = 0;
  for (Xapian::Utf8Iterator at(term.data(), term.size()); at != Xapian::Utf8Iterator(); ++at) {
    if (is_indexed_by_characters(*at) || ++characters > longest_word) return false;
    if (Xapian::Unicode::get_category(*at) != Xapian::Unicode::DECIMAL_DIGIT_NUMBER) ++letters;
  }
  return characters >= shortest_word && letters * 2 > characters;
}

std::string write_spelling(const std::filesystem::path& statistics, const std::filesystem::path& file,
                           const std::filesystem::path& scratch, const DatabaseLabel& label,
                           std::uint64_t memory_bytes) {
  constexpr std::uint64_t bytes_per_letter = 100;
  const Xapian::Database terms(statistics.string());
  Xapian::WritableDatabase database(
      scratch.string(), Xapian::DB_CREATE | Xapian::DB_BACKEND_GLASS | Xapian::DB_NO_SYNC | Xapian::DB_DANGEROUS);
  std::uint64_t held = 0;
  const auto end = terms.allterms_end();
  for (auto term = terms.allterms_begin(); term != end; ++term) {
    const std::string word = *term;
    if (!is_spelling_word(word)) continue;
    database.add_spelling(word, terms.get_collection_freq(word));
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
