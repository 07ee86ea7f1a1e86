#include "index/facet_tally.hpp"

#include "index/fields.hpp"

namespace hedgerow {

namespace {

result<void> check_count(std::size_t names, const std::string& last) {
  if (names <= Manifest::most_facets) return {};
  return Error{Errc::input, "the collection has more than " + std::to_string(Manifest::most_facets) +
                                " different facets; one of them is '" + last + "'"};
}

}  // namespace

result<void> FacetTally::add(const Document& document) {
  for (const auto& [name, values] : document.facets) {
    if (values.empty()) continue;
    Tally& tally = tallies_[name];
    ++tally.documents;
    if (tally.documents == 1) {
      if (auto checked = check_count(tallies_.size(), name); !checked) return checked;
    }
    const auto number = fields::parse_range_value(values.front());
    if (number && number->kind == fields::ValueKind::number) ++tally.numbers;
    if (number && number->kind == fields::ValueKind::date) ++tally.dates;
  }
  return {};
}

result<void> FacetTally::merge(const FacetTally& other) {
  for (const auto& [name, theirs] : other.tallies_) {
    Tally& tally = tallies_[name];
    tally.documents += theirs.documents;
    tally.numbers += theirs.numbers;
    tally.dates += theirs.dates;
    if (auto checked = check_count(tallies_.size(), name); !checked) return checked;
  }
  return {};
}

result<std::vector<FacetField>> FacetTally::fields() const {
  std::map<std::uint32_t, std::string> slots;
  std::vector<FacetField> found;
  for (const auto& [name, tally] : tallies_) {
    const auto [entry, is_new] = slots.emplace(fields::values_slot(name), name);
    if (!is_new) {
      return Error{Errc::input, "the facets '" + entry->second + "' and '" + name +
                                    "' fall upon one slot of the index; rename one of them"};
    }
    using fields::ValueKind;
    const auto kind = tally.numbers == tally.documents ? ValueKind::number
                      : tally.dates == tally.documents ? ValueKind::date
                                                       : ValueKind::category;
    found.push_back({name, kind, tally.documents});
  }
  return found;
}

}  // namespace hedgerow
