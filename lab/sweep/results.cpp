#include "lab/sweep/results.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>

#include "lab/sweep/csv.hpp"
#include "lab/sweep/fields.hpp"

namespace hedgerow::lab::sweep {

namespace {

using nlohmann::ordered_json;

constexpr const char* format_word = "hedgerow-sweep 1";

// What JSON and CSV call the members of Figures. answered_share follows from the counts, and is only written.
struct Count {
  const char* key;
  std::uint64_t Figures::*value;
};
constexpr Count count_members[] = {{"queries", &Figures::queries},
                            {"answered", &Figures::answered},
                            {"refused", &Figures::refused},
                            {"late", &Figures::late},
                            {"failed", &Figures::failed}};
struct Value {
  const char* key;
  std::optional<double> Figures::*value;
};
constexpr Value value_members[] = {{"p50_ms", &Figures::p50_ms},     {"p90_ms", &Figures::p90_ms},
                            {"p99_ms", &Figures::p99_ms},     {"p99_9_ms", &Figures::p99_9_ms},
                            {"max_ms", &Figures::max_ms},     {"completeness", &Figures::completeness},
                            {"recall", &Figures::recall},     {"ndcg", &Figures::ndcg},
                            {"extra_attempts", &Figures::extra_attempts}};

double rounded(double value) { return std::round(value * 1e6) / 1e6; }

ordered_json figures_json(const Figures& figures) {
  ordered_json out;
  for (const auto& [key, value] : count_members) out[key] = figures.*value;
  out["kept_up"] = figures.kept_up;
  if (!figures.kept_up) out["not_kept_up"] = figures.not_kept_up;
  for (const auto& [key, value] : value_members) out[key] = figures.*value ? ordered_json(rounded(*(figures.*value))) : ordered_json();
  if (figures.latency) {
    ordered_json buckets = ordered_json::array();
    for (const auto& bucket : figures.latency->buckets()) buckets.push_back({bucket.highest, bucket.count});
    out["latency_ns"] = std::move(buckets);
  }
  return out;
}

ordered_json point_json(const SweepPoint& point) {
  return {{"deadline", format_duration(point.deadline)},
          {"fanout", point.fanout ? ordered_json(*point.fanout) : ordered_json("all")},
          {"policy", point.policy},
          {"faults", point.faults}};
}

Error bad_input(const std::string& what) { return {Errc::input, what}; }

std::optional<std::string> read_figures(const ordered_json& json, Figures& figures) {
  for (const auto& [key, value] : count_members) {
    if (!json.at(key).is_number_unsigned()) return std::string(key) + " is no count";
    figures.*value = json.at(key).get<std::uint64_t>();
  }
  figures.kept_up = json.at("kept_up").get<bool>();
  figures.not_kept_up = json.value("not_kept_up", "");
  for (const auto& [key, value] : value_members) {
    const auto& member = json.at(key);
    if (!member.is_null()) figures.*value = member.get<double>();
  }
  if (!json.contains("latency_ns")) return std::nullopt;
  figures.latency = curve_histogram();
  for (const auto& bucket : json.at("latency_ns")) figures.latency->record(bucket.at(0).get<std::uint64_t>(), bucket.at(1).get<std::uint64_t>());
  return std::nullopt;
}

std::optional<std::uint64_t> parse_whole(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_real(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string real_text(double value) { return ordered_json(rounded(value)).dump(); }

// One line of CSV by the names of its columns.
class Row {
 public:
  Row(const CsvRow& columns, const CsvRow& cells, std::size_t line) : columns_(columns), cells_(cells), line_(line) {}

  const std::string& text(const char* column) {
    static const std::string empty;
    const auto place = std::find(columns_.begin(), columns_.end(), column);
    if (place == columns_.end()) {
      fail(std::string("there is no column ") + column);
      return empty;
    }
    return cells_[static_cast<std::size_t>(place - columns_.begin())];
  }
  std::uint64_t whole(const char* column) {
    const auto value = parse_whole(text(column));
    if (!value) fail(std::string(column) + " is no whole number");
    return value.value_or(0);
  }
  std::optional<double> real(const char* column) {
    const std::string& cell = text(column);
    if (cell.empty()) return std::nullopt;
    const auto value = parse_real(cell);
    if (!value) fail(std::string(column) + " is no number");
    return value;
  }
  void fail(const std::string& what) {
    if (problem.empty()) problem = "line " + std::to_string(line_) + ": " + what;
  }
  std::string problem;

 private:
  const CsvRow& columns_;
  const CsvRow& cells_;
  std::size_t line_;
};

Run read_row(Row& row, std::vector<SweepPoint>& points) {
  SweepPoint point;
  const auto deadline = row.real("deadline_ms");
  if (!deadline || *deadline <= 0) row.fail("deadline_ms is no duration");
  // To the microsecond, as it was written.
  point.deadline = std::chrono::microseconds(std::llround(deadline.value_or(1) * 1000));
  if (row.text("fanout") != "all") point.fanout = static_cast<std::uint32_t>(row.whole("fanout"));
  point.policy = row.text("policy");
  point.faults = row.text("faults");
  Run run;
  const auto known = std::find(points.begin(), points.end(), point);
  run.point = static_cast<std::size_t>(known - points.begin());
  if (known == points.end()) points.push_back(point);
  run.repetition = row.whole("repetition");
  run.seed = row.whole("seed");
  for (const auto& [key, value] : count_members) run.figures.*value = row.whole(key);
  run.figures.kept_up = row.text("kept_up") == "true";
  run.figures.not_kept_up = row.text("not_kept_up");
  for (const auto& [key, value] : value_members) run.figures.*value = row.real(key);
  return run;
}

}  // namespace

bool SweepResults::complete() const { return plan && runs.size() == schedule_of(*plan).size(); }

Histogram SweepResults::latency_of(std::size_t point) const {
  Histogram all = curve_histogram();
  for (const Run& run : runs) {
    if (run.point == point && run.figures.latency) all.merge(*run.figures.latency);
  }
  return all;
}

ordered_json to_json(const SweepResults& results) {
  ordered_json out{{"format", format_word}, {"world", results.world}, {"begun", results.begun}};
  out["plan"] = results.plan ? to_json(*results.plan) : ordered_json();
  out["points"] = ordered_json::array();
  for (const SweepPoint& point : results.points) out["points"].push_back(point_json(point));
  out["runs"] = ordered_json::array();
  for (const Run& run : results.runs) {
    ordered_json json{{"point", run.point}, {"repetition", run.repetition}, {"seed", run.seed}};
    json.update(figures_json(run.figures));
    out["runs"].push_back(std::move(json));
  }
  return out;
}

std::string to_csv(const SweepResults& results) {
  CsvRow titles{"deadline_ms", "fanout", "policy", "faults", "repetition", "seed"};
  for (const auto& [key, value] : count_members) titles.emplace_back(key);
  titles.insert(titles.end(), {"answered_share", "kept_up", "not_kept_up"});
  for (const auto& [key, value] : value_members) titles.emplace_back(key);
  std::string out = csv_line(titles);
  for (const Run& run : results.runs) {
    const SweepPoint& point = results.points[run.point];
    const Figures& figures = run.figures;
    CsvRow row{real_text(to_milliseconds(point.deadline)), fanout_text(point.fanout), point.policy, point.faults, std::to_string(run.repetition),
               std::to_string(run.seed)};
    for (const auto& [key, value] : count_members) row.push_back(std::to_string(figures.*value));
    row.push_back(figures.answered_share() ? real_text(*figures.answered_share()) : "");
    row.emplace_back(figures.kept_up ? "true" : "false");
    row.push_back(figures.not_kept_up);
    for (const auto& [key, value] : value_members) row.push_back(figures.*value ? real_text(*(figures.*value)) : "");
    out += csv_line(row);
  }
  return out;
}

result<SweepResults> results_from_json(std::string_view text) {
  const auto json = ordered_json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("format") || json["format"] != format_word) return bad_input(std::string("not the results of a sweep (no \"format\": \"") + format_word + "\")");
  SweepResults results;
  try {
    results.world = json.at("world").get<std::string>();
    results.begun = json.at("begun").get<std::string>();
    if (!json.at("plan").is_null()) {
      auto plan = parse_plan(json.at("plan"));
      if (plan.has_error()) return bad_input("its plan: " + plan.error().context);
      results.plan = std::move(*plan);
    }
    for (const auto& point : json.at("points")) {
      const auto deadline = parse_duration(point.at("deadline").get<std::string>());
      if (deadline.has_error()) return bad_input("a point's deadline is none");
      std::optional<std::uint32_t> fanout;
      if (point.at("fanout") != "all") fanout = point.at("fanout").get<std::uint32_t>();
      results.points.push_back({*deadline, fanout, point.at("policy").get<std::string>(), point.at("faults").get<std::string>()});
    }
    for (const auto& entry : json.at("runs")) {
      Run run{.point = entry.at("point").get<std::size_t>(),
              .repetition = entry.at("repetition").get<std::uint64_t>(),
              .seed = entry.at("seed").get<std::uint64_t>(),
              .figures = {}};
      const std::string where = "run " + std::to_string(results.runs.size() + 1);
      if (run.point >= results.points.size()) return bad_input(where + ": there is no such point");
      if (const auto problem = read_figures(entry, run.figures)) return bad_input(where + ": " + *problem);
      results.runs.push_back(std::move(run));
    }
  } catch (const nlohmann::json::exception& problem) {
    return bad_input(problem.what());
  }
  return results;
}

result<SweepResults> results_from_csv(std::string_view text) {
  const auto rows = parse_csv(text);
  if (rows.has_error()) return rows.error();
  if (rows->empty()) return bad_input("there is no line with the columns' names");
  SweepResults results;
  for (std::size_t i = 1; i < rows->size(); ++i) {
    if ((*rows)[i].size() != rows->front().size()) return bad_input("line " + std::to_string(i + 1) + " has not as many cells as the first");
    Row row(rows->front(), (*rows)[i], i + 1);
    Run run = read_row(row, results.points);
    if (!row.problem.empty()) return bad_input(row.problem);
    results.runs.push_back(std::move(run));
  }
  return results;
}

result<SweepResults> read_results(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto file = std::filesystem::is_directory(path, ignored) ? path / "results.json" : path;
  std::ifstream stream(file, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  if (!stream) return Error{Errc::io, file.string() + ": cannot be read"};
  auto results = file.extension() == ".csv" ? results_from_csv(text) : results_from_json(text);
  if (results.has_error()) return Error{results.error().code, file.string() + ": " + results.error().context};
  return results;
}

}  // namespace hedgerow::lab::sweep
