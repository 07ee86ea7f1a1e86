// `hedgerow-lab evaluate`: asks the queries of a test collection, of a cluster or of an index in this process, and
// measures the answers against its judgements.
//
// One thread. A query is asked once: what fails counts 0, and is told.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "lab/evaluation.hpp"
#include "lab/search_target.hpp"

namespace hedgerow::lab {

struct EvaluateSettings {
  std::filesystem::path queries, qrels;
  // One of the two: a root ("http://127.0.0.1:7080"), or an index directory that is searched in this process.
  std::string target;
  std::filesystem::path index;
  // How many hits are asked for; the measures see no more.
  std::uint32_t depth = 100;
  // Queries of test collections are sentences, and published results take them as words; so by default only their words
  // are asked (see plain_words). As typed, quotes, hyphens and operators mean what they mean to the query language.
  bool as_typed = false;
  // The run is written here, in TREC's form, where the path is not empty.
  std::filesystem::path run;
  std::string tag = "hedgerow";
  // Through a root: parameters of each query, how many are asked at once, and how long one may take.
  SearchParameters parameters;
  std::size_t clients = 4;
  Duration time_limit = std::chrono::seconds(10);
};

// The queries' outcomes, in their order. Every query has one; errors are only for what concerns all of them: those of
// LocalSearch::open; of resolve_address; refused where nobody listens.
result<std::vector<QueryOutcome>> ask_index(const std::filesystem::path& index, const std::vector<TestQuery>& queries,
                                            std::uint32_t depth);
boost::asio::awaitable<result<std::vector<QueryOutcome>>> ask_root(const EvaluateSettings& settings,
                                                                   const std::vector<TestQuery>& queries);

// The parameters that a query is asked with: the given ones, k, and words that keep off what has no part in the hits
// (spelling, snippets) or would hide their latency (the cache), unless they are given.
SearchParameters evaluation_parameters(const SearchParameters& given, std::uint32_t depth);

// Returns the exit status: 0 when every judged query was answered, 1 when some failed (or the run could not be written),
// 2 when nothing could be measured. The report goes to standard output, why queries failed to standard error.
int run_evaluate(const EvaluateSettings& settings, bool json);

}  // namespace hedgerow::lab
