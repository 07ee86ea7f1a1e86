#include "corpus/id_set.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_CASE("an id is new once, however much the set has grown since") {
  hedgerow::IdSet ids;
  CHECK(ids.insert(""));
  CHECK_FALSE(ids.insert(""));
  for (int i = 0; i < 100'000; ++i) REQUIRE(ids.insert("document " + std::to_string(i)));
  CHECK(ids.size() == 100'001);
  for (int i = 0; i < 100'000; ++i) REQUIRE_FALSE(ids.insert("document " + std::to_string(i)));
  CHECK(ids.size() == 100'001);
}
