#include "reference_language.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace hedgerow::test {

namespace {

using Q = Xapian::Query;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool is_operator(const std::string& word) {
  static const std::set<std::string> names{"AND", "OR", "NOT", "XOR", "NEAR", "ADJ"};
  const std::size_t slash = word.find('/');
  const std::string name = word.substr(0, slash);
  return names.contains(name) && (slash == std::string::npos || name == "NEAR" || name == "ADJ");
}

Meaning combined(Meaning::Kind kind, std::vector<Meaning> parts) {
  Meaning meaning;
  meaning.kind = kind;
  meaning.parts = std::move(parts);
  return meaning;
}

Meaning words(const Q& query) {
  Meaning meaning;
  meaning.words = query;
  return meaning;
}

Meaning unscored(Meaning part) { return combined(Meaning::Kind::unscored, {std::move(part)}); }

constexpr char marker = '\x01';

std::string stemmed(const Xapian::Stem& stemmer, const std::string& word, const std::string& field = "") {
  return "Z" + field + stemmer(word);
}

std::vector<std::string> split(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace

// Turns the marker "xfacetN:I" into a term that says I.
class ReferenceLanguage::FilterProcessor final : public Xapian::FieldProcessor {
 public:
  Q operator()(const std::string& number) override { return Q(std::string(1, marker) + number); }
};

ReferenceLanguage::ReferenceLanguage(Xapian::Database database, std::vector<ReferenceFacet> facets,
                                     LanguageSettings settings)
    : database_(std::move(database)), facets_(std::move(facets)), settings_(std::move(settings)) {
  const Xapian::Stem stemmer(settings_.stemmer);
  for (const auto& synonym : settings_.synonyms) {
    const auto sequence = split(synonym.word);
    std::string stems;
    for (const auto& word : sequence) stems += (stems.empty() ? "" : " ") + stemmed(stemmer, word);
    synonyms_[synonym.word] = synonyms_[stems] = synonym.others;
    longest_synonym_ = std::max(longest_synonym_, sequence.size());
  }
}

std::string ReferenceLanguage::prepared(const std::string& text, std::vector<Filter>& filters) const {
  std::string out;
  std::size_t at = 0;
  // NAME: of a facet at this place, and something behind it.
  const auto facet_at = [&](std::size_t from) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < facets_.size(); ++i) {
      const std::string name = facets_[i].name + ":";
      const bool named = Xapian::Unicode::tolower(text.substr(from, name.size())) == Xapian::Unicode::tolower(name);
      const std::size_t behind = from + name.size();
      if (named && behind < text.size() && !is_blank(text[behind]) && text[behind] != ')') return i;
    }
    return std::nullopt;
  };
  while (at < text.size()) {
    const char c = text[at];
    if (is_blank(c) || c == '(' || c == ')' || c == '+' || c == '-') {
      out += c;
      ++at;
      continue;
    }
    if (c == '"') {
      const std::size_t end = std::min(text.find('"', at + 1), text.size() - 1);
      out += Xapian::Unicode::tolower(text.substr(at, end + 1 - at));
      at = end + 1;
      continue;
    }
    if (const auto facet = facet_at(at)) {
      at += facets_[*facet].name.size() + 1;
      std::string value;
      const bool quoted = text[at] == '"';
      if (quoted) {
        const std::size_t end = std::min(text.find('"', at + 1), text.size());
        value = text.substr(at + 1, end - at - 1);
        at = std::min(end + 1, text.size());
      } else {
        while (at < text.size() && !is_blank(text[at]) && text[at] != ')') value += text[at++];
      }
      out += "xfacet" + std::to_string(*facet) + ":" + std::to_string(filters.size());
      filters.push_back({*facet, value, quoted});
      continue;
    }
    std::string word;
    while (at < text.size() && !is_blank(text[at]) && text[at] != '(' && text[at] != ')' && text[at] != '"') {
      word += text[at++];
    }
    out += is_operator(word) ? word : Xapian::Unicode::tolower(word);
    // The parser of 1.4 takes no word behind a word and ideographs without something in between.
    if (static_cast<unsigned char>(word.front()) >= 0xe3) out += ',';
  }
  return out;
}

Q ReferenceLanguage::parsed(const std::string& prepared_text) const {
  Xapian::QueryParser parser;
  parser.set_database(database_);
  parser.set_stemmer(Xapian::Stem(settings_.stemmer));
  parser.set_stemming_strategy(Xapian::QueryParser::STEM_SOME);
  parser.set_default_op(Q::OP_OR);
  parser.add_prefix("title", "S");
  for (std::size_t i = 0; i < facets_.size(); ++i) {
    parser.add_boolean_prefix("xfacet" + std::to_string(i), (new FilterProcessor)->release());
  }
  return parser.parse_query(prepared_text, Xapian::QueryParser::FLAG_PHRASE | Xapian::QueryParser::FLAG_LOVEHATE |
                                               Xapian::QueryParser::FLAG_BOOLEAN | Xapian::QueryParser::FLAG_WILDCARD |
                                               Xapian::QueryParser::FLAG_CJK_NGRAM);
}

namespace {

// The parts of tokens such as "low-dose" or "a/b.c", as sequences.
std::set<std::vector<std::string>> joined_words(const std::string& text) {
  std::set<std::vector<std::string>> sequences;
  bool in_quotes = false;
  std::string token;
  const auto end_token = [&] {
    const std::string lower = Xapian::Unicode::tolower(token);
    token.clear();
    if (lower.empty() || lower[0] == '+' || lower[0] == '-' || lower.find(':') != std::string::npos) return;
    const auto digit_at = [&](std::size_t i) { return i < lower.size() && lower[i] >= '0' && lower[i] <= '9'; };
    std::vector<std::string> words(1);
    for (std::size_t i = 0; i < lower.size(); ++i) {
      const char c = lower[i];
      // "3.0" is one word.
      const bool within_number = c == '.' && i > 0 && digit_at(i - 1) && digit_at(i + 1);
      if (within_number || std::string(".-/\\@").find(c) == std::string::npos) {
        words.back() += c;
      } else if (!words.back().empty()) {
        words.emplace_back();
      }
    }
    if (words.back().empty()) words.pop_back();
    if (words.size() > 1) sequences.insert(words);
  };
  for (const char c : text) {
    if (c == '"') in_quotes = !in_quotes;
    if (in_quotes || c == '"' || is_blank(c) || c == '(' || c == ')') {
      end_token();
    } else {
      token += c;
    }
  }
  end_token();
  return sequences;
}

}  // namespace

std::string reference_name_term(const std::string& name) {
  std::string joined;
  for (const auto& word : split(Xapian::Unicode::tolower(name))) joined += (joined.empty() ? "" : " ") + word;
  return joined.empty() || joined.size() > 200 ? "" : "XN" + joined;
}

Q ReferenceLanguage::name_query(const std::string& text) const {
  const std::string term = reference_name_term(text);
  if (term.empty()) return Q();
  // A name weighs as if it stood in one document, even where several have it.
  const double documents = database_.get_doccount();
  const auto weight = [&](double frequency) {
    const double ratio = (documents - frequency + 0.5) / (frequency + 0.5);
    return std::log(ratio < 2 ? ratio * 0.5 + 1 : ratio);
  };
  const double frequency = std::max(1.0, static_cast<double>(database_.get_termfreq(term)));
  return Q(Q::OP_SCALE_WEIGHT, Q(term, 8), weight(1) / weight(frequency));
}

Q ReferenceLanguage::with_alternatives(const Q& query, const std::string& text) const {
  const auto type = query.get_type();
  if (type != Q::OP_OR && type != Q::LEAF_TERM && type != Q::OP_PHRASE) return query;
  std::vector<Q> parts;
  if (type == Q::OP_OR) {
    for (std::size_t i = 0; i < query.get_num_subqueries(); ++i) parts.push_back(query.get_subquery(i));
  } else {
    parts.push_back(query);
  }
  const auto sequences = joined_words(text);
  const Xapian::Stem stemmer(settings_.stemmer);
  std::vector<Q> all;
  for (const auto& part : parts) {
    all.push_back(part);
    if (part.get_type() != Q::OP_PHRASE) continue;
    std::vector<std::string> words;
    for (std::size_t i = 0; i < part.get_num_subqueries(); ++i) words.push_back(*part.get_subquery(i).get_terms_begin());
    if (!sequences.contains(words)) continue;
    for (const auto& word : words) {
      const bool stems = !(word[0] >= '0' && word[0] <= '9');
      all.push_back(Q(stems ? stemmed(stemmer, word) : word));
    }
  }
  if (const Q name = name_query(text); !name.empty()) all.push_back(name);
  return Q(Q::OP_OR, all.begin(), all.end());
}

class ReferenceLanguage::Translation {
 public:
  Translation(const ReferenceLanguage& language, const std::vector<Filter>& filters, const Q& query)
      : language_(language), filters_(filters), prefixes_(std::max<std::size_t>(1, count_prefixes(query))) {}

  Meaning meaning_of(const Q& query) const {
    switch (query.get_type()) {
      case Q::LEAF_MATCH_NOTHING:
      case Q::OP_PHRASE:
      case Q::OP_NEAR: return words(query);
      case Q::LEAF_TERM: {
        const std::string term = *query.get_terms_begin();
        // Where it stands in the query makes no difference.
        return term.front() == marker ? meaning_of(filters_.at(std::stoul(term.substr(1)))) : words(Q(term));
      }
      case Q::OP_AND: return combined(Meaning::Kind::all_of, parts_of(query));
      case Q::OP_OR: return combined(Meaning::Kind::any_of, parts_of(query));
      case Q::OP_AND_NOT: return combined(Meaning::Kind::and_not, parts_of(query));
      case Q::OP_AND_MAYBE: return combined(Meaning::Kind::and_maybe, parts_of(query));
      case Q::OP_SCALE_WEIGHT:
        if (is_name(query)) return words(query);
        return unscored(std::move(parts_of(query).front()));  // the parser's only factor is 0
      case Q::OP_FILTER: {
        std::vector<Meaning> both = parts_of(query);
        both.back() = unscored(std::move(both.back()));
        return combined(Meaning::Kind::all_of, std::move(both));
      }
      case Q::OP_WILDCARD: return expansion_of(begin_of(query));
      default: throw std::runtime_error("no meaning is known for " + query.get_description());
    }
  }

  // Synonyms and frequent words, in what documents must match (required), what only adds to the score, and what does
  // not even that.
  enum class Role { required, scored, silent };
  Meaning completed(Meaning meaning, Role role) const {
    using Kind = Meaning::Kind;
    if (role == Role::silent || meaning.is_one_word) return meaning;
    switch (meaning.kind) {
      case Kind::words: return with_synonyms(std::move(meaning));
      case Kind::range:
      case Kind::document:
      case Kind::unscored: return meaning;
      case Kind::all_of:
        for (auto& part : meaning.parts) part = completed(std::move(part), role);
        return meaning;
      case Kind::and_not: meaning.parts.front() = completed(std::move(meaning.parts.front()), role); return meaning;
      case Kind::and_maybe:
        for (std::size_t i = 0; i < meaning.parts.size(); ++i) {
          meaning.parts[i] = completed(std::move(meaning.parts[i]), i == 0 ? role : Role::scored);
        }
        return meaning;
      case Kind::any_of: break;
    }
    std::vector<Meaning> needed;
    std::vector<Meaning> optional;
    std::vector<Meaning> alternatives = alternatives_of(std::move(meaning));
    std::vector<Meaning> of_sequences = synonyms_of_sequences(alternatives);
    for (auto& part : alternatives) {
      auto& side = role == Role::required && is_frequent(part) ? optional : needed;
      side.push_back(completed(std::move(part), Role::scored));
    }
    needed.insert(needed.end(), of_sequences.begin(), of_sequences.end());
    const bool enough = std::any_of(needed.begin(), needed.end(), [&](const Meaning& part) { return occurs(part); });
    if (optional.empty() || !enough) {
      needed.insert(needed.end(), optional.begin(), optional.end());
      return combined(Kind::any_of, std::move(needed));
    }
    optional.insert(optional.begin(), combined(Kind::any_of, std::move(needed)));
    return combined(Kind::and_maybe, std::move(optional));
  }

 private:
  std::size_t count_prefixes(const Q& query) const {
    if (query.get_type() == Q::OP_WILDCARD) return 1;
    if (query.get_type() == Q::LEAF_TERM) {
      const std::string term = *query.get_terms_begin();
      return term.front() == marker && filters_.at(std::stoul(term.substr(1))).is_prefix() ? 1 : 0;
    }
    std::size_t count = 0;
    for (std::size_t i = 0; i < query.get_num_subqueries(); ++i) count += count_prefixes(query.get_subquery(i));
    return count;
  }

  std::vector<Meaning> parts_of(const Q& query) const {
    std::vector<Meaning> parts;
    for (std::size_t i = 0; i < query.get_num_subqueries(); ++i) parts.push_back(meaning_of(query.get_subquery(i)));
    return parts;
  }

  // What stands before the *. Only the description tells: "Query(WILDCARD SYNONYM term)".
  static std::string begin_of(const Q& query) {
    const std::string description = query.get_description();
    const std::string before = "WILDCARD SYNONYM ";
    const std::size_t begin = description.find(before);
    if (begin == std::string::npos) throw std::runtime_error("no prefix in " + description);
    return description.substr(begin + before.size(), description.size() - 1 - begin - before.size());
  }

  Meaning meaning_of(const Filter& filter) const {
    const ReferenceFacet& facet = language_.facets_.at(filter.facet);
    if (filter.is_prefix()) {
      return expansion_of(facet_term_of(facet.name, filter.value.substr(0, filter.value.size() - 1)));
    }
    const std::size_t dots = filter.value.find("..");
    if (facet.kind == FacetKind::category || dots == std::string::npos) {
      return words(Q(facet_term_of(facet.name, filter.value)));
    }
    Meaning range;
    range.kind = Meaning::Kind::range;
    range.slot = facet.slot;
    range.lowest = -std::numeric_limits<double>::infinity();
    range.highest = std::numeric_limits<double>::infinity();
    const std::string from = filter.value.substr(0, dots);
    const std::string to = filter.value.substr(dots + 2);
    if (!from.empty()) range.lowest = bound_of(facet, from).first;
    if (!to.empty()) range.highest = bound_of(facet, to).last;
    return range;
  }

  static Span bound_of(const ReferenceFacet& facet, const std::string& text) {
    auto span = span_of(text);
    // A year of a date looks like a number.
    if (facet.kind == FacetKind::date && text.size() == 4) {
      span = Span{FacetKind::date, span_of(text + "-01").value().first, span_of(text + "-12").value().last};
    }
    if (!span || span->kind != facet.kind) throw std::runtime_error("no bound of a range: " + text);
    return *span;
  }

  // What a word* stands for: the most frequent terms that begin so, ties by bytes.
  Meaning expansion_of(const std::string& begin) const {
    const LanguageSettings& settings = language_.settings_;
    const Xapian::Database& database = language_.database_;
    std::vector<std::pair<Xapian::doccount, std::string>> terms;
    for (auto term = database.allterms_begin(begin); term != database.allterms_end(begin); ++term) {
      if (terms.size() == settings.most_prefix_terms_seen / prefixes_) break;
      terms.emplace_back(term.get_termfreq(), *term);
    }
    std::sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    const std::size_t most = std::min(settings.most_prefix_terms, settings.most_expanded_terms / prefixes_);
    if (terms.size() > most) terms.resize(most);
    Meaning expansion;
    expansion.kind = Meaning::Kind::any_of;
    expansion.is_one_word = true;
    for (const auto& [frequency, term] : terms) expansion.parts.push_back(words(Q(term)));
    if (terms.empty()) expansion.parts.push_back(words(Q()));
    return expansion;
  }

  // The parts of an OR, and of ORs within it.
  static std::vector<Meaning> alternatives_of(Meaning any_of) {
    std::vector<Meaning> alternatives;
    for (auto& part : any_of.parts) {
      if (part.kind != Meaning::Kind::any_of || part.is_one_word) {
        alternatives.push_back(std::move(part));
        continue;
      }
      for (auto& inner : alternatives_of(std::move(part))) alternatives.push_back(std::move(inner));
    }
    return alternatives;
  }

  static bool is_name(const Q& query) {
    return query.get_type() == Q::OP_SCALE_WEIGHT && (*query.get_terms_begin()).starts_with("XN");
  }

  static bool is_term(const Meaning& meaning) {
    return meaning.kind == Meaning::Kind::words && meaning.words.get_type() == Q::LEAF_TERM;
  }

  Xapian::doccount frequency(const Meaning& term) const {
    return language_.database_.get_termfreq(*term.words.get_terms_begin());
  }

  bool is_frequent(const Meaning& meaning) const {
    const LanguageSettings& settings = language_.settings_;
    const Xapian::doccount documents = language_.database_.get_doccount();
    return documents >= settings.smallest_collection_with_frequent_words && is_term(meaning) &&
           frequency(meaning) > settings.frequent_share * documents;
  }

  // Whether it has a word that is in the collection. Of the words of a phrase that is taken for granted; what only
  // filters has none.
  bool occurs(const Meaning& meaning) const {
    switch (meaning.kind) {
      case Meaning::Kind::words:
        if (is_name(meaning.words)) return false;
        return is_term(meaning) ? frequency(meaning) > 0 : !meaning.words.empty();
      case Meaning::Kind::unscored:
      case Meaning::Kind::range:
      case Meaning::Kind::document: return false;
      case Meaning::Kind::and_not:
      case Meaning::Kind::and_maybe: return occurs(meaning.parts.front());
      case Meaning::Kind::all_of:
      case Meaning::Kind::any_of: break;
    }
    return std::any_of(meaning.parts.begin(), meaning.parts.end(), [&](const Meaning& part) { return occurs(part); });
  }

  // The words of terms that are all of one field, or all of none, with blanks between; stems with their Z.
  struct TypedWords {
    std::string field;
    std::string text;
  };
  static std::optional<TypedWords> typed_words(const std::vector<std::string>& terms) {
    TypedWords typed;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      std::string term = terms[i];
      const bool is_stem = term.starts_with('Z');
      if (is_stem) term.erase(0, 1);
      const std::string field = term.starts_with('S') ? "S" : "";
      term.erase(0, field.size());
      if (i > 0 && field != typed.field) return std::nullopt;
      typed.field = field;
      typed.text += (i > 0 ? " " : "") + std::string(is_stem ? "Z" : "") + term;
    }
    return typed;
  }

  // What else is looked for; as_stems: single words by their stems.
  std::vector<Meaning> synonyms_of(const std::vector<std::string>& terms, bool as_stems) const {
    std::vector<Meaning> others;
    const auto typed = typed_words(terms);
    const auto found = typed ? language_.synonyms_.find(typed->text) : language_.synonyms_.end();
    if (found == language_.synonyms_.end()) return others;
    const Xapian::Stem stemmer(language_.settings_.stemmer);
    for (const auto& other : found->second) {
      std::vector<std::string> sequence = split(other);
      if (sequence.size() == 1) {
        others.push_back(words(Q(as_stems ? stemmed(stemmer, other, typed->field) : typed->field + other)));
        continue;
      }
      for (auto& word : sequence) word = typed->field + word;
      others.push_back(words(Q(Q::OP_PHRASE, sequence.begin(), sequence.end(), sequence.size())));
    }
    return others;
  }

  Meaning with_synonyms(Meaning word) const {
    const bool phrase = word.words.get_type() == Q::OP_PHRASE;
    if (!is_term(word) && !phrase) return word;
    std::vector<std::string> terms;
    if (!phrase) terms.push_back(*word.words.get_terms_begin());
    for (std::size_t i = 0; phrase && i < word.words.get_num_subqueries(); ++i) {
      terms.push_back(*word.words.get_subquery(i).get_terms_begin());
    }
    std::vector<Meaning> all = synonyms_of(terms, !phrase);
    if (all.empty()) return word;
    all.insert(all.begin(), std::move(word));
    Meaning group = combined(Meaning::Kind::any_of, std::move(all));
    group.is_one_word = true;
    return group;
  }

  // Those of words that stand side by side in an OR.
  std::vector<Meaning> synonyms_of_sequences(const std::vector<Meaning>& alternatives) const {
    std::vector<Meaning> others;
    for (std::size_t from = 0; from < alternatives.size(); ++from) {
      std::vector<std::string> terms;
      for (std::size_t i = from; i < alternatives.size() && terms.size() < language_.longest_synonym_; ++i) {
        if (!is_term(alternatives[i])) break;
        terms.push_back(*alternatives[i].words.get_terms_begin());
        if (terms.size() < 2) continue;
        for (auto& other : synonyms_of(terms, true)) others.push_back(std::move(other));
      }
    }
    return others;
  }

  const ReferenceLanguage& language_;
  const std::vector<Filter>& filters_;
  const std::size_t prefixes_;
};

Meaning ReferenceLanguage::read(const std::string& text) const {
  std::vector<Filter> filters;
  const Q query = with_alternatives(parsed(prepared(text, filters)), text);
  const Translation translation(*this, filters, query);
  return translation.completed(translation.meaning_of(query), Translation::Role::required);
}

}  // namespace hedgerow::test
