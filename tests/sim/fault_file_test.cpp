#include "lab/simulation/fault_file.hpp"

#include <doctest/doctest.h>

namespace hedgerow::lab::simulation {

TEST_CASE("a file of faults says what, where and when") {
  const auto faults = parse_faults(R"([
    {"kind": "late", "leaf": 3, "from": "10s", "until": "20s", "delay": "200ms", "probability": 0.5},
    {"kind": "slow", "factor": 4}])");
  REQUIRE(faults.has_value());
  REQUIRE(faults->size() == 2);
  const Fault& late = faults->front();
  CHECK(late.kind == FaultKind::late);
  CHECK(late.leaf == LeafId{3});
  CHECK(late.from == std::chrono::seconds(10));
  CHECK(late.until == std::chrono::seconds(20));
  CHECK(late.delay.longer_than(std::chrono::milliseconds(199)) == 1);
  CHECK(late.delay.longer_than(std::chrono::milliseconds(200)) == 0);
  CHECK(late.probability == 0.5);
  const Fault& slow = faults->back();
  CHECK(slow.kind == FaultKind::slow);
  CHECK_FALSE(slow.leaf);
  CHECK_FALSE(slow.until);
  CHECK(slow.factor == 4);
}

TEST_CASE("a delay may be drawn from a distribution, as a leaf's may") {
  const auto faults = parse_faults(R"([{"kind": "hold", "delay": "exponential:20ms"}])");
  REQUIRE(faults.has_value());
  // Half of an exponential is longer than its mean times ln 2.
  CHECK(faults->front().delay.longer_than(std::chrono::microseconds(13'863)) == doctest::Approx(0.5).epsilon(0.001));
}

TEST_CASE("every kind of fault can be written") {
  for (int i = 0; i <= static_cast<int>(FaultKind::cut_silently); ++i) {
    const auto kind = static_cast<FaultKind>(i);
    const auto faults = parse_faults(R"([{"kind": ")" + std::string(to_string(kind)) + R"("}])");
    REQUIRE(faults.has_value());
    CHECK(faults->front().kind == kind);
  }
}

TEST_CASE("a wrong fault is named") {
  for (const char* text : {"", "{}", "[1]", "[{}]", R"([{"kind": "gone"}])", R"([{"kind": "late", "leaf": -1}])",
                           R"([{"kind": "late", "delay": 5}])", R"([{"kind": "late", "factor": "4"}])", R"([{"kind": "late", "word": "x"}])"}) {
    CAPTURE(text);
    CHECK(parse_faults(text).has_error());
  }
}

}  // namespace hedgerow::lab::simulation
