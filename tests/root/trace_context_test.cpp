// Expected values are those of the W3C recommendation "Trace Context" (level 1), section 3.2.

#include "root/trace_context.hpp"

#include <doctest/doctest.h>

#include <string>

namespace hedgerow::root {

TEST_CASE("a valid traceparent is read into its fields") {
  const auto context = parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  REQUIRE(context.has_value());
  CHECK(context->trace_id == "4bf92f3577b34da6a3ce929d0e0e4736");
  CHECK(context->parent_id == "00f067aa0ba902b7");
  CHECK(context->flags == "01");
}

TEST_CASE("a traceparent is taken or ignored as the standard says") {
  struct Row {
    const char* header;
    bool taken;
  };
  const Row rows[] = {
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", true},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff", true},
      // A higher version may go on, behind another dash.
      {"cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true},
      {"cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-the-future-will-be-like", true},
      {"cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.what", false},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-", false},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", false},
      // Version 255 is forbidden.
      {"ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false},
      // All zeros are invalid ids.
      {"00-00000000000000000000000000000000-00f067aa0ba902b7-01", false},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", false},
      // Lower-case hexadecimal digits only.
      {"00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", false},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00F067AA0BA902B7-01", false},
      {"00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01", false},
      {"0x-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0X", false},
      // Lengths and dashes.
      {"", false},
      {"00", false},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7", false},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1", false},
      {"00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7-01", false},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7_01", false},
      {" 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.header);
    CHECK(parse_traceparent(row.header).has_value() == row.taken);
  }
}

TEST_CASE("our own traceparent keeps the trace, names our span, and passes on no flag but sampled") {
  TraceContext context{"4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", "01"};
  CHECK(traceparent(context, 0xab54a98ceb1f0ad3) == "00-4bf92f3577b34da6a3ce929d0e0e4736-ab54a98ceb1f0ad3-01");
  context.flags = "00";
  CHECK(traceparent(context, 0xb) == "00-4bf92f3577b34da6a3ce929d0e0e4736-000000000000000b-00");
  context.flags = "fe";
  CHECK(traceparent(context, 0xb).ends_with("-00"));
  context.flags = "ff";
  CHECK(traceparent(context, 0xb).ends_with("-01"));
}

TEST_CASE("a span is never all zeros, and what we send is what we would take") {
  const TraceContext context{"4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", "01"};
  CHECK(parse_traceparent(traceparent(context, 0)).has_value());
}

}  // namespace hedgerow::root
