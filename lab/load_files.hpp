// The files that a load leaves behind, for other tools and for a second look: written while it runs, so that memory stays
// bounded and what was measured is there however it ends.
//
//   hgrm      the percentiles of all latencies, HdrHistogram's text (at the end)
//   hlog      HdrHistogram's interval log: the latencies of answers with status 200 by the interval in which the answers
//             came; what ended otherwise is tagged `others`
//   attempts  the same of single attempts (of traces), those that were given up tagged `given_up`: what `advise` is for
//   samples   a table with a row for each query, in the order of their ends
//
// Owned by the command; told on the load's thread.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "lab/load.hpp"

namespace hedgerow::lab {

struct LoadFileSettings {
  std::filesystem::path hgrm, hlog, attempts, samples;  // empty: not written
  // Of both interval logs.
  Duration interval = std::chrono::seconds(1);

  bool any() const { return !hgrm.empty() || !hlog.empty() || !attempts.empty() || !samples.empty(); }
};

class LoadFiles {
 public:
  // Makes all of them, empty, so that what cannot be written is known before anything is sent. started: for the logs'
  // heads. Errors: io.
  static result<LoadFiles> create(const LoadFileSettings& settings, std::chrono::system_clock::time_point started);

  LoadFiles(LoadFiles&&) noexcept;
  LoadFiles& operator=(LoadFiles&&) noexcept;
  ~LoadFiles();

  void record(const LoadOutcome& outcome);
  // The rest: the last intervals, the percentiles, and in each of the histograms' files what the report says of a load
  // that did not keep up. Errors: io, for anything that could not be written on the way.
  result<void> finish(const LoadResult& result);

 private:
  struct Implementation;
  explicit LoadFiles(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace hedgerow::lab
