#include "lab/simulation/report.hpp"

#include <cstdarg>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace hedgerow::lab::simulation {

namespace {

constexpr std::uint64_t longest = 600'000'000'000;  // nanoseconds

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

__attribute__((format(printf, 2, 3))) void append(std::string& text, const char* format, ...) {
  char line[512];
  va_list values;
  va_start(values, format);
  std::vsnprintf(line, sizeof line, format, values);
  va_end(values);
  text += line;
}

}  // namespace

QueryFigures::QueryFigures(int precision_bits) : latency(longest, precision_bits) {}

double QueryFigures::extra_share() const {
  std::uint64_t all = 0;
  for (const auto count : attempts) all += count;
  return share(static_cast<double>(all > first_attempts ? all - first_attempts : 0), static_cast<double>(first_attempts));
}

double QueryFigures::completeness() const {
  return share(static_cast<double>(answered), static_cast<double>(partitions));
}

double QueryFigures::quantile_ms(double quantile) const {
  return static_cast<double>(latency.value_at_quantile(quantile)) / 1e6;
}

double QueryFigures::longer_than(Duration time) const {
  std::uint64_t longer = 0;
  for (const Histogram::Bucket& bucket : latency.buckets()) {
    if (bucket.highest > static_cast<std::uint64_t>(time.count())) longer += bucket.count;
  }
  return share(static_cast<double>(longer), static_cast<double>(latency.count()));
}

double LeafFigures::extra_work() const {
  return share(to_seconds(executed - merged), to_seconds(merged));
}

nlohmann::json Report::to_json() const {
  nlohmann::json out;
  out["seed"] = seed;
  out["queries"] = measured.queries;
  out["p50_ms"] = measured.quantile_ms(0.5);
  out["p90_ms"] = measured.quantile_ms(0.9);
  out["p95_ms"] = measured.quantile_ms(0.95);
  out["p99_ms"] = measured.quantile_ms(0.99);
  out["p999_ms"] = measured.quantile_ms(0.999);
  out["max_ms"] = to_milliseconds(Duration(measured.latency.max()));
  out["mean_ms"] = measured.latency.mean() / 1e6;
  out["completeness"] = measured.completeness();
  out["abandoned"] = measured.abandoned;
  out["refused"] = measured.refused;
  out["quarantined"] = measured.quarantined;
  out["without_verdict"] = measured.without_verdict;
  for (std::size_t i = 0; i < finish_reasons; ++i) {
    out["finished"][std::string(policy::to_string(static_cast<policy::FinishReason>(i)))] = measured.finished[i];
  }
  out["extra_share"] = measured.extra_share();
  for (std::size_t i = 0; i < attempt_kinds; ++i) {
    out["attempts"][std::string(to_string(static_cast<AttemptKind>(i)))] = measured.attempts[i];
  }
  out["attempts"]["hedge_won"] = measured.hedges_won;
  for (std::size_t i = 0; i < measured.spelling.size(); ++i) {
    out["spelling"][std::string(policy::to_string(static_cast<policy::SubsystemStatus>(i)))] = measured.spelling[i];
  }
  out["leaves"] = {{"arrived", leaves.arrived},
                   {"answered", leaves.answered},
                   {"refused", leaves.refused},
                   {"expired", leaves.expired},
                   {"failed", leaves.failed},
                   {"superseded", leaves.superseded},
                   {"swallowed", leaves.swallowed},
                   {"cancelled_queued", leaves.cancelled_queued},
                   {"cancelled_running", leaves.cancelled_running},
                   {"cancelled_too_late", leaves.cancelled_too_late},
                   {"both_began", leaves.both_began},
                   {"killed", leaves.killed},
                   {"executed_seconds", to_seconds(leaves.executed)},
                   {"background_seconds", to_seconds(leaves.background)},
                   {"extra_work_share", leaves.extra_work()}};
  out["late_answers"] = leaves.late_answers;
  out["second_answers"] = leaves.second_answers;
  out["simulated_seconds"] = to_seconds(simulated);
  out["events"] = events;
  out["violated"] = violated;
  out["violations"] = violations;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const QueryFigures& second = seconds[i];
    out["seconds"].push_back({{"second", i},
                              {"queries", second.queries},
                              {"complete", second.finished[0]},
                              {"refused", second.refused},
                              {"p50_ms", second.quantile_ms(0.5)},
                              {"p99_ms", second.quantile_ms(0.99)},
                              {"completeness", second.completeness()},
                              {"extra_share", second.extra_share()},
                              {"obstacle", i < obstacles.size() ? obstacles[i] : ""}});
  }
  return out;
}

std::string Report::to_text() const {
  std::string text;
  const auto count = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  append(text, "%llu queries in %.1f simulated seconds, seed %llu\n\n", count(measured.queries), to_seconds(simulated), count(seed));
  append(text, "latency       p50 %.3g ms   p90 %.3g ms   p95 %.3g ms   p99 %.3g ms   p99.9 %.3g ms   longest %.3g ms\n",
         measured.quantile_ms(0.5), measured.quantile_ms(0.9), measured.quantile_ms(0.95), measured.quantile_ms(0.99),
         measured.quantile_ms(0.999), to_milliseconds(Duration(measured.latency.max())));
  append(text, "finished      ");
  for (std::size_t i = 0; i < finish_reasons; ++i) {
    append(text, "%s %llu   ", std::string(policy::to_string(static_cast<policy::FinishReason>(i))).c_str(), count(measured.finished[i]));
  }
  append(text, "client gone %llu\n", count(measured.abandoned));
  append(text, "completeness  %.5f\n", measured.completeness());
  append(text, "attempts      ");
  for (std::size_t i = 0; i < attempt_kinds; ++i) {
    if (measured.attempts[i] == 0) continue;
    append(text, "%s %llu   ", std::string(to_string(static_cast<AttemptKind>(i))).c_str(), count(measured.attempts[i]));
  }
  append(text, "extra %.3f %%   hedges won %llu\n", 100 * measured.extra_share(), count(measured.hedges_won));
  append(text, "leaves        answered %llu   refused %llu   expired %llu   failed %llu   superseded %llu\n", count(leaves.answered),
         count(leaves.refused), count(leaves.expired), count(leaves.failed), count(leaves.superseded));
  append(text, "cancelled     queued %llu   running %llu   too late %llu;   both twins began %llu;   extra work %.2f %%\n",
         count(leaves.cancelled_queued), count(leaves.cancelled_running), count(leaves.cancelled_too_late), count(leaves.both_began),
         100 * leaves.extra_work());
  if (!seconds.empty()) append(text, "\nsecond   queries  complete    p50 ms    p99 ms  completeness   extra %%  hedging\n");
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const QueryFigures& second = seconds[i];
    append(text, "%6zu %9llu %9llu %9.2f %9.2f %13.4f %9.3f  %s\n", i, count(second.queries), count(second.finished[0]),
           second.quantile_ms(0.5), second.quantile_ms(0.99), second.completeness(), 100 * second.extra_share(),
           i < obstacles.size() ? obstacles[i].c_str() : "");
  }
  append(text, "invariants    %s\n", violated == 0 ? "all held" : (std::to_string(violated) + " times broken").c_str());
  for (const auto& violation : violations) append(text, "  %s\n", violation.c_str());
  return text;
}

}  // namespace hedgerow::lab::simulation
