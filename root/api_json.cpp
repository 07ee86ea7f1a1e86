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
    Json entry{{"kind", attempt.work == "search" ? to_string(attempt.kind) : attempt.work}, {"leaf", attempt.leaf}};
    if (attempt.partition) entry["partition"] = attempt.partition->value;
    entry["sent_ms"] = milliseconds(attempt.sent);
    if (attempt.queued) entry["queued_ms"] = milliseconds(*attempt.queued);
    if (attempt.started) entry["started_ms"] = milliseconds(*attempt.started);
    if (attempt.ended) entry["ended_ms"] = milliseconds(*attempt.ended);
    if (attempt.queue_time) entry["queue_ms"] = milliseconds(*attempt.queue_time);
    if (attempt.service_time) entry["service_ms"] = milliseconds(*attempt.service_time);
    entry["outcome"] = attempt.outcome.empty() ? "open" : attempt.outcome;
    if (!attempt.fault.empty()) entry["fault"] = attempt.fault;
    list.push_back(std::move(entry));
  }
  return list;
}

Json attempts_json(const SearchAnswer::Attempts& attempts) {
  return {{"primary", attempts.primary}, {"retry", attempts.retry},   {"hedge", attempts.hedge},
          {"hedge_won", attempts.hedge_won}, {"tied", attempts.tied}, {"canary", attempts.canary},
          {"probe", attempts.probe},     {"cancelled", attempts.cancelled}};
}

Json subsystems_json(const AnswerSubsystems& subsystems) {
  Json out = Json::object();
  for (std::size_t i = 0; i < subsystems.size(); ++i) {
    out[std::string(to_string(static_cast<policy::SubsystemKind>(i)))] = {{"status", to_string(subsystems[i].status)},
                                                                          {"ms", milliseconds(subsystems[i].time)}};
  }
  return out;
}

Json facets_json(const std::vector<AnswerFacet>& facets) {
  Json out = Json::object();
  for (const auto& facet : facets) {
    Json counts = Json::array();
    for (const auto& [value, count] : facet.counts) counts.push_back({{"value", value}, {"count", count}});
    out[facet.name] = {{"counts", std::move(counts)}, {"values", facet.values}, {"partial", facet.partial}, {"cut", facet.cut}};
  }
  return out;
}

// Where the time went. Subsystems run beside the rest: their times do not add up with it.
std::string server_timing(const SearchAnswer& answer) {
  const auto entry = [](std::string_view name, Duration duration) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*s;dur=%.3f", static_cast<int>(name.size()), name.data(), to_milliseconds(duration));
    return std::string(text);
  };
  std::string timing = entry("plan", answer.plan_time) + ", " + entry("search", answer.search_time) + ", " +
                       entry("fetch", answer.second_phase_time);
  for (std::size_t i = 0; i < answer.subsystems.size(); ++i) {
    const auto& [status, time] = answer.subsystems[i];
    if (status == policy::SubsystemStatus::off) continue;
    timing += ", " + entry(to_string(static_cast<policy::SubsystemKind>(i)), time) + ";desc=" + std::string(to_string(status));
  }
  return timing + ", " + entry("total", answer.took);
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
          {"estimated_recall", std::round(completeness.estimated_recall * 10'000) / 10'000},
          {"missing", std::move(missing)}};
}

wire::HttpResponse to_response(const SearchAnswer& answer) {
  Json hits = Json::array();
  for (std::size_t i = 0; i < answer.hits.size(); ++i) {
    const auto& hit = answer.hits[i];
    hits.push_back({{"rank", answer.offset + i + 1}, {"id", hit.id}, {"score", hit.score}, {"title", hit.title}, {"url", hit.url}});
    if (hit.snippet) hits.back()["snippet"] = *hit.snippet;
  }
  Json body{{"hits", std::move(hits)},
            {"total", {{"value", answer.total}, {"relation", answer.total_exact ? "exact" : "estimate"}}},
            {"took_ms", milliseconds(answer.took)},
            {"deadline_ms", milliseconds(answer.deadline)},
            {"finished", to_string(answer.finished)},
            {"completeness", to_json(answer.completeness)},
            {"attempts", attempts_json(answer.attempts)},
            {"subsystems", subsystems_json(answer.subsystems)}};
  if (answer.shed.any()) {
    body["shed"] = Json::array();
    if (answer.shed.subsystems) body["shed"].push_back("subsystems");
    if (answer.shed.fanout) body["shed"].push_back("fanout");
  }
  if (answer.facets) body["facets"] = facets_json(*answer.facets);
  if (answer.suggestion) body["spelling"] = {{"suggestion", *answer.suggestion}};
  body["query"] = {{"notes", answer.notes}};
  body["cache"] = to_string(answer.cache);
  if (answer.trace) body["trace"] = trace_json(*answer.trace);

  wire::HttpResponse response;
  response.body = body.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  response.headers.emplace_back("Hedgerow-Completeness", share_text(answer.completeness));
  // Neither partial answers nor complete ones: a client's cache knows nothing of generations.
  response.headers.emplace_back("Cache-Control", "no-store");
  response.headers.emplace_back("Server-Timing", server_timing(answer));
  return response;
}

wire::HttpResponse to_response(const DocumentAnswer& answer) {
  Json facets = Json::parse(answer.facets_json, nullptr, false);
  if (!facets.is_object()) facets = Json::object();
  const Json body{{"id", answer.id},       {"title", answer.title},   {"url", answer.url},
                  {"text", answer.text},   {"facets", std::move(facets)}, {"partition", answer.partition.value},
                  {"took_ms", milliseconds(answer.took)}};
  wire::HttpResponse response;
  response.body = body.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  response.headers.emplace_back("Cache-Control", "no-store");
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
