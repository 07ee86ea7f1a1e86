#include "root/api_json.hpp"

#include <cmath>
#include <cstdio>

#include "wire/problem.hpp"

namespace hedgerow::root {

namespace {

using Json = nlohmann::ordered_json;

// Milliseconds to the microsecond.
double milliseconds(Duration duration) { return std::round(to_milliseconds(duration) * 1000) / 1000; }

// The share of all documents, rounded down, so that less than everything never reads as 1. In whole numbers: 0.29 *
// 10'000 is below 2900 as double.
std::string share_text(const Completeness& completeness) {
  const std::uint64_t whole = completeness.documents_total;
  const std::uint64_t parts = whole == 0 ? 10'000 : completeness.documents_searched * 10'000 / whole;
  char text[24];
  std::snprintf(text, sizeof text, "%llu.%04llu", static_cast<unsigned long long>(parts / 10'000),
                static_cast<unsigned long long>(parts % 10'000));
  return text;
}

Json trace_json(const std::vector<AttemptTrace>& trace) {
  Json list = Json::array();
  for (const auto& attempt : trace) {
    Json entry{{"kind", attempt.partition ? to_string(attempt.kind) : "fetch"}, {"leaf", attempt.leaf}};
    if (attempt.partition) entry["partition"] = attempt.partition->value;
    entry["sent_ms"] = milliseconds(attempt.sent);
    if (attempt.ended) entry["ended_ms"] = milliseconds(*attempt.ended);
    if (attempt.queue_time) entry["queue_ms"] = milliseconds(*attempt.queue_time);
    if (attempt.service_time) entry["service_ms"] = milliseconds(*attempt.service_time);
    entry["outcome"] = attempt.outcome.empty() ? "open" : attempt.outcome;
    if (!attempt.fault.empty()) entry["fault"] = attempt.fault;
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

nlohmann::ordered_json to_json(const Completeness& completeness) {
  Json missing = Json::array();
  for (const auto& entry : completeness.missing) {
    missing.push_back({{"partition", entry.partition.value}, {"reason", to_string(entry.reason)}});
  }
  return {{"fraction", completeness.fraction()},
          {"of_asked", completeness.of_asked()},
          {"partitions",
           {{"total", completeness.partitions_total},
            {"asked", completeness.partitions_asked},
            {"answered", completeness.partitions_answered}}},
          {"documents", {{"total", completeness.documents_total}, {"searched", completeness.documents_searched}}},
          {"missing", std::move(missing)}};
}

wire::HttpResponse to_response(const SearchAnswer& answer) {
  Json hits = Json::array();
  for (std::size_t i = 0; i < answer.hits.size(); ++i) {
    const auto& hit = answer.hits[i];
    hits.push_back({{"rank", answer.offset + i + 1}, {"id", hit.id}, {"score", hit.score}, {"title", hit.title}, {"url", hit.url}});
  }
  Json body{{"hits", std::move(hits)},
            {"total", {{"value", answer.total}, {"relation", answer.total_exact ? "exact" : "estimate"}}},
            {"took_ms", milliseconds(answer.took)},
            {"deadline_ms", milliseconds(answer.deadline)},
            {"finished", to_string(answer.finished)},
            {"completeness", to_json(answer.completeness)},
            {"attempts",
             {{"primary", answer.attempts.primary},
              {"retry", answer.attempts.retry},
              {"cancelled", answer.attempts.cancelled}}}};
  if (answer.trace) body["trace"] = trace_json(*answer.trace);

  wire::HttpResponse response;
  response.body = body.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  response.headers.emplace_back("Hedgerow-Completeness", share_text(answer.completeness));
  // Partial answers are never cached; complete ones are not either, until there is a cache that knows generations.
  response.headers.emplace_back("Cache-Control", "no-store");
  char timing[160];
  std::snprintf(timing, sizeof timing, "plan;dur=%.3f, search;dur=%.3f, fetch;dur=%.3f, total;dur=%.3f",
                to_milliseconds(answer.plan_time), to_milliseconds(answer.search_time),
                to_milliseconds(answer.second_phase_time), to_milliseconds(answer.took));
  response.headers.emplace_back("Server-Timing", timing);
  return response;
}

wire::HttpResponse to_response(const SearchRefusal& refusal) {
  nlohmann::json more = nlohmann::json::object();
  if (!refusal.parameter.empty()) more["parameter"] = refusal.parameter;
  if (refusal.completeness) more["completeness"] = nlohmann::json(to_json(*refusal.completeness));
  auto response = wire::problem(refusal.status, refusal.type, refusal.detail, more);
  response.headers.emplace_back("Cache-Control", "no-store");
  if (refusal.completeness) {
    response.headers.emplace_back("Hedgerow-Completeness", share_text(*refusal.completeness));
  }
  if (refusal.retry_after_seconds) {
    response.headers.emplace_back("Retry-After", std::to_string(*refusal.retry_after_seconds));
  }
  return response;
}

}  // namespace hedgerow::root
