// An answer to one query, as values: what query_service makes and api_json writes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/attempt.hpp"
#include "base/clock.hpp"
#include "base/ids.hpp"
#include "root/policy/query/action.hpp"
#include "root/policy/query/subsystems.hpp"

namespace hedgerow::root {

// Why a partition is missing from an answer.
enum class MissingReason { late, failed, refused, not_asked, unassigned };

constexpr std::string_view to_string(MissingReason reason) {
  switch (reason) {
    case MissingReason::late: return "late";
    case MissingReason::failed: return "failed";
    case MissingReason::refused: return "refused";
    case MissingReason::not_asked: return "not_asked";
    case MissingReason::unassigned: return "unassigned";
  }
  return "failed";
}

struct Completeness {
  std::uint32_t partitions_total = 0;
  std::uint32_t partitions_asked = 0;  // unassigned ones count: they were wanted
  std::uint32_t partitions_answered = 0;
  std::uint64_t documents_total = 0;
  std::uint64_t documents_asked = 0;
  std::uint64_t documents_searched = 0;
  struct Missing {
    PartitionId partition;
    MissingReason reason;
  };
  std::vector<Missing> missing;  // in partition order
  // The expected share of the complete top offset + k that is here; see estimated_recall.
  double estimated_recall = 0;

  // Of all documents, and of those in the partitions asked. An empty whole is complete.
  double fraction() const { return share(documents_searched, documents_total); }
  double of_asked() const { return share(documents_searched, documents_asked); }

 private:
  static double share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
  }
};

struct AnswerHit {
  std::string id;
  double score = 0;
  std::string title;
  std::string url;
  std::optional<std::string> snippet;  // HTML
};

// How an optional subsystem ended, and what it took; by policy::SubsystemKind.
struct AnswerSubsystem {
  policy::SubsystemStatus status = policy::SubsystemStatus::off;
  Duration time{};
};
using AnswerSubsystems = std::array<AnswerSubsystem, policy::subsystem_kinds>;

struct AnswerFacet {
  std::string name;
  std::vector<std::pair<std::string, std::uint64_t>> counts;  // most first, then by the value's bytes
  std::size_t values = 0;  // how many there are in all
  bool partial = false;    // partitions of the collection are not counted in
  bool cut = false;        // some partition had more values than it may tell: rare ones are left out
};

enum class CacheUse { hit, miss, off };

constexpr std::string_view to_string(CacheUse use) {
  switch (use) {
    case CacheUse::hit: return "hit";
    case CacheUse::miss: return "miss";
    case CacheUse::off: return "off";
  }
  return "off";
}

// One attempt's way, for trace=on. Times are since the request was received.
struct AttemptTrace {
  std::string_view work;  // "search", "fetch", or a subsystem's name
  AttemptKind kind = AttemptKind::primary;  // of a search
  std::optional<PartitionId> partition;     // of a search
  std::string leaf;
  Duration sent{};
  std::optional<Duration> queued, started;  // on the leaf: as its times and the way to it let one reckon
  std::optional<Duration> ended;  // its answer came, or it was given up
  std::optional<Duration> queue_time, service_time;  // as the leaf measured them
  // "answered" (of a hedge "won"), "late", "cancelled" (of one that another answer overtook "lost"), or a failure's word.
  std::string outcome;
  std::string fault;
  bool executed = false;  // the leaf said that it began
};

struct SearchAnswer {
  std::vector<AnswerHit> hits;
  std::uint32_t offset = 0;
  std::uint64_t total = 0;
  bool total_exact = false;
  Duration took{};
  Duration deadline{};
  policy::FinishReason finished = policy::FinishReason::complete;
  Completeness completeness;
  // Of the search phase, by kind; of the hedges, those whose answer was the first; of all, those that were given up.
  struct Attempts {
    std::uint32_t primary = 0, retry = 0, hedge = 0, hedge_won = 0, tied = 0, canary = 0, probe = 0, cancelled = 0;
  } attempts;
  AnswerSubsystems subsystems;
  std::optional<std::string> suggestion;           // of spelling: the query as it may have been meant
  std::optional<std::vector<AnswerFacet>> facets;  // where asked for, in the order asked
  std::vector<std::string> notes;                  // what the asker should know of how the query was read
  CacheUse cache = CacheUse::off;
  // What was left out because there was too much to do; see policy/cluster/admission.
  struct Shed {
    bool subsystems = false, fanout = false;
    bool any() const { return subsystems || fanout; }
  } shed;
  // Where the time went.
  Duration plan_time{}, search_time{}, second_phase_time{};
  std::optional<std::vector<AttemptTrace>> trace;
};

// An answer to /v1/documents/{id}.
struct DocumentAnswer {
  std::string id, title, url, text;
  std::string facets_json;  // an object of arrays of strings
  PartitionId partition;
  Duration took{};
};

// A query that gets no answer: the HTTP status and the words.
struct SearchRefusal {
  int status = 500;
  std::string type;
  std::string detail;
  std::optional<Completeness> completeness;
  std::optional<int> retry_after_seconds;
  std::string parameter;
};

}  // namespace hedgerow::root
