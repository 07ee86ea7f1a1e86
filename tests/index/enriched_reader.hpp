// A corpus with facets of every kind added to its documents, so that filters and ranges of numbers and dates have
// something to find in any collection: "size" (a number), "day" (a date), "stage" (values with blanks, at times two);
// and now and then a few Chinese or Japanese words at the end of the text. Drawn from the document's id; some documents
// lack each.
#pragma once

#include <memory>

#include "corpus/reader.hpp"

namespace hedgerow::test {

class EnrichedReader final : public Reader {
 public:
  explicit EnrichedReader(std::unique_ptr<Reader> reader) : reader_(std::move(reader)) {}
  ReadOutcome next() override;
  ReadProgress progress() const override { return reader_->progress(); }
  RecordPosition position() const override { return reader_->position(); }

 private:
  std::unique_ptr<Reader> reader_;
};

}  // namespace hedgerow::test
