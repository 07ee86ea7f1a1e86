#include "root/answer_check.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace hedgerow::root {

namespace {

constexpr AnswerBounds bounds{.most_hits = 3, .titles = 2, .partition_documents = 5, .collection_documents = 100};

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

TEST_CASE("titles come with the first hits, no more of them than were asked for, and none without its hit") {
  auto with_titles = answer({4, 5, 6}, {3, 2, 1}, 3);
  for (const std::size_t titles : {0U, 1U, 2U}) {
    with_titles.shown.resize(titles);
    CHECK(check_answer(with_titles, bounds).has_value());
  }
  with_titles.shown.resize(3);
  auto without_hits = answer({}, {}, 0);
  without_hits.shown.resize(1);
  for (const auto& wrong : {with_titles, without_hits}) {
    const auto checked = check_answer(wrong, bounds);
    REQUIRE(checked.has_error());
    CHECK(checked.error().context.find("more titles than were asked for") != std::string::npos);
  }
}

TEST_CASE("a partition cannot give more hits than it has documents, however many were asked for") {
  const auto checked = check_answer(answer({1, 2}, {2, 1}, 2), {.most_hits = 10, .partition_documents = 1, .collection_documents = 9});
  REQUIRE(checked.has_error());
  CHECK(checked.error().context.find("more hits than the partition has documents") != std::string::npos);
}

TEST_CASE("a snippet is text with entities and <b> in turn, and nothing else") {
  const auto passes = [](const std::string& html) { return check_answer(wire::SnippetAnswer{CallId{1}, {html}, {}, {}}, 1).has_value(); };
  for (const char* html : {"", "plain text", "a <b>word</b> b", "<b>a</b><b>b</b>", "&lt;script&gt; &amp; &quot;x&quot; &#39;", "näher \xf0\x9f\xa6\xa1"}) {
    CAPTURE(html);
    CHECK(passes(html));
  }
  for (const char* html : {"<", "a < b", "<i>a</i>", "<b", "<b>a", "a</b>", "<b><b>a</b></b>", "<B>a</B>", "<b >a</b>", "<b/>", "&", "&nbsp;", "&lt",
                           "a & b", "a > b", "&#60;", "<!-- -->", "<b>a</b><img src=x>"}) {
    CAPTURE(html);
    CHECK_FALSE(passes(html));
  }
  CHECK(passes(std::string(16'384, 'x')));
  CHECK_FALSE(passes(std::string(16'385, 'x')));
}

TEST_CASE("snippets, suggestions and facets are as many as were asked for, and within what the collection has") {
  CHECK(check_answer(wire::SnippetAnswer{CallId{1}, {"a", "b"}, {}, {}}, 2).has_value());
  CHECK(check_answer(wire::SnippetAnswer{CallId{1}, {"a"}, {}, {}}, 2).has_error());
  CHECK(check_answer(wire::SpellAnswer{CallId{1}, {"word", ""}, {3, 0}, {}, {}}, 2, 3).has_value());
  CHECK(check_answer(wire::SpellAnswer{CallId{1}, {"word"}, {3}, {}, {}}, 2, 3).has_error());
  CHECK(check_answer(wire::SpellAnswer{CallId{1}, {"word", ""}, {3}, {}, {}}, 2, 3).has_error());
  CHECK(check_answer(wire::SpellAnswer{CallId{1}, {"word", ""}, {4, 0}, {}, {}}, 2, 3).has_error());
  for (const char* none : {"two words", "tab\t", "line\n", "\x01"}) {
    CHECK(check_answer(wire::SpellAnswer{CallId{1}, {none}, {1}, {}, {}}, 1, 3).has_error());
  }
  const auto passes = [](std::vector<std::string> values, std::vector<std::uint64_t> counts) {
    return check_answer(wire::FacetAnswer{CallId{1}, PartitionId{2}, {{std::move(values), std::move(counts), false}}, {}, {}}, {1, 3, 5}).has_value();
  };
  CHECK(passes({}, {}));
  CHECK(passes({"a", "b", "c"}, {5, 1, 5}));
  CHECK_FALSE(passes({"a", "b", "c", "d"}, {1, 1, 1, 1}));
  CHECK_FALSE(passes({"a", "b"}, {1}));
  CHECK_FALSE(passes({"b", "a"}, {1, 1}));
  CHECK_FALSE(passes({"a", "a"}, {1, 1}));
  CHECK_FALSE(passes({"a"}, {6}));
  CHECK_FALSE(passes({"a"}, {0}));
  CHECK(check_answer(wire::FacetAnswer{CallId{1}, PartitionId{2}, {}, {}, {}}, {1, 3, 5}).has_error());
}

TEST_CASE("a document that was looked up is the one that was asked for, and one of the collection's") {
  wire::LookupAnswer found;
  CHECK(check_answer(found, {"id", 0, 9}).has_value());  // not found
  found.found = true;
  found.shown.id = "id";
  found.document = DocumentNumber{9};
  CHECK(check_answer(found, {"id", 0, 9}).has_value());
  CHECK(check_answer(found, {"other", 0, 9}).has_error());
  CHECK(check_answer(found, {"id", 0, 8}).has_error());
  found.document = DocumentNumber{0};
  CHECK(check_answer(found, {"id", 0, 9}).has_error());
  found.document = DocumentNumber{1};
  found.terms = {"Za", "Zb"};
  found.counts = {1, 2};
  CHECK(check_answer(found, {"id", 2, 9}).has_value());
  CHECK(check_answer(found, {"id", 1, 9}).has_error());
  found.counts = {1};
  CHECK(check_answer(found, {"id", 2, 9}).has_error());
}

}  // namespace hedgerow::root
