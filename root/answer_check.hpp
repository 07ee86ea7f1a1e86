// What a leaf may say about a partition: a leaf that says anything else is broken or hostile, and none of its numbers
// may reach an answer. Pure.
#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "wire/messages.hpp"

namespace hedgerow::root {

struct AnswerBounds {
  std::uint32_t most_hits = 0;             // as asked for
  std::uint32_t partition_documents = 0;   // by the manifest
  std::uint64_t collection_documents = 0;  // document numbers go from 1 to this
};

// Errors: protocol, for more hits than asked for or than the partition has documents, a document number that the
// collection does not have, a score that is no number, is infinite or below 0, hits that are not in ranks_before order
// (so no document comes twice), and a number of matches that does not fit.
result<void> check_answer(const wire::PartitionAnswer& answer, const AnswerBounds& bounds);

}  // namespace hedgerow::root
