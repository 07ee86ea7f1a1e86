// What a person typed, made ready for Xapian's parser.
//
// - Words are in lower case, so that "Editor" finds what "editor" finds (the parser takes no stem of a capitalised
//   word); operators (AND OR NOT XOR NEAR ADJ, NEAR/3) and acronyms (U.S.A.) stay as they are.
// - The fields of facets are taken out, with their values, and a numbered mark stands in their place. The parser's own
//   fields take names of letters and digits only, and do not tell "quoted" values from others.
// - A field that does not exist is read as words.
//
// Pure. Any bytes may come; ill-formed UTF-8 is read as the parser would read it, as Latin-1.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "index/manifest.hpp"

namespace hedgerow {

// facet:value, facet:"value", facet:begin*, facet:1..2
struct FacetFilter {
  std::size_t facet = 0;  // its place among the facets
  std::string value;      // as it was typed, without quotes; not empty
  bool quoted = false;
};

struct QueryText {
  std::string text;
  std::vector<FacetFilter> filters;
  // The field that stands for the facet with number N is mark + N, and its value the number of the filter.
  std::string mark;
  // What of the text typed was in quotes or of a field, in bytes from and up to, in rising order.
  std::vector<std::pair<std::size_t, std::size_t>> set_apart;
  std::vector<std::string> notes;
};

// Errors: invalid_argument (a facet's value in parentheses, a NEAR/N beyond 1000).
result<QueryText> prepare_query_text(std::string_view typed, const std::vector<FacetField>& facets);

}  // namespace hedgerow
