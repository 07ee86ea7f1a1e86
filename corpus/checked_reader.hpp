// What every format has to hold, held in one place: wraps a format's reader and lets only sound documents through.
#pragma once

#include <map>
#include <memory>

#include "corpus/id_set.hpp"
#include "corpus/reader.hpp"

namespace hedgerow {

// Makes the promises of Document true: repairs UTF-8 and control characters, leaves unfit facets out, and turns unfit
// ids, duplicate ids and empty documents into ReadErrors at the document's position.
class CheckedReader final : public Reader {
 public:
  explicit CheckedReader(std::unique_ptr<Reader> inner);

  ReadOutcome next() override;
  ReadProgress progress() const override;
  RecordPosition position() const override { return inner_->position(); }
  std::vector<std::string> notes() const override;

 private:
  bool repair(Document& document);
  void sift_facets(Document& document);

  std::unique_ptr<Reader> inner_;
  IdSet ids_;
  std::uint64_t documents_ = 0;
  std::uint64_t errors_ = 0;
  std::uint64_t repaired_ = 0;
  std::uint64_t unfit_facet_values_ = 0;
};

}  // namespace hedgerow
