#include "collection_material.hpp"

#include <time.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>

namespace hedgerow::test {

namespace {

using Positions = std::map<Xapian::termpos, std::string>;

bool is_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// A word, and the pair that it makes with the word right behind it.
void draw(const Positions& words, Random& random, std::vector<std::string>& single, QueryMaterial::Pairs& pairs) {
  if (words.empty()) return;
  const auto at = std::next(words.begin(), static_cast<std::ptrdiff_t>(random.below(words.size())));
  if (!is_ascii(at->second)) return;
  single.push_back(at->second);
  const auto next = words.find(at->first + 1);
  if (next != words.end() && is_ascii(next->second)) pairs.emplace_back(at->second, next->second);
}

// Names of words alone: what other punctuation means to the parser is no matter of names.
void draw_name(const std::string& name, QueryMaterial& material) {
  const bool plain = !name.empty() && name.size() < 60 && std::isalnum(static_cast<unsigned char>(name.front())) != 0 &&
                     std::all_of(name.begin(), name.end(), [](unsigned char c) {
                       return c == ' ' || c == '-' || c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
                     });
  if (plain && name.find(" -") == std::string::npos) material.names.push_back(name);
}

// The other way round: a run of characters that are no words.
void draw_ideographs(const Positions& words, QueryMaterial& material) {
  std::string run;
  for (const auto& [position, word] : words) {
    const bool ideograph = word.size() == 3 && static_cast<unsigned char>(word.front()) >= 0xe3;
    if (ideograph) run += word;
    if (run.size() >= 12 || (!ideograph && !run.empty())) break;
  }
  if (!run.empty()) material.ideographs.push_back(run);
}

std::string as_text(double value, FacetKind kind) {
  char text[32];
  if (kind == FacetKind::number) {
    std::snprintf(text, sizeof text, "%.15g", value);
    return text;
  }
  const auto seconds = static_cast<std::time_t>(value);
  std::tm moment{};
  ::gmtime_r(&seconds, &moment);
  std::strftime(text, sizeof text, "%Y-%m-%d", &moment);
  return text;
}

void draw_facets(const Reference& reference, Xapian::docid docid, const std::vector<std::string>& terms,
                 QueryMaterial& material) {
  const Xapian::Document document = reference.database().get_document(docid);
  for (const ReferenceFacet& facet : reference.language().facets()) {
    if (facet.kind != FacetKind::category) {
      const std::string stored = document.get_value(facet.slot);
      if (stored.empty()) continue;
      const FacetValue value{facet.name, as_text(Xapian::sortable_unserialise(stored), facet.kind)};
      (facet.kind == FacetKind::number ? material.numbers : material.dates).push_back(value);
    }
    const std::string before = facet_term_of(facet.name, "");
    for (const auto& term : terms) {
      // A number's or date's value is found in few documents: a few such filters will do.
      if (!term.starts_with(before) || (facet.kind != FacetKind::category && docid % 20 != 0)) continue;
      material.facet_values.push_back({facet.name, term.substr(before.size())});
    }
  }
}

}  // namespace

QueryMaterial material_of(const Reference& reference, Random& random) {
  const Xapian::Database& database = reference.database();
  QueryMaterial material;
  const auto last = database.get_lastdocid();
  while (material.words.size() < 20'000 || material.neighbours.size() < 5'000) {
    const auto docid = static_cast<Xapian::docid>(1 + random.below(last));
    Positions text;
    Positions title;
    std::vector<std::string> facet_terms;
    for (auto term = database.termlist_begin(docid); term != database.termlist_end(docid); ++term) {
      const std::string name = *term;
      if (name.starts_with("XF")) facet_terms.push_back(name);
      if (name.starts_with("XN")) draw_name(name.substr(2), material);
      const bool of_title = name.front() == 'S';
      if (!of_title && name.front() >= 'A' && name.front() <= 'Z') continue;
      for (auto position = term.positionlist_begin(); position != term.positionlist_end(); ++position) {
        (of_title ? title : text).emplace(*position, of_title ? name.substr(1) : name);
      }
    }
    if (text.size() < 2) continue;
    draw(text, random, material.words, material.neighbours);
    draw(title, random, material.title_words, material.title_neighbours);
    draw_ideographs(text, material);
    draw_facets(reference, docid, facet_terms, material);
  }
  std::map<std::string, int> seen;
  for (const auto& word : material.words) ++seen[word];
  std::vector<std::pair<int, std::string>> by_count;
  for (const auto& [word, count] : seen) by_count.emplace_back(count, word);
  std::sort(by_count.rbegin(), by_count.rend());
  for (std::size_t i = 0; i < std::min<std::size_t>(8, by_count.size()); ++i) {
    material.frequent_words.push_back(by_count[i].second);
  }
  return material;
}

}  // namespace hedgerow::test
