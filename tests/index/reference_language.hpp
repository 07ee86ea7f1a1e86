// The query language once more, as docs/queries.md states it, by code of its own: from what a person typed to what
// it means on one database. Xapian::QueryParser does words, phrases, marks, operators and parentheses; what Hedgerow
// adds (fields, ranges, prefixes, synonyms, frequent words) is done here, and never by index/query.
#pragma once

#include <xapian.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reference_fields.hpp"

namespace hedgerow::test {

// A query as sets of documents with scores.
struct Meaning {
  enum class Kind {
    words,      // what Xapian matches by itself: a term, a phrase, a NEAR
    all_of,     // in all parts; scores add up
    any_of,     // in at least one part; scores add up
    and_not,    // in the first part and in no other; scores as in the first
    and_maybe,  // in the first part; the other parts add to the score
    unscored,   // as the only part, with a score of 0
    range,      // the value in a slot is from lowest to highest; scores 0
    document,   // the one with that number; scores 0
  };

  Kind kind = Kind::words;
  Xapian::Query words;  // empty: in no document
  std::vector<Meaning> parts;
  Xapian::valueno slot = 0;
  double lowest = 0;
  double highest = 0;
  Xapian::docid document = 0;
  // Of an any_of: the words that a prefix or a synonym stands for. Such a group counts as one word of the query.
  bool is_one_word = false;
};

// A word, or several side by side, that others are looked for as well: single words, or several as a phrase.
struct ReferenceSynonym {
  std::string word;
  std::vector<std::string> others;
};

// What docs/queries.md promises.
struct LanguageSettings {
  std::string stemmer = "english";
  std::vector<ReferenceSynonym> synonyms;

  // A prefix stands for so many words; all prefixes of a query for so many together.
  std::size_t most_prefix_terms = 50;
  std::size_t most_expanded_terms = 512;
  // So many words, the first ones by their bytes, are looked at for all prefixes of a query together.
  std::size_t most_prefix_terms_seen = 20'000;

  // A word that stands in more than this share of the documents is optional beside others in an OR.
  double frequent_share = 0.2;
  Xapian::doccount smallest_collection_with_frequent_words = 5000;
};

// The term of an id or of a whole title; nothing where it is blank or longer than 200 bytes.
std::string reference_name_term(const std::string& name);

class ReferenceLanguage {
 public:
  ReferenceLanguage(Xapian::Database database, std::vector<ReferenceFacet> facets, LanguageSettings settings);

  // Throws std::runtime_error or Xapian::QueryParserError for what is no query.
  Meaning read(const std::string& text) const;

  const std::vector<ReferenceFacet>& facets() const { return facets_; }

 private:
  struct Filter {
    std::size_t facet = 0;
    std::string value;
    bool quoted = false;

    bool is_prefix() const { return !quoted && value.size() > 1 && value.ends_with('*'); }
  };
  class FilterProcessor;
  // One query on its way from text to meaning.
  class Translation;

  // The text for Xapian's parser: facets replaced by numbered markers, all but operators in lower case.
  std::string prepared(const std::string& text, std::vector<Filter>& filters) const;
  Xapian::Query parsed(const std::string& prepared_text) const;
  // Words that punctuation joins as a phrase or its words, and the whole text as a name, where the root is an OR.
  Xapian::Query with_alternatives(const Xapian::Query& query, const std::string& text) const;
  Xapian::Query name_query(const std::string& text) const;

  Xapian::Database database_;
  std::vector<ReferenceFacet> facets_;
  LanguageSettings settings_;
  // By words, or stems, with blanks between: what their synonyms are.
  std::map<std::string, std::vector<std::string>> synonyms_;
  std::size_t longest_synonym_ = 0;
};

}  // namespace hedgerow::test
