// Chance as an argument: a small seeded generator that is passed in, never reached for.
//
// The same seed gives the same sequence on every machine and compiler (std:: distributions do not promise that).
#pragma once

#include <cstdint>
#include <string_view>

namespace hedgerow {

class Random {
 public:
  explicit Random(std::uint64_t seed);

  // A uniform 64-bit number.
  std::uint64_t next();
  // Uniform in [0, 1).
  double uniform();
  // Uniform in [0, bound); bound > 0.
  std::uint64_t below(std::uint64_t bound);
  // True with the given probability (0 never, 1 always).
  bool chance(double probability);
  // Exponential with the given mean (> 0): the gaps of a Poisson process.
  double exponential(double mean);
  // Standard normal.
  double normal();

 private:
  std::uint64_t state_[4];
};

// FNV-1a with a final mix: stable for ever, since documents are placed by it. Not for untrusted tables.
std::uint64_t stable_hash(std::string_view bytes);

}  // namespace hedgerow
