#include "root/answer_check.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace hedgerow::root {

namespace {

constexpr AnswerBounds bounds{.most_hits = 3, .partition_documents = 5, .collection_documents = 100};

wire::PartitionAnswer answer(std::vector<std::uint32_t> documents, std::vector<double> scores, std::uint64_t matches) {
  wire::PartitionAnswer made;
  made.partition = PartitionId{7};
  made.documents = std::move(documents);
  made.scores = std::move(scores);
  made.matches = matches;
  return made;
}

wire::PartitionAnswer exact(wire::PartitionAnswer made) {
  made.matches_exact = true;
  return made;
}

}  // namespace

TEST_CASE("answers that can be true pass") {
  CHECK(check_answer(answer({}, {}, 0), bounds).has_value());
  CHECK(check_answer(answer({}, {}, 5), bounds).has_value());  // all below the threshold
  CHECK(check_answer(answer({100, 1, 2}, {9, 0.5, 0.5}, 5), bounds).has_value());
  CHECK(check_answer(answer({4, 9}, {1.0, 1.0000000000001}, 2), bounds).has_value());  // a tie as float
  CHECK(check_answer(answer({4}, {0}, 1), bounds).has_value());
  CHECK(check_answer(answer({4, 5}, {2, 1}, 1), bounds).has_value());  // an estimate below what is told
}

TEST_CASE("an answer that cannot be true is a protocol error that names the partition and what is wrong") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  struct Row {
    wire::PartitionAnswer answer;
    const char* what;
  };
  const Row rows[] = {
      {answer({1, 2}, {1}, 2), "differ in number"},
      {answer({1, 2, 3, 4}, {4, 3, 2, 1}, 4), "more hits than were asked for"},
      {exact(answer({1}, {1}, 0)), "impossible number of matches"},
      {answer({1}, {1}, 6), "impossible number of matches"},
      {answer({1}, {1}, ~0ULL), "impossible number of matches"},
      {answer({0}, {1}, 1), "the collection does not have"},
      {answer({101}, {1}, 1), "the collection does not have"},
      {answer({1}, {nan}, 1), "score"},
      {answer({1}, {infinity}, 1), "score"},
      {answer({1}, {-infinity}, 1), "score"},
      {answer({1}, {-0.5}, 1), "score"},
      {answer({1, 2}, {2, nan}, 2), "score"},
      {answer({1, 2}, {1, 2}, 2), "out of order"},
      {answer({2, 1}, {1, 1}, 2), "out of order"},
      {answer({1, 1}, {1, 1}, 2), "out of order"},
      {answer({2, 1}, {1.0, 1.0000000000001}, 2), "out of order"},
  };
  for (const Row& row : rows) {
    const auto checked = check_answer(row.answer, bounds);
    CAPTURE(row.what);
    REQUIRE(checked.has_error());
    CHECK(checked.error().code == Errc::protocol);
    CHECK(checked.error().context.find("partition 7") != std::string::npos);
    CHECK(checked.error().context.find(row.what) != std::string::npos);
  }
}

TEST_CASE("a partition cannot give more hits than it has documents, however many were asked for") {
  const auto checked = check_answer(answer({1, 2}, {2, 1}, 2), {.most_hits = 10, .partition_documents = 1, .collection_documents = 9});
  REQUIRE(checked.has_error());
  CHECK(checked.error().context.find("more hits than the partition has documents") != std::string::npos);
}

}  // namespace hedgerow::root
