#include "reference.hpp"

#include <algorithm>
#include <stdexcept>
#include <variant>

namespace hedgerow::test {

namespace {

void sort_by_rank(ReferenceRanking& ranking) {
  std::sort(ranking.begin(), ranking.end(), [](const ReferenceHit& a, const ReferenceHit& b) {
    const auto score_a = static_cast<float>(a.score);
    const auto score_b = static_cast<float>(b.score);
    return score_a > score_b || (score_a == score_b && a.document < b.document);
  });
}

}  // namespace

void Reference::build(Reader& reader, const std::filesystem::path& directory) {
  Xapian::WritableDatabase database(directory.string(), Xapian::DB_CREATE_OR_OVERWRITE);
  Xapian::TermGenerator generator;
  generator.set_stemmer(Xapian::Stem("english"));
  generator.set_stemming_strategy(Xapian::TermGenerator::STEM_SOME);
  for (;;) {
    const ReadOutcome outcome = reader.next();
    if (std::holds_alternative<EndOfCorpus>(outcome)) break;
    const auto* document = std::get_if<Document>(&outcome);
    if (document == nullptr) continue;
    Xapian::Document entry;
    generator.set_document(entry);
    generator.set_termpos(0);
    generator.index_text(document->title);
    generator.increase_termpos();
    generator.index_text(document->text);
    entry.set_data(document->id);
    database.add_document(entry);
  }
  database.commit();
}

Reference::Reference(const std::filesystem::path& directory) : database_(directory.string()) {}

Xapian::Query Reference::parse(const std::string& query) const {
  Xapian::QueryParser parser;
  parser.set_stemmer(Xapian::Stem("english"));
  parser.set_stemming_strategy(Xapian::QueryParser::STEM_SOME);
  parser.set_default_op(Xapian::Query::OP_OR);
  return parser.parse_query(query, Xapian::QueryParser::FLAG_PHRASE | Xapian::QueryParser::FLAG_LOVEHATE |
                                       Xapian::QueryParser::FLAG_BOOLEAN);
}

ReferenceRanking Reference::match(const Xapian::Query& query) const {
  Xapian::Enquire enquire(database_);
  enquire.set_weighting_scheme(Xapian::BM25Weight());
  enquire.set_query(query);
  const auto everything = database_.get_doccount();
  const Xapian::MSet found = enquire.get_mset(0, everything, everything);
  ReferenceRanking ranking;
  ranking.reserve(found.size());
  for (auto hit = found.begin(); hit != found.end(); ++hit) ranking.push_back({*hit, hit.get_weight()});
  return ranking;
}

ReferenceRanking Reference::by_engine(const Xapian::Query& query) const {
  ReferenceRanking ranking = match(query);
  sort_by_rank(ranking);
  return ranking;
}

ReferenceRanking Reference::by_algebra(const Xapian::Query& query) const {
  ReferenceRanking ranking;
  for (const auto& [document, score] : scores_of(query)) ranking.push_back({document, score});
  sort_by_rank(ranking);
  return ranking;
}

Reference::Scores Reference::scores_of(const Xapian::Query& query) const {
  using Q = Xapian::Query;
  const std::size_t count = query.get_num_subqueries();
  const auto op = query.get_type();
  if (op == Q::LEAF_TERM || op == Q::OP_PHRASE || op == Q::OP_NEAR) {
    Scores scores;
    for (const auto& hit : match(query)) scores.emplace(hit.document, hit.score);
    return scores;
  }
  if (op != Q::OP_AND && op != Q::OP_OR && op != Q::OP_AND_NOT && op != Q::OP_AND_MAYBE) {
    throw std::runtime_error("no algebra for " + query.get_description());
  }
  Scores scores = scores_of(query.get_subquery(0));
  for (std::size_t i = 1; i < count; ++i) {
    const Scores other = scores_of(query.get_subquery(i));
    if (op == Q::OP_AND) std::erase_if(scores, [&](const auto& entry) { return !other.contains(entry.first); });
    if (op == Q::OP_AND_NOT) std::erase_if(scores, [&](const auto& entry) { return other.contains(entry.first); });
    for (const auto& [document, score] : other) {
      if (op == Q::OP_OR) scores[document] += score;
      if ((op == Q::OP_AND || op == Q::OP_AND_MAYBE) && scores.contains(document)) scores[document] += score;
    }
  }
  return scores;
}

std::string Reference::id_of(Xapian::docid document) const { return database_.get_document(document).get_data(); }

}  // namespace hedgerow::test
