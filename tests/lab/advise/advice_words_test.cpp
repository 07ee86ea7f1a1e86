// Figures in words: nothing is rounded into something else.
#include "lab/advise/advice_words.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

namespace hedgerow::lab {

using namespace std::chrono_literals;

TEST_CASE("shares, quantiles and times keep what tells them apart") {
  CHECK(percent_text(0.021) == "2.1 %");
  CHECK(percent_text(0) == "0 %");
  CHECK(percent_text(1) == "100 %");
  CHECK(percent_text(0.9999) == "99.99 %");
  CHECK(percent_text(0.0000123) == "0.0012 %");
  CHECK(quantile_text(0.999) == "p99.9");
  CHECK(quantile_text(0.5) == "p50");
  CHECK(rough_quantile_text(0.997503) == "p99.75");
  CHECK(rough_quantile_text(0.999) == "p99.9");
  CHECK(rough_quantile_text(0.951) == "p95.1");
  CHECK(rough_quantile_text(0.5) == "p50");
  CHECK(milliseconds_text(1834567us) == "1835 ms");
  CHECK(milliseconds_text(28657us) == "28.66 ms");
  CHECK(milliseconds_text(813us) == "0.813 ms");
}

TEST_CASE("when to hedge, in words") {
  CHECK(hedges_text({}) == "never");
  CHECK(hedges_text({{10ms}, 1, 0}) == "after 10 ms");
  CHECK(hedges_text({{10ms, 20ms}, 1, 0}) == "after 10 ms and 20 ms, each time at another replica");
  CHECK(hedges_text({{10ms, 20ms, 30ms}, 0.4, 0}) == "after 10 ms, 20 ms and 30 ms, each time at another replica, in 0.4 of the cases, drawn at random");
}

TEST_CASE("an estimate says what the samples do not tell") {
  CHECK(estimate_text({28ms, 27ms, 30ms}) == "28 ms (27 ms to 30 ms)");
  CHECK(estimate_text({74ms, 69ms, std::nullopt}) == "74 ms (at least 69 ms)");
  CHECK(estimate_text({std::nullopt, 1510ms, std::nullopt}) == "beyond the samples: at least 1510 ms");
}

}  // namespace hedgerow::lab
