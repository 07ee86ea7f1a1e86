// Which queries are known to be safe, and which are known to take leaves down. Pure.
//
// Intuition: a query that has been answered once will hardly crash a leaf the next time; one that took two leaves down
// will take down the third. So what became of each query is remembered, by its fingerprint: the exact normalised query,
// never a hash of it, since an innocent query that shares a hash with a deadly one would be refused.
//
//   unknown ──▶ in trial (see canary) ──▶ safe
//                  │                        │ lost two leaves in its fan-out: unknown again, and the second time
//                  ▼                        ▼
//              suspected ──────────────▶ quarantined ──(its time is over, or cleared)──▶ unknown, on parole
//
// A suspicion is one leaf that a query seems to have taken down; two are a conviction. Suspicions and earlier
// convictions count for a while: such a query is convicted by one leaf more, so that each new trial of a deadly query
// costs one leaf, and each conviction lasts twice as long as the one before. An answer acquits of everything: one
// canary's of suspicions and convictions, a whole search's of leaves lost in the fan-out.
//
// Losses in a fan-out are counted by happenings, not by searches: copies of a query that were under way together lose the
// same leaves, whoever took these down, and count once.
//
// Bounds: safe queries in number and bytes (those that were not asked for the longest go; they only need another
// canary), records in number (those of no quarantine go first, then the oldest quarantine). Shared by the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "base/ids.hpp"

namespace hedgerow::policy {

enum class QuarantineReason {
  crash,        // canaries' leaves died, or their links broke
  hang,         // canaries' leaves live on, and never answered
  lost_leaves,  // it passed its canaries, and then lost leaves in its fan-outs
};

constexpr std::string_view to_string(QuarantineReason reason) {
  switch (reason) {
    case QuarantineReason::crash: return "crash";
    case QuarantineReason::hang: return "hang";
    case QuarantineReason::lost_leaves: return "lost_leaves";
  }
  return "crash";
}

struct QuarantineSettings {
  Duration time = std::chrono::minutes(5);         // of a first conviction; 0: nothing is ever quarantined
  Duration longest_time = std::chrono::hours(4);   // however often it was convicted before
  Duration memory = std::chrono::hours(1);         // for how long suspicions, losses and former convictions count
  std::size_t most_safe = 65'536;
  std::size_t most_safe_bytes = 32 << 20;
  std::size_t most_records = 1024;
};

class Quarantine {
 public:
  static constexpr std::uint32_t suspicions_for_conviction = 2;
  static constexpr std::uint32_t losses_for_conviction = 2;
  static constexpr std::size_t longest_shown = 200;

  struct Entry {
    std::uint64_t id = 0;  // grows with every conviction, never used again
    std::string fingerprint;
    std::string shown;  // the query as it was typed
    QuarantineReason reason = QuarantineReason::crash;
    std::vector<LeafId> leaves;  // that it took down, as far as this is known
    Instant since{}, until{};
    std::uint64_t refused = 0;   // queries since then
  };

  explicit Quarantine(const QuarantineSettings& settings = {}) : settings_(settings) {}

  // Null: it is not quarantined now. Counts a refusal.
  const Entry* refuse(const std::string& fingerprint, Instant now);
  // The same, and nothing is counted.
  const Entry* find_quarantined(const std::string& fingerprint, Instant now);
  bool is_safe(const std::string& fingerprint);
  // What it is suspected of as a trial begins.
  std::uint32_t suspicions(const std::string& fingerprint, Instant now);

  // How a trial ended.
  void on_safe(const std::string& fingerprint);
  void on_undecided(const std::string& fingerprint, std::uint32_t suspicions, Instant now);
  void on_guilty(const std::string& fingerprint, std::string_view shown, QuarantineReason reason,
                 std::vector<LeafId> leaves, Instant now);
  // What looked like a hang was answered after all; so many suspicions are left.
  void lift(const std::string& fingerprint, std::uint32_t suspicions, Instant now);
  // A search of it that had begun then lost these leaves in its fan-out, although it was known as safe, or nobody had
  // asked for a canary.
  void on_leaves_lost(const std::string& fingerprint, std::string_view shown, std::vector<LeafId> leaves, Instant began,
                      Instant now);
  // Every partition answered it, and no leaf was lost meanwhile.
  void on_answered_whole(const std::string& fingerprint);

  // What is quarantined now, the latest first.
  std::vector<Entry> entries(Instant now);
  // Forget what is held against every query, or the one quarantined by this id. How many were quarantined.
  std::size_t clear(Instant now);
  bool clear(std::uint64_t id, Instant now);

  std::size_t safe() const { return safe_.size(); }
  std::size_t safe_bytes() const { return safe_bytes_; }
  std::size_t records() const { return records_.size(); }
  std::size_t quarantined(Instant now) const;
  const QuarantineSettings& settings() const { return settings_; }

 private:
  struct Record {
    Entry entry;
    bool quarantined = false;
    std::uint32_t suspicions = 0, losses = 0, convictions = 0;
    std::optional<Instant> last_loss;
    Instant changed{};
  };
  using Safe = std::list<std::string>;
  using Records = std::list<Record>;

  bool holds(const Record& record, Instant now) const { return record.quarantined && now < record.entry.until; }
  // The record that still counts; records_.end(): none.
  Records::iterator find(const std::string& fingerprint, Instant now);
  // The same, made where there is none, and the latest from now on.
  Record& record(const std::string& fingerprint, Instant now);
  void convict(Record& record, QuarantineReason reason, std::vector<LeafId> leaves, std::string_view shown, Instant now);
  void erase(Records::iterator record);
  void forget_safe(const std::string& fingerprint);

  QuarantineSettings settings_;
  Safe safe_;  // the one asked for last first
  std::unordered_map<std::string_view, Safe::iterator> safe_by_fingerprint_;  // views of the list's own
  std::size_t safe_bytes_ = 0;
  Records records_;  // the one changed last first
  std::unordered_map<std::string_view, Records::iterator> record_by_fingerprint_;
  std::uint64_t last_id_ = 0;
};

}  // namespace hedgerow::policy
