// Progress of a build on standard error: one line that is rewritten on a terminal, a line every few seconds otherwise.
//
// Owned and called by the building thread. Time is an argument.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.hpp"
#include "index/builder.hpp"

namespace hedgerow {

class BuildProgressPrinter {
 public:
  BuildProgressPrinter(Instant start, bool terminal);

  void progress(const BuildProgress& progress, Instant now);
  // The first few are printed, the rest only counted.
  void read_error(const ReadError& error);
  // Ends the line that is being rewritten.
  void end();

 private:
  void print(const std::string& line);

  const Instant start_;
  const bool terminal_;
  Instant printed_;
  BuildPhase phase_ = BuildPhase::reading;
  std::uint64_t read_errors_ = 0;
  bool line_open_ = false;
};

// "reading: 12,800 documents, 8,103/s, 42 %, 6 s left"; the time left is told once a share of the input is known.
std::string describe(const BuildProgress& progress, Duration elapsed);
// 64123 as "64,123".
std::string with_thousands(std::uint64_t number);

}  // namespace hedgerow
