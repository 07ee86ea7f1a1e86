// How Sphinx is asked: a statement of SphinxQL. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/peers/engine.hpp"

namespace hedgerow::peers {

struct SphinxAsking {
  std::string index = "whole";  // the distributed one
  // So many hits every agent sends, whatever is asked for. Sphinx's own default is 1,000; for the best ten, ten do.
  std::uint32_t most_matches = wanted_hits;
};

// Any of the words, as everywhere here; Sphinx's own default is all of them. Ranked by BM25 alone: the other engines look at
// no distances between words either, and Sphinx is faster so.
std::string sphinx_statement(std::string_view query, const SphinxAsking& asking);

}  // namespace hedgerow::peers
