// A load in the words of its command line, and how it becomes what Load runs: files are read, parameters put together,
// and, where recall or nDCG are wanted, it is found out what the answers should hold. One set of rules for `load` and for
// `sweep`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "lab/load.hpp"

namespace hedgerow::lab {

struct LoadPlan {
  // Target, rate, duration, … as Load takes them; queries, parameters and wanted answers are added.
  LoadSettings load;
  // One query a line; with qrels, a file of test queries with their ids (lab/queries_file).
  std::filesystem::path queries;
  // Judgements. Queries without any are not asked.
  std::filesystem::path qrels;
  // With qrels: as typed. Otherwise only a query's words are asked, as `evaluate` does.
  bool as_typed = false;
  // Where the complete answers come from: an index directory, searched in this process, or a root. Empty: from nowhere.
  // A root is asked before the load, with a deadline of a minute and partial=deny.
  std::string reference;
  // How many hits are asked for, and count for recall. Not given: what a parameter k says, or the root's 10.
  std::optional<std::uint32_t> depth;
  // "name=value" each.
  std::vector<std::string> parameters;
  std::string deadline;  // another name for the parameter
};

struct PreparedLoad {
  LoadSettings settings;
  // What its user should know, a sentence each: queries without judgements, without a complete answer, …
  std::vector<std::string> notes;
};

// Asking a reference takes its time, once for any number of runs with these settings. Errors: those of the files;
// invalid_argument (words that contradict each other, no query with judgements, the offset of a page with recall or nDCG);
// too_large (more than 20 million documents to remember); those of the reference, where it answers nothing at all.
result<PreparedLoad> prepare_load(const LoadPlan& plan);

// How many of the queries, from the first on, a run can come to at most: a few more than a Poisson process will make.
std::size_t queries_within_reach(const LoadSettings& settings, std::size_t queries);

}  // namespace hedgerow::lab
