// What the reference makes of facets, by code of its own: terms, and numbers that ranges compare. Nothing here comes
// from index/fields; docs/queries.md is what both follow.
#pragma once

#include <xapian.h>

#include <optional>
#include <string>
#include <string_view>

namespace hedgerow::test {

enum class FacetKind { category, number, date };

struct ReferenceFacet {
  std::string name;
  Xapian::valueno slot = 0;  // the first value as a number, where it is one or a date
  FacetKind kind = FacetKind::category;
};

// A number or a date; of a date the first and the last second since 1970 (UTC) that it means: "2024-02" is 29 days long.
struct Span {
  FacetKind kind = FacetKind::number;
  double first = 0;
  double last = 0;
};

// "42", "-1.5"; "2024-02", "2024-02-29", "2024-02-29T12:30", "2024-02-29 12:30:15Z". Nothing for anything else.
std::optional<Span> span_of(const std::string& text);

// The term of a facet value.
std::string facet_term_of(std::string_view name, std::string_view value);

}  // namespace hedgerow::test
