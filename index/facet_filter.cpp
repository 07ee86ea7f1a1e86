#include "index/facet_filter.hpp"

#include <xapian.h>

#include <limits>
#include <optional>

#include "index/fields.hpp"
#include "index/statistics.hpp"

namespace hedgerow {

namespace {

using fields::RangeValue;
using fields::ValueKind;

constexpr std::string_view range_mark = "..";

std::string_view trimmed_part(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

std::string what_it_takes(const FacetField& facet) {
  switch (facet.kind) {
    case ValueKind::number: return facet.name + ": takes numbers, as in " + facet.name + ":1..10, 1.. or ..10";
    case ValueKind::date:
      return facet.name + ": takes dates, as in " + facet.name + ":2024-01..2024-06-30, 2024.. or ..2024-06";
    case ValueKind::category: break;
  }
  return facet.name + ": takes one of its values; its values are not all numbers or all dates, so it has no ranges";
}

Error refused(const FacetField& facet, std::string_view value, const std::string& why) {
  return {Errc::invalid_argument,
          facet.name + ":" + std::string(value) + ": " + why + "; " + what_it_takes(facet)};
}

std::optional<RangeValue> read_bound(const FacetField& facet, std::string_view text) {
  auto value = fields::parse_range_value(text);
  if (value && value->kind == facet.kind) return value;
  // By itself a year looks like a number.
  if (facet.kind != ValueKind::date || text.size() != 4) return std::nullopt;
  const auto first = fields::parse_range_value(std::string(text) + "-01");
  const auto last = fields::parse_range_value(std::string(text) + "-12");
  if (!first || !last) return std::nullopt;
  return RangeValue{ValueKind::date, first->first, last->last};
}

result<QueryNode> range_node(std::string_view value, std::size_t mark, const FacetField& facet) {
  const std::string_view from = trimmed_part(value.substr(0, mark));
  const std::string_view to = trimmed_part(value.substr(mark + range_mark.size()));
  if (from.empty() && to.empty()) return refused(facet, value, "a range without a bound");
  QueryNode node;
  node.op = QueryOperator::range;
  node.slot = fields::number_slot(facet.name);
  double lowest = -std::numeric_limits<double>::infinity();
  double highest = std::numeric_limits<double>::infinity();
  if (!from.empty()) {
    const auto bound = read_bound(facet, from);
    if (!bound) return refused(facet, value, "'" + std::string(from) + "' cannot be read");
    lowest = bound->first;
    node.begin = Xapian::sortable_serialise(lowest);
  }
  if (!to.empty()) {
    const auto bound = read_bound(facet, to);
    if (!bound) return refused(facet, value, "'" + std::string(to) + "' cannot be read");
    highest = bound->last;
    node.end = Xapian::sortable_serialise(highest);
  }
  if (lowest > highest) return refused(facet, value, "the range ends before it begins");
  return node;
}

QueryNode term_node(QueryOperator op, std::string term) {
  QueryNode node;
  node.op = op;
  node.term = std::move(term);
  return node;
}

}  // namespace

result<QueryNode> filter_node(const FacetFilter& filter, const FacetField& facet,
                              const CollectionStatistics& statistics) {
  const std::string term = fields::facet_term_prefix(facet.name) + fields::in_lower_case(filter.value);
  if (const auto mark = filter.value.find(range_mark); mark != std::string::npos) {
    if (facet.kind != ValueKind::category) return range_node(filter.value, mark, facet);
    // A value may hold two dots; what is none was meant as a range.
    if (!filter.quoted && statistics.document_frequency(term) == 0) {
      return refused(facet, filter.value, "a range of what has none");
    }
    return term_node(QueryOperator::term, term);
  }
  if (!filter.quoted && filter.value.ends_with('*')) {
    return term_node(QueryOperator::prefix, term.substr(0, term.size() - 1));
  }
  return term_node(QueryOperator::term, term);
}

}  // namespace hedgerow
