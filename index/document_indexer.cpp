#include "index/document_indexer.hpp"

#include <set>

#include "index/fields.hpp"
#include "index/stored_document.hpp"

namespace hedgerow {

namespace {

// No phrase reaches from the title into the text.
constexpr Xapian::termpos gap_after_title = 100;

void add_facet(const std::string& name, const std::vector<std::string>& values, Xapian::Document& indexed) {
  for (const std::string& value : values) {
    if (const auto term = fields::facet_term(name, value)) indexed.add_boolean_term(*term);
  }
  if (values.empty()) return;
  indexed.add_value(fields::values_slot(name), fields::encode_values(values));
  if (const auto number = fields::parse_range_value(values.front())) {
    indexed.add_value(fields::number_slot(name), Xapian::sortable_serialise(number->first));
  }
}

}  // namespace

DocumentIndexer::DocumentIndexer(const std::string& stemmer, std::uint32_t title_weight) : title_weight_(title_weight) {
  generator_.set_stemmer(Xapian::Stem(stemmer));
  generator_.set_stemming_strategy(Xapian::TermGenerator::STEM_SOME);
  generator_.set_flags(Xapian::TermGenerator::FLAG_CJK_NGRAM);
}

Xapian::Document DocumentIndexer::index(const Document& document) {
  Xapian::Document indexed;
  generator_.set_document(indexed);
  generator_.set_termpos(0);
  generator_.index_text(document.title, 1, std::string(fields::title_prefix));
  generator_.set_termpos(0);
  generator_.index_text(document.title, title_weight_);
  generator_.increase_termpos(gap_after_title);
  generator_.index_text(document.text);
  indexed.add_boolean_term(fields::id_term(document.id));
  std::set<std::string> names;
  for (const auto* name : {&document.id, &document.title}) {
    if (auto term = fields::name_term(*name)) names.insert(std::move(*term));
  }
  for (const auto& name : names) indexed.add_term(name);
  for (const auto& [name, values] : document.facets) add_facet(name, values, indexed);
  indexed.add_value(fields::shown_slot, encode_shown_document(document));
  indexed.set_data(encode_stored_data(document));
  return indexed;
}

std::uint64_t memory_held_for(const Xapian::Document& document) {
  // Measured on the Debian catalogue: two map entries (posting, positions) for every term of a document.
  constexpr std::uint64_t bytes_per_term = 200;
  return 1000 + bytes_per_term * document.termlist_count() + document.get_data().size() +
         document.get_value(fields::shown_slot).size();
}

}  // namespace hedgerow
