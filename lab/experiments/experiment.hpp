// What an experiment is: a question, the answer that is expected and where that comes from, a run in virtual time, a run
// with real processes, and what was found, finding by finding. Plain data; experiments.hpp lists them all.
//
// An experiment agrees when every finding holds. One that does not hold stays in the report, with the reason where it is
// known: "it differs here, because …" is a result as well, and the exit status says that it differs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "lab/report/chart.hpp"
#include "lab/report/page.hpp"

namespace hedgerow::lab {

// Where an expected value comes from; never from the code that is measured.
enum class Source {
  paper,        // printed in "The Tail at Scale" (Dean and Barroso, 2013)
  closed_form,  // calculated from what was put in
  own,          // what Hedgerow promises: a bar, not a prediction
};
std::string_view to_string(Source source);

// One thing that was measured, and what it should be.
struct Finding {
  std::string claim;  // "width 100: queries that take longer than 1 s"
  std::string unit;   // "ms", "%", "" for a plain number or a ratio
  double measured = 0;
  Source source = Source::closed_form;
  std::optional<double> expected = std::nullopt;        // none: only bounds
  std::optional<double> least = std::nullopt, most = std::nullopt;  // it holds from here to here
  std::string why = {};  // known of the difference, for when it does not hold
  bool holds() const;
  // "… is 12.3 ms, expected 12.0 ms (closed form; within 11.4 to 12.6 ms)".
  std::string text() const;
};

// Within this share of the expected value, either way; within so much of it; not beyond a bound.
Finding near(std::string claim, std::string unit, double measured, Source source, double expected, double share);
Finding within(std::string claim, std::string unit, double measured, Source source, double expected, double margin);
Finding at_most(std::string claim, std::string unit, double measured, Source source, double most);
Finding at_least(std::string claim, std::string unit, double measured, Source source, double least);
// A share of so many independent tries, in percent: within four standard deviations of what is expected, and so beyond by
// chance once in 16,000 times; other: what may differ besides, in percent.
Finding share_of(std::string claim, double measured, Source source, double expected, std::uint64_t tries, double other = 0);

// Those that do not hold, in words.
std::vector<std::string> disagreements(const std::vector<Finding>& findings);

struct ExperimentResult {
  std::vector<Finding> findings;
  std::vector<report::Table> tables;
  std::vector<report::Chart> charts;
  std::vector<std::string> notes;  // what one must know to read it: what was left out, and why
  nlohmann::ordered_json settings = nlohmann::ordered_json::object();  // that determine it, beside the seed
  nlohmann::ordered_json figures = nlohmann::ordered_json::object();   // everything that was measured

  bool agrees() const;
  std::vector<std::string> disagreements() const { return lab::disagreements(findings); }
};

// What the command line says.
struct ExperimentRequest {
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> queries;  // of each run in virtual time; none: as many as the experiment is for
  // Of live runs: the time of all their load together is scaled by this; less is faster, and says less.
  double time_scale = 1;
  std::filesystem::path bin_dir;  // where hedgerow-leaf, hedgerow-root and hedgerow-index are
  // A test collection, for `good-enough`; all three or none. The corpus as `hedgerow-index build --corpus` takes it.
  std::string corpus;
  std::filesystem::path test_queries, qrels;
  std::function<void(const std::string&)> progress;  // told what goes on; may be empty

  void say(const std::string& text) const {
    if (progress) progress(text);
  }
};

struct Experiment {
  std::string name;      // as it is called: "leaf-percentiles"
  std::string question;
  std::string expected;  // in a sentence
  std::string source;    // of that
  // Errors: invalid_argument (the request makes no sense for it); of live runs all that keeps a cluster from running.
  using Run = std::function<result<ExperimentResult>(const ExperimentRequest&)>;
  Run simulated, live;
};

// How it is told: as JSON, as text, as a page, and as a part of a document. mode: "simulated" or "live"; made: when and by which command.
struct ExperimentReport {
  const Experiment& experiment;
  std::string mode;
  const ExperimentRequest& request;
  const ExperimentResult& result;
  std::string made;
};
nlohmann::ordered_json to_json(const ExperimentReport& report);
std::string to_text(const ExperimentReport& report);
report::Page to_page(const ExperimentReport& report);
// Tables, verdict, and the charts as pictures in this directory, whose names are those of picture_name.
std::string to_markdown(const ExperimentReport& report, const std::string& pictures);
std::string picture_name(const report::Chart& chart, const std::string& mode);

// A number as people read it: three or four digits that mean something ("0.0213", "74.2", "1,796").
std::string figure(double value);

}  // namespace hedgerow::lab
