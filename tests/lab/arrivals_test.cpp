#include "lab/arrivals.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace hedgerow;
using namespace hedgerow::lab;
using namespace std::chrono_literals;

namespace {

std::vector<Duration> all(Arrivals arrivals) {
  std::vector<Duration> instants;
  while (const auto instant = arrivals.next()) instants.push_back(*instant);
  return instants;
}

}  // namespace

TEST_CASE("even arrivals are a metronome: rate times duration of them, the first at once, without drift") {
  const auto instants = all(Arrivals(ArrivalShape::even, 1000, 2s, 1));
  REQUIRE(instants.size() == 2000);
  CHECK(instants[0] == 0ns);
  CHECK(instants[1] == 1ms);
  CHECK(std::abs((instants[1999] - 1999ms).count()) <= 1);
}

TEST_CASE("a third of a query per second is sent every three seconds") {
  const auto instants = all(Arrivals(ArrivalShape::even, 1.0 / 3, 10s, 1));
  REQUIRE(instants.size() == 4);
  CHECK(std::abs((instants[3] - 9s).count()) <= 10);
}

TEST_CASE("poisson arrivals: the number is as asked, and gaps scatter as exponential ones do") {
  const auto instants = all(Arrivals(ArrivalShape::poisson, 2000, 50s, 42));
  // The count has mean 100,000 and standard deviation 316.
  CHECK(std::abs(static_cast<double>(instants.size()) - 100'000) < 4 * 316);
  double sum = 0, squares = 0;
  std::size_t short_gaps = 0;
  for (std::size_t i = 1; i < instants.size(); ++i) {
    CHECK_MESSAGE(instants[i] >= instants[i - 1], i);
    const double gap = to_seconds(instants[i] - instants[i - 1]);
    sum += gap;
    squares += gap * gap;
    if (gap < 0.0005) ++short_gaps;
  }
  const auto gaps = static_cast<double>(instants.size() - 1);
  const double mean = sum / gaps;
  const double deviation = std::sqrt(squares / gaps - mean * mean);
  CHECK(mean == doctest::Approx(0.0005).epsilon(0.02));
  CHECK(deviation / mean == doctest::Approx(1).epsilon(0.03));  // an exponential's standard deviation is its mean
  CHECK(static_cast<double>(short_gaps) / gaps == doctest::Approx(1 - std::exp(-1.0)).epsilon(0.02));
  CHECK(instants.back() < 50s);
}

TEST_CASE("the same seed gives the same schedule, another seed another one") {
  const auto one = all(Arrivals(ArrivalShape::poisson, 500, 1s, 7));
  CHECK(one == all(Arrivals(ArrivalShape::poisson, 500, 1s, 7)));
  CHECK(one != all(Arrivals(ArrivalShape::poisson, 500, 1s, 8)));
}

TEST_CASE("a longer schedule begins as the shorter one") {
  const auto shorter = all(Arrivals(ArrivalShape::poisson, 500, 1s, 7));
  const auto longer = all(Arrivals(ArrivalShape::poisson, 500, 2s, 7));
  REQUIRE(longer.size() > shorter.size());
  CHECK(std::equal(shorter.begin(), shorter.end(), longer.begin()));
}

TEST_CASE("the words of the shapes are read back") {
  for (const auto shape : {ArrivalShape::poisson, ArrivalShape::even}) {
    CHECK(parse_arrival_shape(to_string(shape)) == shape);
  }
  CHECK(!parse_arrival_shape("bursty"));
}
