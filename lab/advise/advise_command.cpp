#include "lab/advise/advise_command.hpp"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "lab/advise/advice_check.hpp"
#include "lab/advise/advice_page.hpp"
#include "lab/advise/advice_words.hpp"
#include "lab/advise/hedged_run.hpp"
#include "lab/latency_file.hpp"
#include "lab/report/svg.hpp"
#include "root/policy_words.hpp"

namespace hedgerow::lab {

namespace {

int refuse(const Error& error) {
  std::fprintf(stderr, "hedgerow-lab: %s\n", to_string(error).c_str());
  return 2;
}

result<LatencyFileSettings> file_settings(const AdviseSettings& settings) {
  LatencyFileSettings file;
  file.column = settings.column;
  file.tag = settings.tag;
  if (settings.unit.empty()) return file;
  const auto unit = parse_latency_unit(settings.unit);
  if (unit.has_error()) return unit.error();
  file.unit = *unit;
  return file;
}

// Notes of the files come first among the advice's.
result<std::vector<std::string>> read_into(AdviceQuestion& question, const AdviseSettings& settings) {
  const auto file = file_settings(settings);
  if (file.has_error()) return file.error();
  auto read = read_latency_file(settings.file, *file);
  if (read.has_error()) return read.error();
  question.latencies = std::move(read->latencies);
  question.given_up = std::move(read->given_up);
  if (settings.queries.empty()) return std::move(read->notes);
  auto queries = read_latency_file(settings.queries, *file);
  if (queries.has_error()) return queries.error();
  question.query_latencies = std::move(queries->latencies);
  if (queries->given_up.count() > 0) {
    read->notes.push_back(std::to_string(queries->given_up.count()) + " whole queries were given up, and are left out of what is told of queries beside attempts");
  }
  read->notes.insert(read->notes.end(), queries->notes.begin(), queries->notes.end());
  return std::move(read->notes);
}

std::optional<Error> write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) return Error{Errc::io, "cannot write '" + path.string() + "'"};
  return std::nullopt;
}

std::optional<Error> write_pictures(const std::filesystem::path& directory, const AdviceQuestion& question, const Advice& advice) {
  std::error_code problem;
  std::filesystem::create_directories(directory, problem);
  if (problem) return Error{Errc::io, "cannot make '" + directory.string() + "': " + problem.message()};
  for (const report::Chart& chart : advice_charts(question, advice)) {
    if (auto error = write(directory / ("advise-" + chart.name + ".svg"), report::to_svg(chart))) return error;
  }
  return std::nullopt;
}

}  // namespace

result<double> parse_quantile(const std::string& text) {
  const bool is_percentile = !text.empty() && (text[0] == 'p' || text[0] == 'P');
  const auto number = root::parse_decimal(is_percentile ? text.substr(1) : text);
  // 99.9 / 100 is not 0.999 to the last bit.
  const double value = number.has_error() ? -1 : is_percentile ? std::round(*number * 1e10) / 1e12 : *number;
  if (!(value > 0 && value < 1)) return Error{Errc::invalid_argument, "'" + text + "' is no quantile: write p99.9 or 0.999"};
  return value;
}

int run_advise(AdviseSettings settings) {
  AdviceQuestion& question = settings.question;
  const auto target = parse_quantile(settings.target);
  if (target.has_error()) return refuse({target.error().code, "--target: " + target.error().context});
  question.target = *target;
  question.samples_of = settings.of == "queries" ? SamplesOf::queries : SamplesOf::attempts;
  auto notes = read_into(question, settings);
  if (notes.has_error()) return refuse(notes.error());
  if (const auto problem = problem_with(question)) return refuse(*problem);
  if (const auto problem = problem_with_check(question); settings.check && problem) return refuse(*problem);

  // Before anything takes long.
  std::optional<LatencyFile> hedged;
  if (!settings.hedged.empty()) {
    auto run = read_latency_file(settings.hedged, *file_settings(settings));
    if (run.has_error()) return refuse(run.error());
    if (run->latencies.count() < 2) return refuse({Errc::input, "'" + settings.hedged.string() + "' has no latencies to judge by: two at least"});
    notes->insert(notes->end(), run->notes.begin(), run->notes.end());
    hedged = std::move(*run);
  }

  Advice advice = advise(question);
  advice.notes.insert(advice.notes.begin(), notes->begin(), notes->end());
  std::optional<AdviceCheck> check;
  if (settings.check) {
    AdviceCheckSettings check_settings;
    check_settings.seed = settings.seed;
    check = check_advice(question, advice, check_settings);
  }
  std::optional<HedgedRunCheck> run;
  if (hedged) run = compare_with_run(question, advice, hedged->latencies, hedged->given_up);
  if (settings.json) {
    nlohmann::json out = advice_json(question, advice);
    if (run) out["hedged_run"] = run->to_json();
    if (check) out["check"] = check->to_json();
    // Notes may hold words of the files, in whatever encoding.
    std::puts(out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  } else {
    std::fputs(advice_text(question, advice).c_str(), stdout);
    if (run) std::printf("\n%s", run->to_text().c_str());
    if (check) std::printf("\n%s", check->to_text().c_str());
  }
  if (!settings.html.empty()) {
    if (const auto error = write(settings.html, report::to_html(advice_page(question, advice, {check, run}, settings.command)))) return refuse(*error);
  }
  if (!settings.pictures.empty()) {
    if (const auto error = write_pictures(settings.pictures, question, advice)) return refuse(*error);
  }
  const bool agreed = (!check || check->disagreements().empty()) && (!run || run->agrees());
  return agreed ? 0 : 1;
}

}  // namespace hedgerow::lab
