// What came of asking a test collection's queries, and how good the answers are: measures, completeness and latency side
// by side, so that one sees what partial answers cost. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/histogram.hpp"
#include "lab/qrels.hpp"
#include "lab/queries_file.hpp"
#include "lab/relevance.hpp"
#include "lab/run_file.hpp"

namespace hedgerow::lab {

struct QueryOutcome {
  std::vector<RankedDocument> hits;
  // Why there is no answer: a short word or two of few kinds ("status 400", "expired"); empty where there is one.
  std::string failure;
  // The failure in full, for people.
  std::string detail;
  std::optional<double> completeness;  // the fraction of documents that were looked at
  Duration latency{};
};

class Evaluation {
 public:
  // source: what was asked, for the report. depth: how many hits were asked for.
  Evaluation(std::string source, std::size_t depth);

  // Queries without judgements are left out; judged queries that are no queries of the file are counted, and count for
  // nothing. A query that failed, or found nothing, counts 0.
  void record(const TestQuery& query, const QueryOutcome& outcome, const Qrels& qrels);
  void set_unasked(std::uint64_t without_judgements, std::uint64_t without_text);

  std::uint64_t judged() const { return judged_; }
  std::uint64_t failed() const { return failed_; }
  Measures mean() const { return mean_of(measured_, judged_); }

  nlohmann::ordered_json to_json() const;
  std::string to_text() const;

 private:
  std::string source_;
  std::size_t depth_;
  std::vector<Measures> measured_;  // of judged queries with hits
  std::uint64_t judged_ = 0, failed_ = 0, without_hits_ = 0, without_judgements_ = 0, without_text_ = 0;
  std::map<std::string, std::uint64_t> failures_;
  std::uint64_t with_completeness_ = 0, complete_ = 0;
  double completeness_sum_ = 0, completeness_min_ = 1;
  Histogram latency_;  // of answers, in nanoseconds
};

}  // namespace hedgerow::lab
