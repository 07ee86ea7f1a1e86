// Answers that were complete, kept for whoever asks the same again.
//
// On the root's thread. Bounded by what the answers weigh: beyond it, those that were not asked for the longest go. An
// answer is a value of its own and is never changed; a key holds everything that it depends on, the generation of the
// index included, so nothing ever has to be taken back. What may be kept is for the caller to say (see may_keep).
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "index/query.hpp"
#include "root/answer.hpp"
#include "root/metrics.hpp"
#include "root/search_parameters.hpp"

namespace hedgerow::root {

// All that an answer depends on, as bytes: the plan and its generation, the text (for what may have been meant), and the
// parameters that change what an answer says. facets: as asked for, resolved.
std::string cache_key(const SearchParameters& parameters, const QueryPlan& plan, const std::vector<std::string>& facets);

// Complete in every part: all that was asked answered, every subsystem that was asked for is ok, and nothing was left out
// for load. Nothing partial is ever kept.
bool may_keep(const SearchAnswer& answer);

class ResultCache {
 public:
  // most_bytes 0: keeps nothing.
  ResultCache(std::size_t most_bytes, Metrics& metrics) : most_bytes_(most_bytes), metrics_(metrics) {}

  bool on() const { return most_bytes_ > 0; }
  // Null: not there. Counts a hit or a miss.
  std::shared_ptr<const SearchAnswer> find(const std::string& key);
  void keep(std::string key, SearchAnswer answer);
  void clear();

  std::size_t bytes() const { return bytes_; }
  std::size_t size() const { return by_key_.size(); }

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const SearchAnswer> answer;
    std::size_t bytes;
  };
  using Entries = std::list<Entry>;

  void drop(Entries::iterator entry);
  void tell();

  std::size_t most_bytes_;
  Metrics& metrics_;
  std::size_t bytes_ = 0;
  Entries entries_;  // the one asked for last first
  std::unordered_map<std::string_view, Entries::iterator> by_key_;  // views of the entries' own keys
};

}  // namespace hedgerow::root
