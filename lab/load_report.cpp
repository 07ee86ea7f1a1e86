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
// The words after which a query may be finished are few; more than this is no server of ours, and is counted together.
constexpr std::size_t most_finished_words = 16;

struct Quantile {
  const char* name;
  double quantile;
};
constexpr std::array<Quantile, 5> quantiles{{{"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p99_9", 0.999}}};

std::uint64_t nanoseconds(Duration duration) { return static_cast<std::uint64_t>(std::max<Duration::rep>(0, duration.count())); }

// To the microsecond: the histogram knows no more.
double milliseconds(double nanoseconds) { return std::round(nanoseconds / 1e3) / 1e3; }
double rounded(double value) { return std::round(value * 1e6) / 1e6; }

ordered_json histogram_json(const Histogram& histogram) {
  ordered_json out{{"count", histogram.count()}};
  if (histogram.count() == 0) return out;
  out["mean"] = milliseconds(histogram.mean());
  for (const auto& [name, quantile] : quantiles) {
    out[name] = milliseconds(static_cast<double>(histogram.value_at_quantile(quantile)));
  }
  out["max"] = milliseconds(static_cast<double>(histogram.max()));
  return out;
}

std::string histogram_line(const char* name, const Histogram& histogram) {
  if (histogram.count() == 0) return "";
  char line[256];
  const auto at = [&](double quantile) { return static_cast<double>(histogram.value_at_quantile(quantile)) / 1e6; };
  std::snprintf(line, sizeof(line), "%-14s %9.3f %9.3f %9.3f %9.3f %9.3f %9.3f\n", name, at(0.5), at(0.9), at(0.95),
                at(0.99), at(0.999), static_cast<double>(histogram.max()) / 1e6);
  return line;
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

LoadReport::LoadReport() : latency_(longest), other_latency_(longest), send_lag_(longest), took_(longest) {}

void LoadReport::record(const LoadOutcome& outcome) {
  send_lag_.record(nanoseconds(outcome.send_lag));
  (outcome.status == 200 ? latency_ : other_latency_).record(nanoseconds(outcome.latency));
  if (!outcome.status) {
    ++failed_;
    ++errors_[outcome.error];
    return;
  }
  ++answered_;
  ++statuses_[*outcome.status];
  if (outcome.took_ms && *outcome.took_ms >= 0) took_.record(nanoseconds(from_milliseconds(std::min(*outcome.took_ms, 600'000.0))));
  if (!outcome.finished.empty()) {
    const bool known = finished_.contains(outcome.finished) || finished_.size() < most_finished_words;
    ++finished_[known ? outcome.finished : "other"];
  }
  // Of answers alone: an error says in its header that it is of no completeness at all, and is counted by its status.
  if (outcome.status != 200) return;
  // The body is exact, the header rounded.
  const auto completeness = outcome.completeness_in_body ? outcome.completeness_in_body : outcome.completeness;
  if (!completeness) return;
  ++with_completeness_;
  completeness_sum_ += *completeness;
  completeness_min_ = std::min(completeness_min_, *completeness);
  if (*completeness >= 1) ++complete_;
  const bool both = outcome.completeness_in_body && outcome.completeness;
  if (both && std::abs(*outcome.completeness_in_body - *outcome.completeness) > 1e-3) ++disagreements_;
}

std::optional<std::string> LoadReport::could_not_keep_up(const LoadFrame& frame) const {
  if (!frame.open_loop || send_lag_.count() == 0) return std::nullopt;
  const double lag_ms = static_cast<double>(send_lag_.value_at_quantile(0.99)) / 1e6;
  const double p99_ms = static_cast<double>(std::max(latency_.value_at_quantile(0.99), other_latency_.value_at_quantile(0.99))) / 1e6;
  const double bearable_ms = std::max(1.0, p99_ms / 10);
  if (lag_ms <= bearable_ms) return std::nullopt;
  std::string text = "the load did not keep up: 1 % of the queries were sent more than " + with_unit(lag_ms, "ms") +
                     " after their instant (the latencies count that time). ";
  if (frame.waited_for_connection * 100 > recorded()) {
    text += std::to_string(frame.waited_for_connection) + " found all " + std::to_string(frame.connections) +
            " connections busy: the server is slower than the rate asks, or --connections is too low.";
  } else {
    text += "Connections were free: this process did not get the processor in time; ask a lower rate, or give it a core.";
  }
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
  out["answers_per_second"] = rounded(per_second(answered_, frame.elapsed));
  out["latency_from"] = frame.open_loop ? "intended" : "sent";
  out["latency_ms"] = histogram_json(latency_);
  out["latency_of_others_ms"] = histogram_json(other_latency_);
  if (frame.open_loop) {
    const auto behind = could_not_keep_up(frame);
    out["kept_up"] = !behind;
    if (behind) out["not_kept_up"] = *behind;
    out["send_lag_ms"] = histogram_json(send_lag_);
    out["waited_for_connection"] = frame.waited_for_connection;
  }
  out["status"] = ordered_json::object();
  for (const auto& [status, count] : statuses_) out["status"][std::to_string(status)] = count;
  out["transport_errors"] = ordered_json::object();
  for (const auto& [error, count] : errors_) out["transport_errors"][std::string(to_string(error))] = count;
  out["completeness"] = {{"answers", with_completeness_}};
  if (with_completeness_ > 0) {
    const auto answers = static_cast<double>(with_completeness_);
    out["completeness"]["mean"] = completeness_sum_ / answers;
    out["completeness"]["min"] = completeness_min_;
    out["completeness"]["complete_share"] = static_cast<double>(complete_) / answers;
    out["completeness"]["complete_share_of_all_queries"] = static_cast<double>(complete_) / static_cast<double>(recorded());
    out["completeness"]["header_and_body_differ"] = disagreements_;
  }
  out["finished"] = ordered_json::object();
  for (const auto& [word, count] : finished_) out["finished"][word] = count;
  out["took_ms"] = histogram_json(took_);
  return out;
}

std::string LoadReport::to_text(const LoadFrame& frame) const {
  char line[512];
  std::string text;
  const auto add = [&] { text += line; };
  if (frame.open_loop) {
    std::snprintf(line, sizeof(line), "%s: %.6g queries/s intended (%s, seed %llu), %zu of at most %zu connections\n",
                  frame.target.c_str(), frame.rate, frame.arrivals.c_str(), static_cast<unsigned long long>(frame.seed),
                  frame.connections_used, frame.connections);
  } else {
    std::snprintf(line, sizeof(line), "%s: %zu clients, each asking again as soon as it is answered\n",
                  frame.target.c_str(), frame.connections);
  }
  add();
  std::snprintf(line, sizeof(line), "%llu queries intended, %llu answered, %llu failed in %.2f s: %.1f answers/s%s\n\n",
                static_cast<unsigned long long>(frame.intended), static_cast<unsigned long long>(answered_),
                static_cast<unsigned long long>(failed_), to_seconds(frame.elapsed),
                per_second(answered_, frame.elapsed), frame.broken_off ? " (broken off)" : "");
  add();
  std::snprintf(line, sizeof(line), "%-14s %9s %9s %9s %9s %9s %9s\n", "ms", "p50", "p90", "p95", "p99", "p99.9", "max");
  add();
  text += histogram_line("latency", latency_);
  text += histogram_line("not status 200", other_latency_);
  text += histogram_line("server's own", took_);
  if (frame.open_loop) text += histogram_line("send lag", send_lag_);
  text += frame.open_loop ? "Latencies run from the intended instant of sending.\n\n"
                          : "Latencies run from sending: a closed loop asks less while the server is slow.\n\n";
  for (const auto& [status, count] : statuses_) {
    text += "status " + std::to_string(status) + ": " + std::to_string(count) + "\n";
  }
  for (const auto& [error, count] : errors_) {
    text += "no answer, " + std::string(to_string(error)) + ": " + std::to_string(count) + "\n";
  }
  for (const auto& [word, count] : finished_) text += "finished " + word + ": " + std::to_string(count) + "\n";
  if (with_completeness_ > 0) {
    const auto answers = static_cast<double>(with_completeness_);
    std::snprintf(line, sizeof(line),
                  "completeness: mean %.6f, least %.6f, %.4f %% of the answers complete (%.4f %% of all queries)\n",
                  completeness_sum_ / answers, completeness_min_, 100 * static_cast<double>(complete_) / answers,
                  100 * static_cast<double>(complete_) / static_cast<double>(recorded()));
    add();
  }
  if (disagreements_ > 0) text += "header and body disagree on completeness: " + std::to_string(disagreements_) + " answers\n";
  if (const auto behind = could_not_keep_up(frame)) text += "\n" + *behind + "\n";
  return text;
}

}  // namespace hedgerow::lab
