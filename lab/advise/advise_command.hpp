// `hedgerow-lab advise`: reads latencies of any system, and says when to hedge, what to expect, and how surely.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "lab/advise/advice.hpp"

namespace hedgerow::lab {

struct AdviseSettings {
  std::filesystem::path file;
  std::filesystem::path queries;  // of whole queries, beside attempts; none: none
  std::string unit, column, tag;  // of the file; see lab/latency_file.hpp
  std::string of = "attempts";
  std::string target = "p99.9";   // or 0.999
  AdviceQuestion question;        // the rest of it

  std::filesystem::path hedged;  // of whole queries that were hedged as advised; none: none
  bool check = false;
  std::uint64_t seed = 1;  // of the check
  bool json = false;
  std::filesystem::path html;     // none: no page
  std::filesystem::path pictures; // a directory for the charts as SVG; none: none
  std::string command;            // as it was typed, for the page
};

// "p99.9" or "0.999". Errors: invalid_argument.
result<double> parse_quantile(const std::string& text);

// Returns the exit status: 0 the advice was given, 1 the simulator, or the hedged run, does not
// agree with it, 2 it could not be given.
int run_advise(AdviseSettings settings);

}  // namespace hedgerow::lab
