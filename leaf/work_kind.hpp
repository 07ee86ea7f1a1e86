// The kinds of work that a leaf does, and which of them goes first.
//
// Two kinds are for the hits: searches find them, fetches show them. The rest is side work: an answer is good without
// it, so it goes behind and never takes the last thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/attempt.hpp"

namespace hedgerow::leaf {

// In the order in which a queue prefers them: a fetch ends a query that a search has cost much already, and among the
// side work the short kinds go before the long ones.
enum class WorkKind : std::uint8_t { fetch, search, snippets, lookup, spelling, facets };

inline constexpr std::array work_kinds{WorkKind::fetch,  WorkKind::search,   WorkKind::snippets,
                                       WorkKind::lookup, WorkKind::spelling, WorkKind::facets};

constexpr std::string_view to_string(WorkKind kind) {
  switch (kind) {
    case WorkKind::fetch: return "fetch";
    case WorkKind::search: return "search";
    case WorkKind::snippets: return "snippets";
    case WorkKind::lookup: return "lookup";
    case WorkKind::spelling: return "spelling";
    case WorkKind::facets: return "facets";
  }
  return "search";
}

// Which threads may do it, and how much of it may wait: see work_queue.
enum class Lane : std::uint8_t { hits, side };

constexpr Lane lane_of(WorkKind kind) {
  return kind == WorkKind::search || kind == WorkKind::fetch ? Lane::hits : Lane::side;
}

}  // namespace hedgerow::leaf
