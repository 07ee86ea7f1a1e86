// How findings are judged and experiments told.
#include "lab/experiments/experiment.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "lab/experiments/experiments.hpp"

namespace hedgerow::lab {

TEST_CASE("a finding holds within its bounds, ends included, and nothing holds that was not measured") {
  CHECK(near("", "ms", 11, Source::paper, 10, 0.1).holds());
  CHECK_FALSE(near("", "ms", 11.01, Source::paper, 10, 0.1).holds());
  CHECK_FALSE(near("", "ms", 8.9, Source::paper, 10, 0.1).holds());
  CHECK(within("", "", 0.5, Source::own, 0.4, 0.11).holds());
  CHECK(at_most("", "", 3, Source::own, 3).holds());
  CHECK_FALSE(at_most("", "", 3.1, Source::own, 3).holds());
  CHECK(at_least("", "", 3, Source::own, 3).holds());
  CHECK_FALSE(at_least("", "", 2.9, Source::own, 3).holds());
  CHECK_FALSE(at_most("", "", NAN, Source::own, 3).holds());
  CHECK_FALSE(at_least("", "", NAN, Source::own, 3).holds());
  CHECK_FALSE(at_least("", "", INFINITY, Source::own, 3).holds());
}

TEST_CASE("a share of so many tries may differ by four standard deviations, and by what else is allowed") {
  // Of 10,000 tries at 50 % the standard deviation is half a per cent.
  CHECK(share_of("", 51.9, Source::closed_form, 50, 10'000).holds());
  CHECK_FALSE(share_of("", 52.1, Source::closed_form, 50, 10'000).holds());
  CHECK(share_of("", 52.45, Source::closed_form, 50, 10'000, 0.5).holds());
  // Where nothing is expected, two tries of a thousand are no disagreement, and three are.
  CHECK(share_of("", 0.2, Source::closed_form, 0, 1'000).holds());
  CHECK_FALSE(share_of("", 0.3, Source::closed_form, 0, 1'000).holds());
  // And nothing is known where nothing was tried.
  CHECK_FALSE(share_of("", NAN, Source::closed_form, 50, 0).holds());
}

TEST_CASE("an experiment agrees when all findings hold, and one without findings does not") {
  ExperimentResult result;
  CHECK_FALSE(result.agrees());
  result.findings.push_back(at_most("one", "ms", 1, Source::own, 2));
  CHECK(result.agrees());
  result.findings.push_back(at_most("two", "ms", 3, Source::paper, 2));
  result.findings.back().why = "the machine was busy";
  CHECK_FALSE(result.agrees());
  REQUIRE(result.disagreements().size() == 1);
  CHECK(result.disagreements().front() == "two is 3.00 ms (the paper; at most 2.00 ms): the machine was busy");
}

TEST_CASE("numbers are shown with the digits that mean something") {
  CHECK(figure(1796.4) == "1,796");
  CHECK(figure(1234567) == "1,234,567");
  CHECK(figure(-1234.0) == "-1,234");
  CHECK(figure(123.4) == "123");
  CHECK(figure(74.16) == "74.2");
  CHECK(figure(2.0951) == "2.10");
  CHECK(figure(0.02134) == "0.0213");
  CHECK(figure(0) == "0");
  CHECK(figure(NAN) == "none");
}

TEST_CASE("what is told as JSON, as text and as a page is the same verdict") {
  Experiment experiment{"example", "Is it so?", "It is.", "by hand", {}, {}};
  ExperimentRequest request;
  ExperimentResult result;
  result.findings = {near("width 3: slow queries", "%", 3, Source::paper, 2.97, 0.05), at_most("broken", "", 1, Source::own, 0)};
  result.notes = {"a note"};
  result.tables.push_back({"a table", {{"name", false}, {"value", true}}, {{"first", "1"}}});
  const ExperimentReport report{experiment, "simulated", request, result, "today"};

  const auto json = to_json(report);
  CHECK(json.at("experiment") == "example");
  CHECK(json.at("mode") == "simulated");
  CHECK(json.at("agrees") == false);
  REQUIRE(json.at("findings").size() == 2);
  CHECK(json.at("findings")[0].at("holds") == true);
  CHECK(json.at("findings")[0].at("expected") == 2.97);
  CHECK(json.at("findings")[0].at("source") == "the paper");
  CHECK(json.at("findings")[1].at("holds") == false);
  CHECK(json.at("findings")[1].at("expected").is_null());
  CHECK(json.at("disagreements").size() == 1);

  const std::string text = to_text(report);
  for (const char* part : {"Is it so?", "It is.", "a table", "first", "a note", "It differs in 1 of 2 findings.", "broken is 1.00"}) {
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  }
  const auto page = to_page(report);
  std::set<report::Verdict::Kind> verdicts;
  for (const auto& part : page.parts) {
    if (const auto* verdict = std::get_if<report::Verdict>(&part)) verdicts.insert(verdict->kind);
  }
  CHECK(verdicts == std::set{report::Verdict::Kind::bad, report::Verdict::Kind::note});
}

TEST_CASE("a part of a document has tables, verdict and pictures, and no character of them is mark-up") {
  Experiment experiment{"example", "Is it so?", "It is.", "by hand", {}, {}};
  ExperimentRequest request;
  ExperimentResult result;
  result.findings = {at_most("a", "", 1, Source::own, 2)};
  result.tables.push_back({"a|table", {{"name", false}, {"value", true}}, {{"first_*", "1"}}});
  report::Chart chart;
  chart.name = "example";
  chart.title = "A title";
  chart.caption = "A <caption>.";
  result.charts.push_back(chart);
  const std::string text = to_markdown({experiment, "live", request, result, "today, by: hedgerow-lab"}, "pictures");
  CHECK(text ==
        "![A title. A \\<caption\\>.](pictures/example-live.svg)\n\n"
        "a\\|table:\n\n| name | value |\n| --- | ---: |\n| first\\_\\* | 1 |\n\n"
        "**It agrees: all 1 findings hold.**\n\n"
        "Seed 1. today, by: hedgerow-lab\n");
}

TEST_CASE("the ten experiments are there, each with a question, an expectation and its source, and both runs") {
  const std::set<std::string> wanted{"amplification", "leaf-percentiles", "hedged",  "tied",     "canary",
                                     "good-enough",   "background",       "classes", "overload", "subsystems"};
  std::set<std::string> there;
  for (const Experiment& experiment : experiments()) {
    CAPTURE(experiment.name);
    there.insert(experiment.name);
    CHECK(find_experiment(experiment.name) == &experiment);
    CHECK(experiment.question.ends_with("?"));
    CHECK_FALSE(experiment.expected.empty());
    CHECK_FALSE(experiment.source.empty());
    CHECK(experiment.simulated);
    CHECK(experiment.live);
  }
  CHECK(there == wanted);
  CHECK(find_experiment("nothing") == nullptr);
}

}  // namespace hedgerow::lab
