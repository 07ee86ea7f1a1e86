#include "reference.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <variant>

namespace hedgerow::test {

namespace {

constexpr auto facets_key = "facets";

void sort_by_rank(ReferenceRanking& ranking) {
  std::sort(ranking.begin(), ranking.end(), [](const ReferenceHit& a, const ReferenceHit& b) {
    const auto score_a = static_cast<float>(a.score);
    const auto score_b = static_cast<float>(b.score);
    return score_a > score_b || (score_a == score_b && a.document < b.document);
  });
}

// A facet as the build comes to know it.
struct SeenFacet {
  Xapian::valueno slot = 0;
  bool all_numbers = true;
  bool all_dates = true;
};

std::string described(const std::map<std::string, SeenFacet>& facets) {
  auto list = nlohmann::json::array();
  for (const auto& [name, facet] : facets) {
    const auto* kind = facet.all_numbers ? "number" : facet.all_dates ? "date" : "category";
    list.push_back({{"name", name}, {"slot", facet.slot}, {"kind", kind}});
  }
  return list.dump();
}

std::vector<ReferenceFacet> facets_of(const Xapian::Database& database) {
  std::vector<ReferenceFacet> facets;
  for (const auto& entry : nlohmann::json::parse(database.get_metadata(facets_key))) {
    const auto kind = entry["kind"].get<std::string>();
    facets.push_back({entry["name"].get<std::string>(), entry["slot"].get<Xapian::valueno>(),
                      kind == "number" ? FacetKind::number
                      : kind == "date" ? FacetKind::date
                                       : FacetKind::category});
  }
  return facets;
}

}  // namespace

void Reference::build(Reader& reader, const std::filesystem::path& directory, const ReferenceSettings& settings) {
  Xapian::WritableDatabase database(directory.string(), Xapian::DB_CREATE_OR_OVERWRITE);
  Xapian::TermGenerator generator;
  generator.set_stemmer(Xapian::Stem(settings.language.stemmer));
  generator.set_stemming_strategy(Xapian::TermGenerator::STEM_SOME);
  generator.set_flags(Xapian::TermGenerator::FLAG_CJK_NGRAM);
  std::map<std::string, SeenFacet> facets;
  for (;;) {
    const ReadOutcome outcome = reader.next();
    if (std::holds_alternative<EndOfCorpus>(outcome)) break;
    const auto* document = std::get_if<Document>(&outcome);
    if (document == nullptr) continue;
    Xapian::Document entry;
    generator.set_document(entry);
    generator.set_termpos(0);
    generator.index_text(document->title, settings.title_weight);
    generator.increase_termpos();
    generator.index_text(document->text);
    generator.set_termpos(0);
    generator.index_text(document->title, 1, "S");
    std::set<std::string> names{reference_name_term(document->id), reference_name_term(document->title)};
    names.erase("");
    for (const auto& name : names) entry.add_term(name);
    for (const auto& [name, values] : document->facets) {
      const auto next_slot = static_cast<Xapian::valueno>(facets.size());
      SeenFacet& facet = facets.try_emplace(name, SeenFacet{next_slot}).first->second;
      for (const auto& value : values) entry.add_boolean_term(facet_term_of(name, value));
      const auto span = span_of(values.front());
      facet.all_numbers = facet.all_numbers && span && span->kind == FacetKind::number;
      facet.all_dates = facet.all_dates && span && span->kind == FacetKind::date;
      if (span) entry.add_value(facet.slot, Xapian::sortable_serialise(span->first));
    }
    entry.set_data(document->id);
    database.add_document(entry);
  }
  database.set_metadata(facets_key, described(facets));
  database.commit();
}

Reference::Reference(const std::filesystem::path& directory, const ReferenceSettings& settings)
    : settings_(settings),
      database_(directory.string()),
      language_(database_, facets_of(database_), settings.language) {}

ReferenceRanking Reference::match(const Xapian::Query& query) const {
  Xapian::Enquire enquire(database_);
  enquire.set_weighting_scheme(
      Xapian::BM25Weight(settings_.k1, 0, settings_.k3, settings_.b, settings_.min_normalised_length));
  enquire.set_query(query);
  const auto everything = database_.get_doccount();
  const Xapian::MSet found = enquire.get_mset(0, everything, everything);
  ReferenceRanking ranking;
  ranking.reserve(found.size());
  for (auto hit = found.begin(); hit != found.end(); ++hit) ranking.push_back({*hit, hit.get_weight()});
  return ranking;
}

namespace {

// The whole meaning as one query of Xapian.
Xapian::Query engine_query(const Meaning& meaning) {
  using Q = Xapian::Query;
  using Kind = Meaning::Kind;
  std::vector<Q> parts;
  for (const auto& part : meaning.parts) parts.push_back(engine_query(part));
  const auto combined = [&](Q::op op) {
    Q query = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i) query = Q(op, query, parts[i]);
    return query;
  };
  switch (meaning.kind) {
    case Kind::words: return meaning.words;
    case Kind::all_of: return Q(Q::OP_AND, parts.begin(), parts.end());
    case Kind::any_of: return Q(Q::OP_OR, parts.begin(), parts.end());
    case Kind::and_not: return combined(Q::OP_AND_NOT);
    case Kind::and_maybe: return combined(Q::OP_AND_MAYBE);
    case Kind::unscored: return Q(Q::OP_SCALE_WEIGHT, parts.front(), 0.0);
    case Kind::document: throw std::logic_error("no query of Xapian's names a document by its number");
    case Kind::range: break;
  }
  if (!(meaning.lowest <= meaning.highest)) return Q();
  const std::string lowest = Xapian::sortable_serialise(meaning.lowest);
  const std::string highest = Xapian::sortable_serialise(meaning.highest);
  // A document without a value has the empty one, below every number.
  return Q(Q::OP_VALUE_RANGE, meaning.slot, std::isinf(meaning.lowest) ? std::string(1, '\0') : lowest, highest);
}

}  // namespace

Meaning Reference::similar_to(Xapian::docid document) const {
  struct Subject {
    double weight;
    std::string term;
    Xapian::termcount count;
  };
  const double documents = database_.get_doccount();
  std::vector<Subject> subjects;
  for (auto term = database_.termlist_begin(document); term != database_.termlist_end(document); ++term) {
    const std::string name = *term;
    const double frequency = database_.get_termfreq(name);
    // Stems of title and text; a word that no other document has finds nothing.
    if (name.size() < 2 || name[0] != 'Z' || (name[1] >= 'A' && name[1] <= 'Z') || frequency < 2) continue;
    double ratio = (documents - frequency + 0.5) / (frequency + 0.5);
    if (ratio < 2) ratio = ratio * 0.5 + 1;
    subjects.push_back({term.get_wdf() * std::log(ratio), name, term.get_wdf()});
  }
  std::sort(subjects.begin(), subjects.end(), [](const Subject& a, const Subject& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.term < b.term;
  });
  if (subjects.size() > 25) subjects.resize(25);
  Meaning any_of;
  any_of.kind = Meaning::Kind::any_of;
  for (const auto& subject : subjects) {
    any_of.parts.emplace_back();
    any_of.parts.back().words = Xapian::Query(subject.term, subject.count);
  }
  if (subjects.empty()) any_of.parts.emplace_back();
  Meaning itself;
  itself.kind = Meaning::Kind::document;
  itself.document = document;
  Meaning others;
  others.kind = Meaning::Kind::and_not;
  others.parts = {std::move(any_of), std::move(itself)};
  return others;
}

ReferenceRanking Reference::by_engine(const Meaning& meaning) const {
  ReferenceRanking ranking = match(engine_query(meaning));
  sort_by_rank(ranking);
  return ranking;
}

ReferenceRanking Reference::by_algebra(const Meaning& meaning) const {
  ReferenceRanking ranking;
  for (const auto& [document, score] : scores_of(meaning)) ranking.push_back({document, score});
  sort_by_rank(ranking);
  return ranking;
}

std::shared_ptr<const Reference::Scores> Reference::scores_of_words(const Xapian::Query& query) const {
  constexpr std::size_t most_entries = 16'000'000;
  const std::string key = query.get_description();
  if (const auto known = matched_.find(key); known != matched_.end()) return known->second;
  auto scores = std::make_shared<Scores>();
  for (const auto& hit : match(query)) scores->emplace_back(hit.document, hit.score);
  std::sort(scores->begin(), scores->end());
  if (matched_entries_ + scores->size() > most_entries) {
    matched_.clear();
    matched_entries_ = 0;
  }
  matched_entries_ += scores->size();
  matched_.emplace(key, scores);
  return scores;
}

Reference::Scores Reference::scores_of_range(const Meaning& range) const {
  Scores scores;
  for (auto value = database_.valuestream_begin(range.slot); value != database_.valuestream_end(range.slot); ++value) {
    const double number = Xapian::sortable_unserialise(*value);
    if (range.lowest <= number && number <= range.highest) scores.emplace_back(value.get_docid(), 0.0);
  }
  return scores;
}

Reference::Scores Reference::scores_of(const Meaning& meaning) const {
  using Kind = Meaning::Kind;
  if (meaning.kind == Kind::words) return *scores_of_words(meaning.words);
  if (meaning.kind == Kind::range) return scores_of_range(meaning);
  if (meaning.kind == Kind::document) return {{meaning.document, 0.0}};
  Scores scores = scores_of(meaning.parts.front());
  if (meaning.kind == Kind::unscored) {
    for (auto& entry : scores) entry.second = 0;
    return scores;
  }
  for (std::size_t i = 1; i < meaning.parts.size(); ++i) {
    const Scores other = scores_of(meaning.parts[i]);
    Scores both;
    auto right = other.begin();
    const auto take_others_before = [&](Xapian::docid document) {
      for (; right != other.end() && right->first < document; ++right) {
        if (meaning.kind == Kind::any_of) both.push_back(*right);
      }
    };
    for (const auto& left : scores) {
      take_others_before(left.first);
      const bool in_both = right != other.end() && right->first == left.first;
      const bool kept = meaning.kind == Kind::all_of ? in_both : meaning.kind == Kind::and_not ? !in_both : true;
      if (kept) both.emplace_back(left.first, left.second + (in_both ? right->second : 0));
      if (in_both) ++right;
    }
    take_others_before(std::numeric_limits<Xapian::docid>::max());
    scores = std::move(both);
  }
  return scores;
}

std::string Reference::id_of(Xapian::docid document) const { return database_.get_document(document).get_data(); }

}  // namespace hedgerow::test
