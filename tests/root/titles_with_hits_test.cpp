// How many titles come with a partition's hits: chances computed by hand.

#include "root/policy/query/titles_with_hits.hpp"

#include <doctest/doctest.h>

namespace hedgerow::policy {

TEST_CASE("a hit brings its title where its chance to be one of the answer's is at least the least that counts") {
  // Of the best ten over 16 partitions, one partition holds more than r - 1: 1 - (15/16)^10 = 0.476 for r = 1,
  // 1 - (15/16)^10 - 10/16 (15/16)^9 = 0.126 for r = 2, and 0.0212 for r = 3.
  CHECK(titles_with_hits(0, 10, 16, 0.48) == 0);
  CHECK(titles_with_hits(0, 10, 16, 0.47) == 1);
  CHECK(titles_with_hits(0, 10, 16, 0.13) == 1);
  CHECK(titles_with_hits(0, 10, 16, 0.12) == 2);
  CHECK(titles_with_hits(0, 10, 16, 0.0213) == 2);
  CHECK(titles_with_hits(0, 10, 16, 0.021) == 3);
  // Over 100: 1 - 0.99^10 = 0.0956 for the first.
  CHECK(titles_with_hits(0, 10, 100, 0.1) == 0);
  CHECK(titles_with_hits(0, 10, 100, 0.09) == 1);
  // Of the best one over two: a half.
  CHECK(titles_with_hits(0, 1, 2, 0.5) == 1);
  CHECK(titles_with_hits(0, 1, 2, 0.51) == 0);
}

TEST_CASE("one partition has all of the best, and never are there more titles than hits asked for") {
  CHECK(titles_with_hits(0, 10, 1, 1) == 10);
  CHECK(titles_with_hits(0, 3, 5, 0) == 3);
  CHECK(titles_with_hits(0, 0, 5, 0) == 0);
}

TEST_CASE("none come along where that would be more documents than a partition reads before it answers") {
  CHECK(titles_with_hits(0, most_titles_with_hits, 1, 0.1) == most_titles_with_hits);
  CHECK(titles_with_hits(0, most_titles_with_hits + 1, 1, 0.1) == 0);
  CHECK(titles_with_hits(0, 1000, 4, 0.1) == 0);
}

TEST_CASE("none come along for hits that are not the first, for no partition, and where none are wished") {
  CHECK(titles_with_hits(10, 10, 16, 0.1) == 0);
  CHECK(titles_with_hits(0, 10, 0, 0.1) == 0);
  CHECK(titles_with_hits(0, 10, 1, 1.1) == 0);
}

}  // namespace hedgerow::policy
