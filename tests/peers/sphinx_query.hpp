// How Sphinx is asked: a statement of SphinxQL. Pure.
#pragma once

#include <string>
#include <string_view>

namespace hedgerow::peers {

// Any of the words, as everywhere here; Sphinx's own default is all of them. Ranked by BM25 alone: the other engines look at
// no distances between words either, and Sphinx is faster so. max_matches is what every agent sends of its hits, 1,000 by
// default: ten are enough.
std::string sphinx_statement(std::string_view query, std::string_view index);

}  // namespace hedgerow::peers
