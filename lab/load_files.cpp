#include "lab/load_files.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "lab/hdr/interval_log.hpp"
#include "lab/hdr/percentile_text.hpp"

namespace hedgerow::lab {

namespace {

// Nanoseconds up to ten minutes, as the report's.
constexpr std::uint64_t longest_logged = 600'000'000'000;
// A load that was stalled for days writes no more empty intervals than this at once: it leaves a gap.
constexpr int most_empty_intervals = 3600;

std::uint64_t nanoseconds_of(Duration duration) { return static_cast<std::uint64_t>(std::max<Duration::rep>(0, duration.count())); }

struct File {
  std::filesystem::path path;
  std::ofstream stream;

  bool wanted() const { return !path.empty(); }
  bool create(const std::filesystem::path& where) {
    path = where;
    if (wanted()) stream.open(path, std::ios::binary | std::ios::trunc);
    return !wanted() || stream.good();
  }
  void write(const std::string& text) {
    if (wanted()) stream << text;
  }
};

// Latencies of two kinds, by the interval in which they ended. Ends come in order, but for what a busy event loop lets
// slip; a straggler counts in the interval that is open.
class IntervalLog {
 public:
  IntervalLog(File& file, Duration interval, std::string tag) : file_(file), interval_(interval), tag_(std::move(tag)), untagged_(longest_logged), tagged_(longest_logged) {}

  void record(Duration ended, Duration latency, bool tagged) {
    close_before(ended);
    (tagged ? tagged_ : untagged_).record(nanoseconds_of(latency));
  }

  // Writes the interval that is open, though it is not over.
  void finish() { write(interval_); }

 private:
  void close_before(Duration instant) {
    for (int closed = 0; instant >= begin_ + interval_ && closed < most_empty_intervals; ++closed) {
      write(interval_);
      begin_ += interval_;
    }
    if (instant >= begin_ + interval_) begin_ += (instant - begin_) / interval_ * interval_;
  }

  void write(Duration length) {
    file_.write(hdr::interval_line(begin_, length, untagged_));
    if (tagged_.count() > 0) file_.write(hdr::interval_line(begin_, length, tagged_, tag_));
    file_.stream.flush();
    untagged_.clear();
    tagged_.clear();
  }

  File& file_;
  Duration interval_, begin_{};
  std::string tag_;
  Histogram untagged_, tagged_;
};

std::string cell(const std::optional<double>& value) {
  if (!value) return "";
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", *value);
  return text;
}

// A refusal is quick: its time has a column of its own, as it has a table of its own in the report.
std::string sample_row(const LoadOutcome& outcome) {
  char intended[32], latency[32], lags[64];
  std::snprintf(intended, sizeof intended, "%.6f,", to_seconds(outcome.intended_at));
  std::snprintf(latency, sizeof latency, outcome.status == 200 ? "%.3f,," : ",%.3f,", to_milliseconds(outcome.latency));
  std::snprintf(lags, sizeof lags, "%.3f,%.3f,", to_milliseconds(outcome.send_lag), to_milliseconds(outcome.own_lag));
  std::string row = std::string(intended) + latency + lags;
  row += (outcome.status ? std::to_string(*outcome.status) : std::string(to_string(outcome.error))) + ",";
  // A word of ours, or of a server that may say anything.
  const bool plain = outcome.finished.find_first_of(",\"\r\n") == std::string::npos;
  row += cell(outcome.took_ms) + "," + (plain ? outcome.finished : std::string("other")) + ",";
  row += cell(outcome.best_completeness()) + "," + cell(outcome.estimated_recall) + ",";
  row += cell(outcome.recall) + "," + cell(outcome.ndcg_10) + ",";
  return row + std::to_string(outcome.query + 1) + "\n";
}

constexpr const char* samples_heading =
    "intended_s,latency_ms,other_ms,send_lag_ms,own_lag_ms,status,took_ms,finished,completeness,estimated_recall,recall,ndcg_10,query\n";

}  // namespace

struct LoadFiles::Implementation {
  explicit Implementation(const LoadFileSettings& settings)
      : queries_log(hlog, settings.interval, "others"), attempts_log(attempts, settings.interval, "given_up") {}

  File hgrm, hlog, attempts, samples;
  IntervalLog queries_log, attempts_log;
};

LoadFiles::LoadFiles(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
LoadFiles::LoadFiles(LoadFiles&&) noexcept = default;
LoadFiles& LoadFiles::operator=(LoadFiles&&) noexcept = default;
LoadFiles::~LoadFiles() = default;

result<LoadFiles> LoadFiles::create(const LoadFileSettings& settings, std::chrono::system_clock::time_point started) {
  auto files = std::make_unique<Implementation>(settings);
  for (auto [file, path] : {std::pair(&files->hgrm, &settings.hgrm), std::pair(&files->hlog, &settings.hlog),
                            std::pair(&files->attempts, &settings.attempts), std::pair(&files->samples, &settings.samples)}) {
    if (!file->create(*path)) return Error{Errc::io, path->string() + ": cannot be written"};
  }
  files->hlog.write(hdr::interval_log_head(started, "hedgerow-lab load: latencies of queries, in nanoseconds; without a tag, of answers with status 200"));
  files->attempts.write(hdr::interval_log_head(started, "hedgerow-lab load: latencies of attempts, in nanoseconds; Tag=given_up: given up after so long"));
  files->samples.write(samples_heading);
  return LoadFiles(std::move(files));
}

void LoadFiles::record(const LoadOutcome& outcome) {
  auto& [hgrm, hlog, attempts, samples, queries_log, attempts_log] = *implementation_;
  const Duration ended = outcome.intended_at + outcome.latency;
  if (hlog.wanted()) queries_log.record(ended, outcome.latency, outcome.status != 200);
  if (attempts.wanted()) {
    for (const auto& attempt : outcome.attempt_latencies) attempts_log.record(ended, attempt.latency, !attempt.answered);
  }
  if (samples.wanted()) samples.write(sample_row(outcome));
}

result<void> LoadFiles::finish(const LoadResult& load) {
  auto& [hgrm, hlog, attempts, samples, queries_log, attempts_log] = *implementation_;
  const auto behind = load.report.could_not_keep_up(load.frame);
  const std::string note = behind ? "#[" + *behind + "]\n" : std::string();
  if (hlog.wanted()) queries_log.finish();
  if (attempts.wanted()) attempts_log.finish();
  hgrm.write(hdr::percentile_text(load.report.latency()));
  for (File* file : {&hgrm, &hlog, &attempts}) file->write(note);
  for (File* file : {&hgrm, &hlog, &attempts, &samples}) {
    if (!file->wanted()) continue;
    file->stream.close();
    if (!file->stream) return Error{Errc::io, file->path.string() + ": cannot be written"};
  }
  return {};
}

}  // namespace hedgerow::lab
