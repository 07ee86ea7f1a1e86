#include "base/random.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>

using hedgerow::Random;
using hedgerow::stable_hash;

TEST_CASE("the same seed gives the same sequence, another seed another") {
  Random a(42), b(42), c(43);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const auto x = a.next();
    CHECK(x == b.next());
    differs = differs || x != c.next();
  }
  CHECK(differs);
}

TEST_CASE("moments are those of the distributions") {
  Random random(1);
  const int n = 200'000;
  double uniform = 0, exponential = 0, normal = 0, normal_squared = 0;
  int heads = 0;
  for (int i = 0; i < n; ++i) {
    uniform += random.uniform();
    exponential += random.exponential(3);
    const double z = random.normal();
    normal += z;
    normal_squared += z * z;
    heads += random.chance(0.2) ? 1 : 0;
  }
  // Five standard errors each.
  CHECK(uniform / n == doctest::Approx(0.5).epsilon(0.007));
  CHECK(exponential / n == doctest::Approx(3).epsilon(0.012));
  CHECK(std::abs(normal / n) < 0.012);
  CHECK(normal_squared / n == doctest::Approx(1).epsilon(0.016));
  CHECK(heads / double(n) == doctest::Approx(0.2).epsilon(0.023));
}

TEST_CASE("below covers its range and never leaves it") {
  Random random(5);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random.below(7));
  CHECK(seen.size() == 7);
  CHECK(*seen.rbegin() == 6);
}

TEST_CASE("probability 0 never happens and 1 always does") {
  Random random(9);
  for (int i = 0; i < 1000; ++i) {
    CHECK_FALSE(random.chance(0));
    CHECK(random.chance(1));
  }
}

TEST_CASE("the stable hash spreads similar ids evenly over partitions") {
  int counts[16] = {};
  for (int i = 0; i < 16'000; ++i) ++counts[stable_hash("package-" + std::to_string(i)) % 16];
  for (int count : counts) {
    CHECK(count > 850);
    CHECK(count < 1150);
  }
}
