#include "corpus/debian_version.hpp"

#include <doctest/doctest.h>

#include <string>

// Orders from Debian's policy (5.6.12), deb-version(7) and the test suite of dpkg.
TEST_CASE("versions are ordered as dpkg orders them") {
  struct Row {
    std::string lower;
    std::string higher;
  };
  const Row lower_first[] = {
      {"1.0~rc1", "1.0"},     {"1.0~~", "1.0~"},           {"1.0~~", "1.0~~a"},   {"1.0~~a", "1.0~"},
      {"1.0", "1.0-1"},       {"1.0-1", "1.0-1+b1"},       {"1.0-1", "1.0-2"},    {"1.9", "1.10"},
      {"9.9", "1:0.1"},       {"1.0", "1.0a"},             {"1.0a", "1.0+"},      {"1.2.3-4", "1.2.3-4+deb12u1"},
      {"2.36-9", "2.36-9.1"}, {"2.36-9+deb12u4", "2.36-9+deb12u10"}, {"0:1-1", "0:1-2"}, {"1.0-1", "1.0.1-1"},
      {"", "0.1"},            {"a-b-1", "a-b-2"},          {"1A", "1a"},
  };
  for (const Row& row : lower_first) {
    CAPTURE(row.lower);
    CAPTURE(row.higher);
    CHECK(hedgerow::compare_debian_versions(row.lower, row.higher) < 0);
    CHECK(hedgerow::compare_debian_versions(row.higher, row.lower) > 0);
    CHECK(hedgerow::compare_debian_versions(row.lower, row.lower) == 0);
  }
  const Row equal[] = {{"1.0", "1.0-0"}, {"0:1.0", "1.0"}, {"1.01", "1.1"}, {"1.", "1.0"}};
  for (const Row& row : equal) {
    CAPTURE(row.lower);
    CHECK(hedgerow::compare_debian_versions(row.lower, row.higher) == 0);
  }
}
