#include "lab/sweep/sweep_command.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <variant>

#include "base/steady_clock.hpp"
#include "lab/cluster_file.hpp"
#include "lab/report/svg.hpp"
#include "lab/sweep/bench.hpp"
#include "lab/sweep/comparison.hpp"
#include "lab/sweep/pages.hpp"
#include "lab/sweep/results.hpp"

namespace hedgerow::lab::sweep {

namespace fs = std::filesystem;

namespace {

using nlohmann::ordered_json;

// Results are written at most this often while runs end.
constexpr Duration write_every = std::chrono::seconds(2);

int fail(const Error& error, int status) {
  std::fprintf(stderr, "hedgerow-lab: %s\n", to_string(error).c_str());
  return status;
}

std::string date_text() {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

result<void> write_text(const fs::path& path, const std::string& text) { return write_file_atomically(path, text); }

// The page, and, where they are wanted, its charts as pictures.
result<void> write_page(const fs::path& file, const report::Page& page, const fs::path& pictures) {
  if (auto written = write_text(file, report::to_html(page)); written.has_error() || pictures.empty()) return written;
  std::error_code error;
  fs::create_directories(pictures, error);
  if (error) return Error{Errc::io, pictures.string() + ": " + error.message()};
  for (const auto& part : page.parts) {
    const auto* chart = std::get_if<report::Chart>(&part);
    if (!chart) continue;
    if (auto written = write_text(pictures / (chart->name + ".svg"), report::to_svg(*chart)); written.has_error()) return written;
  }
  return {};
}

result<ordered_json> read_plan_file(const fs::path& path) {
  if (path.empty()) return {boost::system::in_place_value, ordered_json::object()};
  std::ifstream file(path);
  if (!file) return Error{Errc::io, path.string() + ": cannot be read"};
  auto json = ordered_json::parse(std::string(std::istreambuf_iterator<char>(file), {}), nullptr, false);
  if (json.is_discarded()) return Error{Errc::invalid_argument, path.string() + ": is no JSON"};
  return {boost::system::in_place_value, std::move(json)};
}

// The plan of file and flags, with the one world that it is run in.
result<SweepPlan> read_plan(const SweepSettings& settings) {
  auto json = read_plan_file(settings.plan);
  if (json.has_error()) return json.error();
  auto merged = with_flags(std::move(*json), settings.flags);
  if (merged.has_error()) return merged.error();
  auto plan = parse_plan(*merged);
  if (plan.has_error()) return plan.error();
  if (settings.flags.simulated) plan->live.reset();
  // A plan with both is run live unless --simulated says otherwise.
  if (plan->live) plan->simulated.reset();
  if (!plan->live && !plan->simulated) return Error{Errc::invalid_argument, "say where it runs: --index for a live sweep, or --simulated"};
  return plan;
}

// What is there already, of the same plan.
result<SweepResults> begin_results(const SweepSettings& settings, const SweepPlan& plan, const std::string& world) {
  const auto file = settings.out / "results.json";
  std::error_code ignored;
  SweepResults fresh{.plan = plan, .world = world, .begun = date_text(), .points = points_of(plan), .runs = {}};
  if (!fs::exists(file, ignored)) return fresh;
  if (!settings.resume) return Error{Errc::invalid_argument, file.string() + " is there already: take another --out, or --resume it"};
  auto there = read_results(file);
  if (there.has_error()) return there.error();
  if (!there->plan || to_json(*there->plan) != to_json(plan) || there->world != world) {
    return Error{Errc::invalid_argument, file.string() + " is of another plan, and cannot be resumed with this one"};
  }
  return there;
}

bool has_run(const SweepResults& results, const ScheduledRun& scheduled) {
  return std::any_of(results.runs.begin(), results.runs.end(),
                     [&](const Run& run) { return run.point == scheduled.point && run.repetition == scheduled.repetition; });
}

std::string time_text(Duration time) {
  const auto seconds = static_cast<long>(to_seconds(time) + 0.5);
  if (seconds < 90) return std::to_string(seconds) + " s";
  return seconds < 5400 ? std::to_string((seconds + 30) / 60) + " min" : std::to_string((seconds + 1800) / 3600) + " h";
}

void tell(std::size_t done, std::size_t of, const SweepPoint& point, const Run& run, Duration left) {
  std::string text = std::to_string(done) + "/" + std::to_string(of) + "  " + to_text(point) + " (" + std::to_string(run.repetition) + ")";
  const char* before = ": ";
  for (const char* key : {"p50_ms", "p99_ms", "completeness", "recall", "ndcg"}) {
    const Measure& each = measure(key);
    const auto value = each.of(run.figures);
    if (!value) continue;
    const std::string title = each.title;
    text += before + title.substr(0, title.find(' ')) + " " + figure_text(each, *value);
    before = ", ";
  }
  if (!run.figures.kept_up) text += "; the load did not keep up";
  if (left > Duration::zero()) text += "; " + time_text(left) + " left";
  std::fprintf(stderr, "%s\n", text.c_str());
}

result<void> write_all(const SweepSettings& settings, const SweepResults& results, const std::vector<std::string>& notes) {
  if (auto json = write_text(settings.out / "results.json", to_json(results).dump(1) + "\n"); json.has_error()) return json;
  if (auto csv = write_text(settings.out / "results.csv", to_csv(results)); csv.has_error()) return csv;
  const std::string made = "Made by hedgerow-lab sweep, " + date_text() + ", from results.json beside this file.";
  return write_page(settings.out / "report.html", sweep_page(results, notes, made), settings.pictures);
}

// Runs what is missing. The first error ends it; what there is by then stays.
result<void> run_missing(Bench& bench, const SweepPlan& plan, const fs::path& out, SweepResults& results) {
  std::vector<ScheduledRun> missing;
  const auto schedule = schedule_of(plan);
  std::copy_if(schedule.begin(), schedule.end(), std::back_inserter(missing), [&](const auto& scheduled) { return !has_run(results, scheduled); });
  const Instant begun = clock_now();
  Instant written = begun;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    const SweepPoint& point = results.points[missing[i].point];
    auto figures = bench.run(point, missing[i]);
    if (figures.has_error()) return Error{figures.error().code, to_text(point) + ": " + figures.error().context};
    results.runs.push_back({missing[i].point, missing[i].repetition, missing[i].seed, std::move(*figures)});
    const Instant now = clock_now();
    const auto left = (now - begun) / static_cast<Duration::rep>(i + 1) * static_cast<Duration::rep>(missing.size() - i - 1);
    tell(results.runs.size(), schedule.size(), point, results.runs.back(), left);
    if (now - written < write_every) continue;
    if (auto kept = write_text(out / "results.json", to_json(results).dump(1) + "\n"); kept.has_error()) return kept;
    written = now;
  }
  return {};
}

int run_plan(const SweepSettings& settings) {
  const auto plan = read_plan(settings);
  if (plan.has_error()) return fail(plan.error(), 2);
  if (settings.out.empty()) return fail({Errc::invalid_argument, "say where the results go: --out DIRECTORY"}, 2);
  std::error_code error;
  fs::create_directories(settings.out, error);
  if (error) return fail({Errc::io, settings.out.string() + ": " + error.message()}, 2);
  auto results = begin_results(settings, *plan, plan->live ? "live" : "simulated");
  if (results.has_error()) return fail(results.error(), 2);

  const auto bin_dir = settings.bin_dir.empty() ? fs::read_symlink("/proc/self/exe", error).parent_path() : fs::absolute(settings.bin_dir, error);
  auto bench = plan->live ? live_bench(*plan, bin_dir) : simulated_bench(*plan);
  if (bench.has_error()) return fail(bench.error(), 2);
  const auto ran = run_missing(**bench, *plan, settings.out, *results);
  const auto notes = (*bench)->notes();
  bench->reset();  // the cluster ends before the report is made
  if (ran.has_error()) fail(ran.error(), 1);
  if (const auto written = write_all(settings, *results, notes); written.has_error()) return fail(written.error(), 1);
  const std::string text = settings.json ? to_json(*results).dump(2) + "\n" : to_text(*results);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fprintf(stderr, "%s\n", (settings.out / "report.html").c_str());
  return ran.has_error() ? 1 : 0;
}

int run_comparison(const SweepSettings& settings) {
  if (settings.compare.size() != 2) return fail({Errc::invalid_argument, "--compare takes two: A B"}, 2);
  const auto a = read_results(settings.compare[0]), b = read_results(settings.compare[1]);
  if (a.has_error()) return fail(a.error(), 2);
  if (b.has_error()) return fail(b.error(), 2);
  const auto comparison = compare(*a, *b);
  if (!settings.out.empty()) {
    std::error_code error;
    fs::create_directories(settings.out, error);
    const auto page = comparison_page(*a, *b, comparison, settings.compare[0].string(), settings.compare[1].string(),
                                      "Made by hedgerow-lab sweep --compare, " + date_text() + ".");
    auto written = write_text(settings.out / "comparison.json", to_json(comparison).dump(1) + "\n");
    if (!written.has_error()) written = write_page(settings.out / "comparison.html", page, settings.pictures);
    if (written.has_error()) return fail(written.error(), 2);
  }
  const std::string text = settings.json ? to_json(comparison).dump(2) + "\n" : to_text(comparison);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace

int run_sweep(const SweepSettings& settings) { return settings.compare.empty() ? run_plan(settings) : run_comparison(settings); }

}  // namespace hedgerow::lab::sweep
