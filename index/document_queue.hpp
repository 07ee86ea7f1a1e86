// Documents on their way from the reader to one worker.
//
// Bounded by bytes: push waits while the queue holds more than its bound, so a reader that is faster than the worker is
// slowed to its pace. One thread pushes, one pops.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "base/ids.hpp"
#include "corpus/document.hpp"

namespace hedgerow {

struct NumberedDocument {
  DocumentNumber number;
  Document document;
};

// About what a document takes in memory.
std::uint64_t bytes_of(const Document& document);

class DocumentQueue {
 public:
  // A single document larger than the bound still passes, alone.
  explicit DocumentQueue(std::uint64_t bound_bytes);

  // False once the queue was abandoned; the document is dropped then.
  bool push(NumberedDocument document);
  // Waits for the next document; nothing once the queue was closed and is empty, or was abandoned.
  std::optional<NumberedDocument> pop();
  // By the reader: nothing more comes.
  void close();
  // By anyone: nothing more is wanted.
  void abandon();

 private:
  const std::uint64_t bound_bytes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<NumberedDocument> documents_;
  std::uint64_t bytes_ = 0;
  bool closed_ = false;
  bool abandoned_ = false;
};

}  // namespace hedgerow
