#include "corpus/id_set.hpp"

#include "base/random.hpp"

namespace hedgerow {

namespace {

constexpr std::size_t first_size = 1024;

// Puts the hash into its place; false if it was there.
bool place(std::vector<std::uint64_t>& places, std::uint64_t hash) {
  const std::size_t mask = places.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    if (places[at] == hash) return false;
    if (places[at] == 0) {
      places[at] = hash;
      return true;
    }
  }
}

}  // namespace

bool IdSet::insert(std::string_view id) {
  if (2 * (size_ + 1) > places_.size()) grow();
  std::uint64_t hash = stable_hash(id);
  if (hash == 0) hash = 1;
  const bool is_new = place(places_, hash);
  if (is_new) ++size_;
  return is_new;
}

void IdSet::grow() {
  std::vector<std::uint64_t> larger(places_.empty() ? first_size : 2 * places_.size());
  for (const std::uint64_t hash : places_) {
    if (hash != 0) place(larger, hash);
  }
  places_ = std::move(larger);
}

}  // namespace hedgerow
