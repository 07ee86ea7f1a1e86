#include "index/document_indexer.hpp"

#include "index/stored_document.hpp"

namespace hedgerow {

namespace {

// No phrase reaches from the title into the text.
constexpr Xapian::termpos gap_after_title = 100;

}  // namespace

DocumentIndexer::DocumentIndexer(const std::string& stemmer) {
  generator_.set_stemmer(Xapian::Stem(stemmer));
  generator_.set_stemming_strategy(Xapian::TermGenerator::STEM_SOME);
}

Xapian::Document DocumentIndexer::index(const Document& document) {
  Xapian::Document indexed;
  generator_.set_document(indexed);
  generator_.set_termpos(0);
  generator_.index_text(document.title);
  generator_.increase_termpos(gap_after_title);
  generator_.index_text(document.text);
  indexed.set_data(encode_stored_document(document));
  return indexed;
}

std::uint64_t memory_held_for(const Xapian::Document& document) {
  // Measured on the Debian catalogue: two map entries (posting, positions) for every term of a document.
  constexpr std::uint64_t bytes_per_term = 200;
  return 1000 + bytes_per_term * document.termlist_count() + document.get_data().size();
}

}  // namespace hedgerow
