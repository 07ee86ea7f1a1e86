#include "tests/peers/tally.hpp"

#include <algorithm>

namespace hedgerow::peers {

namespace {

constexpr std::uint64_t longest_us = 120'000'000;

std::uint64_t in_microseconds(Duration duration) {
  return static_cast<std::uint64_t>(std::max<Duration::rep>(0, std::chrono::duration_cast<std::chrono::microseconds>(duration).count()));
}

}  // namespace

Tally::Tally() : latencies_(longest_us) {}

void Tally::record(const result<Answer>& answer, Duration latency) {
  if (answer.has_error()) {
    ++errors_;
    if (first_error_.empty()) first_error_ = to_string(answer.error());
    return;
  }
  ++answered_;
  hits_ += answer->hits;
  if (answer->complete) ++complete_;
  latencies_.record(in_microseconds(latency));
}

void Tally::record_unsent(Duration waited) {
  ++unsent_;
  latencies_.record(in_microseconds(waited));
}

void Tally::merge(const Tally& other) {
  answered_ += other.answered_;
  complete_ += other.complete_;
  errors_ += other.errors_;
  unsent_ += other.unsent_;
  late_starts_ += other.late_starts_;
  hits_ += other.hits_;
  latencies_.merge(other.latencies_);
  if (first_error_.empty()) first_error_ = other.first_error_;
}

nlohmann::ordered_json Tally::json() const {
  nlohmann::ordered_json json{{"queries", queries()},
                              {"answered", answered_},
                              {"complete", complete_},
                              {"errors", errors_},
                              {"unsent", unsent_},
                              {"late_starts", late_starts_},
                              {"hits", hits_}};
  if (latencies_.count() > 0) {
    constexpr std::pair<const char*, double> quantiles[] = {{"p50_ms", 0.5}, {"p90_ms", 0.9}, {"p99_ms", 0.99}, {"p99.9_ms", 0.999}, {"max_ms", 1}};
    for (const auto& [name, quantile] : quantiles) json[name] = static_cast<double>(latencies_.value_at_quantile(quantile)) / 1000;
  }
  if (!first_error_.empty()) json["first_error"] = first_error_;
  return json;
}

}  // namespace hedgerow::peers
