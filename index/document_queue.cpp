#include "index/document_queue.hpp"

#include <utility>

namespace hedgerow {

std::uint64_t bytes_of(const Document& document) {
  std::uint64_t bytes = sizeof(NumberedDocument) + document.id.size() + document.title.size() + document.url.size() +
                        document.text.size();
  for (const auto& [name, values] : document.facets) {
    bytes += name.size() + 100;
    for (const auto& value : values) bytes += value.size() + sizeof(std::string);
  }
  return bytes;
}

DocumentQueue::DocumentQueue(std::uint64_t bound_bytes) : bound_bytes_(bound_bytes) {}

bool DocumentQueue::push(NumberedDocument document) {
  const std::uint64_t bytes = bytes_of(document.document);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return abandoned_ || bytes_ == 0 || bytes_ + bytes <= bound_bytes_; });
  if (abandoned_) return false;
  bytes_ += bytes;
  documents_.push_back(std::move(document));
  lock.unlock();
  changed_.notify_one();
  return true;
}

std::optional<NumberedDocument> DocumentQueue::pop() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return abandoned_ || closed_ || !documents_.empty(); });
  if (abandoned_ || documents_.empty()) return std::nullopt;
  NumberedDocument document = std::move(documents_.front());
  documents_.pop_front();
  bytes_ -= bytes_of(document.document);
  lock.unlock();
  changed_.notify_one();
  return document;
}

void DocumentQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

void DocumentQueue::abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  documents_.clear();
  bytes_ = 0;
  changed_.notify_all();
}

}  // namespace hedgerow
