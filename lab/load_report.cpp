#include "lab/load_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace hedgerow::lab {

namespace {

using nlohmann::ordered_json;

// Nanoseconds up to ten minutes.
constexpr std::uint64_t longest = 600'000'000'000;
// The words in which a query may be finished, and a subsystem end, are few; more than this is no server of ours, and is
// counted together.
constexpr std::size_t most_words = 16;

struct Quantile {
  const char* key;
  const char* name;
  double quantile;
};
constexpr std::array<Quantile, 6> quantiles{{{"p50", "p50", 0.5},
                                             {"p90", "p90", 0.9},
                                             {"p95", "p95", 0.95},
                                             {"p99", "p99", 0.99},
                                             {"p99_9", "p99.9", 0.999},
                                             {"p99_99", "p99.99", 0.9999}}};

std::uint64_t nanoseconds(Duration duration) { return static_cast<std::uint64_t>(std::max<Duration::rep>(0, duration.count())); }

// To the microsecond: the histogram knows no more.
double milliseconds(double nanoseconds) { return std::round(nanoseconds / 1e3) / 1e3; }
double rounded(double value) { return std::round(value * 1e6) / 1e6; }

ordered_json histogram_json(const Histogram& histogram) {
  ordered_json out{{"count", histogram.count()}};
  if (histogram.count() == 0) return out;
  out["mean"] = milliseconds(histogram.mean());
  for (const auto& [key, name, quantile] : quantiles) {
    out[key] = milliseconds(static_cast<double>(histogram.value_at_quantile(quantile)));
  }
  out["max"] = milliseconds(static_cast<double>(histogram.max()));
  return out;
}

double milliseconds_at(const Histogram& histogram, double quantile) {
  return static_cast<double>(histogram.value_at_quantile(quantile)) / 1e6;
}

// What lateness of ours is borne beside such a latency.
double bearable_ms(double latency_ms) { return std::max(1.0, latency_ms / 10); }

template <class... Values>
void add_line(std::string& text, const char* format, Values... values) {
  char line[512];
  std::snprintf(line, sizeof line, format, values...);
  text += line;
}

std::string table_heading() {
  std::string text;
  add_line(text, "%-14s", "ms");
  for (const auto& quantile : quantiles) add_line(text, " %9s", quantile.name);
  add_line(text, " %9s\n", "max");
  return text;
}

std::string histogram_line(const char* name, const Histogram& histogram) {
  if (histogram.count() == 0) return "";
  std::string text;
  add_line(text, "%-14s", name);
  for (const auto& quantile : quantiles) add_line(text, " %9.3f", milliseconds_at(histogram, quantile.quantile));
  add_line(text, " %9.3f\n", static_cast<double>(histogram.max()) / 1e6);
  return text;
}

// Of all quantiles but those up to this one; null: of all.
std::string beyond(const char* name) {
  std::string text = "All quantiles";
  if (name) text = std::string("Quantiles beyond ") + name;
  return text;
}

void count_word(std::map<std::string, std::uint64_t>& words, const std::string& word) {
  const bool known = words.contains(word) || words.size() < most_words;
  ++words[known ? word : "other"];
}

double per_second(std::uint64_t count, Duration time) {
  return time.count() > 0 ? static_cast<double>(count) / to_seconds(time) : 0;
}

std::string with_unit(double value, const char* unit) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.1f %s", value, unit);
  return text;
}

}  // namespace

LoadReport::LoadReport()
    : latency_(longest), other_latency_(longest), send_lag_(longest), own_lag_(longest), took_(longest) {}

void LoadReport::record(const LoadOutcome& outcome) {
  send_lag_.record(nanoseconds(outcome.send_lag));
  own_lag_.record(nanoseconds(outcome.own_lag));
  (outcome.status == 200 ? latency_ : other_latency_).record(nanoseconds(outcome.latency));
  quality_.record(outcome, outcome.status == 200);
  if (!outcome.status) {
    ++failed_;
    ++errors_[outcome.error];
    return;
  }
  ++answered_;
  ++statuses_[*outcome.status];
  if (outcome.took_ms && *outcome.took_ms >= 0) took_.record(nanoseconds(from_milliseconds(std::min(*outcome.took_ms, 600'000.0))));
  if (!outcome.finished.empty()) count_word(finished_, outcome.finished);
  for (const auto& [name, status] : outcome.subsystems) {
    if (subsystems_.contains(name) || subsystems_.size() < most_words) count_word(subsystems_[name], status);
  }
  std::uint64_t sent = 0;
  for (std::size_t kind = 0; kind < attempt_kinds; ++kind) {
    sent += outcome.attempts[kind];
    attempts_[kind] += outcome.attempts[kind];
  }
  hedges_won_ += outcome.hedges_won;
  attempts_cancelled_ += outcome.attempts_cancelled;
  if (sent > 0) partitions_asked_ += outcome.partitions_asked;
}

std::optional<std::string> LoadReport::could_not_keep_up(const LoadFrame& frame) const {
  if (!frame.open_loop || send_lag_.count() == 0) return std::nullopt;
  const double lag_ms = milliseconds_at(send_lag_, 0.99);
  const double p99_ms = std::max(milliseconds_at(latency_, 0.99), milliseconds_at(other_latency_, 0.99));
  if (lag_ms <= bearable_ms(p99_ms)) return std::nullopt;
  std::string text = "the load did not keep up: 1 % of the queries were sent more than " + with_unit(lag_ms, "ms") +
                     " after their instant (the latencies count that time), " + with_unit(per_second(recorded(), frame.sending), "a second") +
                     " of " + with_unit(frame.rate, "that were meant. ");
  if (frame.waited_for_connection * 100 > recorded()) {
    text += std::to_string(frame.waited_for_connection) + " found all " + std::to_string(frame.connections) +
            " connections busy: the server is slower than the rate asks, or --connections is too low.";
  } else {
    text += "Connections were free: this process did not get the processor in time; ask a lower rate, or give it a core.";
  }
  return text;
}

const char* LoadReport::supported_to() const {
  const char* highest = nullptr;
  for (const auto& [key, name, quantile] : quantiles) {
    if (static_cast<double>(latency_.count()) * (1 - quantile) >= 10 - 1e-6) highest = name;
  }
  return highest;
}

const char* LoadReport::undistorted_to() const {
  const char* highest = nullptr;
  for (const auto& [key, name, quantile] : quantiles) {
    if (milliseconds_at(own_lag_, quantile) > bearable_ms(milliseconds_at(latency_, quantile))) break;
    highest = name;
  }
  return highest;
}

ordered_json LoadReport::attempts_json() const {
  ordered_json out = ordered_json::object();
  std::uint64_t sent = 0;
  for (std::size_t kind = 0; kind < attempt_kinds; ++kind) {
    out[std::string(to_string(static_cast<AttemptKind>(kind)))] = attempts_[kind];
    sent += attempts_[kind];
  }
  out["hedge_won"] = hedges_won_;
  out["cancelled"] = attempts_cancelled_;
  if (partitions_asked_ > 0) {
    out["extra_share"] = rounded(static_cast<double>(sent) / static_cast<double>(partitions_asked_) - 1);
  }
  return out;
}

std::string LoadReport::attempts_text() const {
  std::string text;
  std::uint64_t sent = 0;
  for (std::size_t kind = 0; kind < attempt_kinds; ++kind) {
    sent += attempts_[kind];
    if (attempts_[kind] == 0) continue;
    const std::string word(to_string(static_cast<AttemptKind>(kind)));
    text += (text.empty() ? "attempts: " : ", ") + std::to_string(attempts_[kind]) + " " + word;
  }
  if (text.empty() || partitions_asked_ == 0) return "";
  add_line(text, "; %llu hedges won; %.2f %% beyond one for each partition asked\n", static_cast<unsigned long long>(hedges_won_),
           100 * (static_cast<double>(sent) / static_cast<double>(partitions_asked_) - 1));
  return text;
}

ordered_json LoadReport::to_json(const LoadFrame& frame) const {
  ordered_json out{{"target", frame.target}, {"loop", frame.open_loop ? "open" : "closed"}};
  if (frame.open_loop) {
    out["rate"] = frame.rate;
    out["arrivals"] = frame.arrivals;
  }
  out["seed"] = frame.seed;
  out["connections"] = {{"most", frame.connections}, {"used", frame.connections_used}};
  out["measured_seconds"] = rounded(to_seconds(frame.measured));
  out["elapsed_seconds"] = rounded(to_seconds(frame.elapsed));
  out["broken_off"] = frame.broken_off;
  out["queries"] = {{"warm_up", frame.warm_up}, {"intended", frame.intended}, {"answered", answered_}, {"failed", failed_}};
  if (frame.open_loop) out["sent_per_second"] = rounded(per_second(recorded(), frame.sending));
  out["answers_per_second"] = rounded(per_second(answered_, frame.elapsed));
  out["latency_from"] = frame.open_loop ? "intended" : "sent";
  out["latency_ms"] = histogram_json(latency_);
  const auto name_or_null = [](const char* name) { return name ? ordered_json(name) : ordered_json(nullptr); };
  out["quantiles"] = {{"supported_to", name_or_null(supported_to())}};
  out["latency_of_others_ms"] = histogram_json(other_latency_);
  if (frame.open_loop) {
    out["quantiles"]["undistorted_to"] = name_or_null(undistorted_to());
    const auto behind = could_not_keep_up(frame);
    out["kept_up"] = !behind;
    if (behind) out["not_kept_up"] = *behind;
    out["send_lag_ms"] = histogram_json(send_lag_);
    out["own_lag_ms"] = histogram_json(own_lag_);
    out["waited_for_connection"] = frame.waited_for_connection;
  }
  out["status"] = ordered_json::object();
  for (const auto& [status, count] : statuses_) out["status"][std::to_string(status)] = count;
  out["transport_errors"] = ordered_json::object();
  for (const auto& [error, count] : errors_) out["transport_errors"][std::string(to_string(error))] = count;
  quality_.add_to(out, frame.depth);
  out["finished"] = ordered_json::object();
  for (const auto& [word, count] : finished_) out["finished"][word] = count;
  out["attempts"] = attempts_json();
  out["subsystems"] = ordered_json::object();
  for (const auto& [name, statuses] : subsystems_) {
    for (const auto& [status, count] : statuses) out["subsystems"][name][status] = count;
  }
  out["took_ms"] = histogram_json(took_);
  return out;
}

std::string LoadReport::to_text(const LoadFrame& frame) const {
  std::string text;
  if (frame.open_loop) {
    add_line(text, "%s: %.6g queries/s intended (%s, seed %llu), %zu of at most %zu connections\n", frame.target.c_str(), frame.rate,
             frame.arrivals.c_str(), static_cast<unsigned long long>(frame.seed), frame.connections_used, frame.connections);
  } else {
    add_line(text, "%s: %zu clients, each asking again as soon as it is answered\n", frame.target.c_str(), frame.connections);
  }
  add_line(text, "%llu queries intended, %llu answered, %llu failed in %.2f s: %.1f answers/s%s\n\n",
           static_cast<unsigned long long>(frame.intended), static_cast<unsigned long long>(answered_),
           static_cast<unsigned long long>(failed_), to_seconds(frame.elapsed), per_second(answered_, frame.elapsed),
           frame.broken_off ? " (broken off)" : "");
  text += table_heading();
  text += histogram_line("latency", latency_);
  text += histogram_line("not status 200", other_latency_);
  text += histogram_line("server's own", took_);
  if (frame.open_loop) text += histogram_line("send lag", send_lag_);
  text += frame.open_loop ? "Latencies run from the intended instant of sending.\n"
                          : "Latencies run from sending: a closed loop asks less while the server is slow.\n";
  if (latency_.count() > 0) {
    if (const char* supported = supported_to(); supported != quantiles.back().name) {
      text += beyond(supported) + " are the luck of fewer than ten answers.\n";
    }
    if (const char* undistorted = undistorted_to(); frame.open_loop && undistorted != quantiles.back().name) {
      text += beyond(undistorted) + " tell of this process, which came late itself, as much as of the server.\n";
    }
  }
  text += "\n";
  for (const auto& [status, count] : statuses_) text += "status " + std::to_string(status) + ": " + std::to_string(count) + "\n";
  for (const auto& [error, count] : errors_) text += "no answer, " + std::string(to_string(error)) + ": " + std::to_string(count) + "\n";
  for (const auto& [word, count] : finished_) text += "finished " + word + ": " + std::to_string(count) + "\n";
  text += quality_.to_text(frame.depth);
  text += attempts_text();
  for (const auto& [name, statuses] : subsystems_) {
    if (statuses.size() == 1 && statuses.contains("off")) continue;
    std::string line;
    for (const auto& [status, count] : statuses) line += (line.empty() ? name + ": " : ", ") + std::to_string(count) + " " + status;
    text += line + "\n";
  }
  if (const auto behind = could_not_keep_up(frame)) text += "\n" + *behind + "\n";
  return text;
}

}  // namespace hedgerow::lab
