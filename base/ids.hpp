// Identifiers that could be swapped by mistake have types of their own.
//
// Each is a plain number with a name: cheap to copy, ordered, hashable, and convertible to nothing else.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace hedgerow {

template <class Tag, class Representation>
struct Id {
  using representation = Representation;
  Representation value{};

  constexpr Id() = default;
  constexpr explicit Id(Representation v) : value(v) {}
  friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

// A partition of the index, numbered from 0.
using PartitionId = Id<struct PartitionTag, std::uint32_t>;
// A leaf of the topology, numbered from 0 in the topology's order.
using LeafId = Id<struct LeafTag, std::uint32_t>;
// A document's sequence number in the whole collection, from 1; it is the Xapian docid in its partition as well, and
// decides ties.
using DocumentNumber = Id<struct DocumentNumberTag, std::uint32_t>;
// A published build of the index; grows by one with every build into the same directory.
using Generation = Id<struct GenerationTag, std::uint64_t>;
// One call on one link, chosen by the caller, never reused on that link.
using CallId = Id<struct CallTag, std::uint64_t>;
// One attempt of one query, numbered from 0 within the query.
using AttemptId = Id<struct AttemptTag, std::uint32_t>;

}  // namespace hedgerow

template <class Tag, class Representation>
struct std::hash<hedgerow::Id<Tag, Representation>> {
  std::size_t operator()(const hedgerow::Id<Tag, Representation>& id) const noexcept {
    return std::hash<Representation>{}(id.value);
  }
};
