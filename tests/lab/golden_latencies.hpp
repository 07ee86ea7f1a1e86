// The latencies that data/hdr/Golden.java and golden.mjs record, made once more.
#pragma once

#include <cstdint>
#include <filesystem>

#include "tests/places.hpp"

namespace hedgerow::test {

constexpr int golden_latencies = 10'000;

// The i-th of them, from 1, in nanoseconds: spread evenly over nine milliseconds, each hundredth forty times as long.
constexpr std::uint64_t golden_latency(int i) {
  const auto n = static_cast<std::uint64_t>(i);
  const std::uint64_t value = 200'000 + 37'000 * (n % 251) + 1'013 * (n % 17);
  return i % 100 == 0 ? value * 40 : value;
}

inline std::filesystem::path golden_file(const char* name) {
  return std::filesystem::path(test::source_path("tests/lab/data/hdr")) / name;
}

}  // namespace hedgerow::test
