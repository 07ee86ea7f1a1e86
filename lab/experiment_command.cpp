#include "lab/experiment_command.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>

#include "lab/cluster_file.hpp"
#include "lab/experiments/experiments.hpp"
#include "lab/experiments/live_failure.hpp"
#include "lab/report/page.hpp"
#include "lab/report/svg.hpp"

namespace hedgerow::lab {

namespace {

namespace fs = std::filesystem;

constexpr int agrees = 0, differs = 1, not_run = 2;

int could_not(const std::string& why) {
  std::fprintf(stderr, "hedgerow-lab: %s\n", why.c_str());
  return not_run;
}

std::string today() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &utc);
  return text;
}

void list_experiments() {
  for (const Experiment& experiment : experiments()) {
    std::printf("%-17s %s\n%17s Expected: %s\n", experiment.name.c_str(), experiment.question.c_str(), "", experiment.expected.c_str());
  }
}

std::optional<Error> write_files(const ExperimentSettings& settings, const ExperimentReport& report) {
  if (!settings.html.empty()) {
    if (const auto written = write_file_atomically(settings.html, report::to_html(to_page(report))); written.has_error()) return written.error();
  }
  if (!settings.markdown.empty()) {
    const std::string pictures = settings.pictures.empty() ? "." : settings.pictures.filename().string();
    if (const auto written = write_file_atomically(settings.markdown, to_markdown(report, pictures)); written.has_error()) return written.error();
  }
  if (settings.pictures.empty()) return std::nullopt;
  std::error_code error;
  fs::create_directories(settings.pictures, error);
  if (error) return Error{Errc::io, settings.pictures.string() + ": " + error.message()};
  for (const auto& chart : report.result.charts) {
    const auto path = settings.pictures / picture_name(chart, report.mode);
    if (const auto written = write_file_atomically(path, report::to_svg(chart)); written.has_error()) return written.error();
  }
  return std::nullopt;
}

result<ExperimentResult> run(const Experiment& experiment, const ExperimentSettings& settings, const ExperimentRequest& request) {
  try {
    return (settings.live ? experiment.live : experiment.simulated)(request);
  } catch (const LiveFailure& failure) {
    return Error{Errc::unavailable, failure.what()};
  }
}

}  // namespace

std::vector<std::string> experiment_names() {
  std::vector<std::string> names;
  for (const Experiment& experiment : experiments()) names.push_back(experiment.name);
  return names;
}

int run_experiment(const ExperimentSettings& settings) {
  if (settings.list) {
    list_experiments();
    return agrees;
  }
  const Experiment* experiment = find_experiment(settings.name);
  if (!experiment) return could_not("name an experiment; --list tells which there are");
  const bool some = !settings.corpus.empty() || !settings.test_queries.empty() || !settings.qrels.empty();
  const bool all = !settings.corpus.empty() && !settings.test_queries.empty() && !settings.qrels.empty();
  if (some && !all) return could_not("--corpus, --test-queries and --qrels go together");

  std::error_code ignored;
  ExperimentRequest request;
  request.seed = settings.seed;
  request.queries = settings.queries;
  request.time_scale = settings.time_scale;
  request.bin_dir = settings.bin_dir ? fs::absolute(*settings.bin_dir) : fs::read_symlink("/proc/self/exe", ignored).parent_path();
  request.corpus = settings.corpus;
  request.test_queries = settings.test_queries;
  request.qrels = settings.qrels;
  // On a terminal one wants to know that something goes on.
  if (::isatty(STDERR_FILENO)) {
    request.progress = [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); };
  }

  const auto begin = std::chrono::steady_clock::now();
  const auto result = run(*experiment, settings, request);
  if (result.has_error()) return could_not(to_string(result.error()));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  const ExperimentReport report{*experiment, settings.live ? "live" : "simulated", request, *result,
                                today() + ", " + figure(seconds) + " s, by: " + settings.command_line};
  if (settings.json) {
    auto json = to_json(report);
    json["took_seconds"] = seconds;
    std::puts(json.dump(2).c_str());
  } else {
    std::printf("%s\n%s\n", to_text(report).c_str(), report.made.c_str());
  }
  if (const auto problem = write_files(settings, report)) return could_not(to_string(*problem));
  return result->agrees() ? agrees : differs;
}

}  // namespace hedgerow::lab
