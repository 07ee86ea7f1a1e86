// Which ids there have been, by 64-bit hash: 8 bytes an id, and as much again for the free places of the table.
//
// Two different ids of n are taken for the same with a chance of n^2 / 2^65: 3 in a million for 10^7 ids.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace hedgerow {

class IdSet {
 public:
  // True if the id is new.
  bool insert(std::string_view id);
  std::uint64_t size() const { return size_; }

 private:
  void grow();

  // Open addressing with linear probing; 0 marks a free place; the size is a power of two, at most half of it taken.
  std::vector<std::uint64_t> places_;
  std::uint64_t size_ = 0;
};

}  // namespace hedgerow
