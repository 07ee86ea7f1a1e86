#include "root/result_cache.hpp"

#include <algorithm>

namespace hedgerow::root {

namespace {

// With lengths before texts, so that no two lists of fields make the same key.
class KeyWriter {
 public:
  void text(std::string_view text) {
    number(text.size());
    key_ += text;
  }
  void number(std::uint64_t number) { key_ += std::to_string(number) + ' '; }
  std::string take() { return std::move(key_); }

 private:
  std::string key_;
};

// About what an entry costs; the parts of fixed size and what the containers take are a round sum.
std::size_t weight_of(std::string_view key, const SearchAnswer& answer) {
  constexpr std::size_t each_entry = 512, each_part = 64;
  std::size_t bytes = sizeof(SearchAnswer) + each_entry + 2 * key.size();
  for (const auto& hit : answer.hits) {
    bytes += sizeof hit + hit.id.size() + hit.title.size() + hit.url.size() + (hit.snippet ? hit.snippet->size() : 0) + each_part;
  }
  if (answer.facets) {
    for (const auto& facet : *answer.facets) {
      bytes += sizeof facet + facet.name.size() + each_part;
      for (const auto& [value, count] : facet.counts) bytes += sizeof(std::pair<std::string, std::uint64_t>) + value.size();
    }
  }
  for (const auto& note : answer.notes) bytes += note.size() + each_part;
  bytes += answer.completeness.missing.size() * sizeof(Completeness::Missing);
  return bytes + (answer.suggestion ? answer.suggestion->size() : 0);
}

}  // namespace

std::string cache_key(const SearchParameters& parameters, const QueryPlan& plan, const std::vector<std::string>& facets) {
  KeyWriter key;
  key.number(plan.generation.value);
  key.text(plan.serialised_query);
  key.text(parameters.query);
  key.text(parameters.like.value_or(""));
  key.number(plan.notes.size());
  for (const auto& note : plan.notes) key.text(note);
  key.number(parameters.k);
  key.number(parameters.offset);
  key.number(parameters.fanout ? std::uint64_t{*parameters.fanout} + 1 : 0);
  key.number(parameters.spelling ? 1 : 0);
  key.number(parameters.snippets ? 1 : 0);
  key.number(parameters.facets.wanted() ? 1 : 0);
  for (const auto& facet : facets) key.text(facet);
  return key.take();
}

bool may_keep(const SearchAnswer& answer) {
  const bool subsystems_whole =
      std::all_of(answer.subsystems.begin(), answer.subsystems.end(), [](const AnswerSubsystem& subsystem) {
        return subsystem.status == policy::SubsystemStatus::ok || subsystem.status == policy::SubsystemStatus::off;
      });
  const auto& completeness = answer.completeness;
  return !answer.shed.any() && answer.finished == policy::FinishReason::complete && completeness.partitions_asked > 0 &&
         completeness.partitions_answered == completeness.partitions_asked &&
         completeness.documents_searched == completeness.documents_asked && subsystems_whole;
}

std::shared_ptr<const SearchAnswer> ResultCache::find(const std::string& key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) {
    metrics_.cache_misses.Increment();
    return nullptr;
  }
  metrics_.cache_hits.Increment();
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->answer;
}

void ResultCache::keep(std::string key, SearchAnswer answer) {
  // Whoever gets it from here sends no attempt, and waits for no subsystem.
  answer.trace.reset();
  answer.attempts = {};
  answer.search_time = answer.second_phase_time = {};
  for (auto& subsystem : answer.subsystems) subsystem.time = {};
  const std::size_t bytes = weight_of(key, answer);
  if (bytes > most_bytes_) return;
  if (const auto before = by_key_.find(key); before != by_key_.end()) drop(before->second);
  while (bytes_ + bytes > most_bytes_) {
    drop(std::prev(entries_.end()));
    metrics_.cache_evictions.Increment();
  }
  entries_.push_front({std::move(key), std::make_shared<const SearchAnswer>(std::move(answer)), bytes});
  by_key_.emplace(entries_.front().key, entries_.begin());
  bytes_ += bytes;
  tell();
}

void ResultCache::clear() {
  by_key_.clear();
  entries_.clear();
  bytes_ = 0;
  tell();
}

void ResultCache::drop(Entries::iterator entry) {
  bytes_ -= entry->bytes;
  by_key_.erase(entry->key);
  entries_.erase(entry);
  tell();
}

void ResultCache::tell() {
  metrics_.cache_bytes.Set(static_cast<double>(bytes_));
  metrics_.cache_answers.Set(static_cast<double>(entries_.size()));
}

}  // namespace hedgerow::root
