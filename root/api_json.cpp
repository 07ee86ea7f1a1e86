#include "root/api_json.hpp"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "root/json_text.hpp"
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

// Each writes the members of an object, or the elements of an array.

void write(JsonText& out, const Completeness& completeness) {
  out.member("fraction", completeness.fraction());
  out.member("of_asked", completeness.of_asked());
  out.object("partitions", [&] {
    out.member("total", completeness.partitions_total);
    out.member("asked", completeness.partitions_asked);
    out.member("answered", completeness.partitions_answered);
  });
  out.object("documents", [&] {
    out.member("total", completeness.documents_total);
    out.member("searched", completeness.documents_searched);
  });
  out.member("estimated_recall", std::round(completeness.estimated_recall * 10'000) / 10'000);
  out.array("missing", [&] {
    for (const auto& entry : completeness.missing) {
      out.object([&] {
        out.member("partition", entry.partition.value);
        out.member("reason", to_string(entry.reason));
      });
    }
  });
}

void write_hits(JsonText& out, const SearchAnswer& answer) {
  for (std::size_t i = 0; i < answer.hits.size(); ++i) {
    const auto& hit = answer.hits[i];
    out.object([&] {
      out.member("rank", answer.offset + i + 1);
      out.member("id", hit.id);
      out.member("score", hit.score);
      out.member("title", hit.title);
      out.member("url", hit.url);
      if (hit.snippet) out.member("snippet", *hit.snippet);
    });
  }
}

void write(JsonText& out, const SearchAnswer::Attempts& attempts) {
  out.member("primary", attempts.primary);
  out.member("retry", attempts.retry);
  out.member("hedge", attempts.hedge);
  out.member("hedge_won", attempts.hedge_won);
  out.member("tied", attempts.tied);
  out.member("canary", attempts.canary);
  out.member("probe", attempts.probe);
  out.member("cancelled", attempts.cancelled);
}

void write(JsonText& out, const AnswerSubsystems& subsystems) {
  for (std::size_t i = 0; i < subsystems.size(); ++i) {
    out.object(to_string(static_cast<policy::SubsystemKind>(i)), [&] {
      out.member("status", to_string(subsystems[i].status));
      out.member("ms", milliseconds(subsystems[i].time));
    });
  }
}

void write(JsonText& out, const std::vector<AnswerFacet>& facets) {
  for (const auto& facet : facets) {
    out.object(facet.name, [&] {
      out.array("counts", [&] {
        for (const auto& [value, count] : facet.counts) {
          out.object([&] {
            out.member("value", value);
            out.member("count", count);
          });
        }
      });
      out.member("values", facet.values);
      out.member("partial", facet.partial);
      out.member("cut", facet.cut);
    });
  }
}

void write(JsonText& out, const AttemptTrace& attempt) {
  const auto time = [&](const char* name, const std::optional<Duration>& instant) {
    if (instant) out.member(name, milliseconds(*instant));
  };
  out.member("kind", attempt.work == "search" ? std::string_view(to_string(attempt.kind)) : std::string_view(attempt.work));
  out.member("leaf", attempt.leaf);
  if (attempt.partition) out.member("partition", attempt.partition->value);
  time("sent_ms", attempt.sent);
  time("queued_ms", attempt.queued);
  time("started_ms", attempt.started);
  time("ended_ms", attempt.ended);
  time("queue_ms", attempt.queue_time);
  time("service_ms", attempt.service_time);
  out.member("outcome", attempt.outcome.empty() ? std::string_view("open") : std::string_view(attempt.outcome));
  if (!attempt.fault.empty()) out.member("fault", attempt.fault);
}

void write(JsonText& out, const SearchAnswer& answer) {
  out.array("hits", [&] { write_hits(out, answer); });
  out.object("total", [&] {
    out.member("value", answer.total);
    out.member("relation", answer.total_exact ? "exact" : "estimate");
  });
  out.member("took_ms", milliseconds(answer.took));
  out.member("deadline_ms", milliseconds(answer.deadline));
  out.member("finished", to_string(answer.finished));
  out.object("completeness", [&] { write(out, answer.completeness); });
  out.object("attempts", [&] { write(out, answer.attempts); });
  out.object("subsystems", [&] { write(out, answer.subsystems); });
  if (answer.shed.any()) {
    out.array("shed", [&] {
      if (answer.shed.subsystems) out.value("subsystems");
      if (answer.shed.fanout) out.value("fanout");
    });
  }
  if (answer.facets) out.object("facets", [&] { write(out, *answer.facets); });
  if (answer.suggestion) out.object("spelling", [&] { out.member("suggestion", *answer.suggestion); });
  out.object("query", [&] {
    out.array("notes", [&] {
      for (const auto& note : answer.notes) out.value(note);
    });
  });
  out.member("cache", to_string(answer.cache));
  if (answer.trace) {
    out.array("trace", [&] {
      for (const auto& attempt : *answer.trace) out.object([&] { write(out, attempt); });
    });
  }
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

wire::HttpResponse to_response(const SearchAnswer& answer) {
  JsonText body;
  body.object([&] { write(body, answer); });

  wire::HttpResponse response;
  response.body.reserve(body.text().size() + 1);
  response.body.append(body.text()).push_back('\n');
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
  if (refusal.completeness) {
    JsonText completeness;
    completeness.object([&] { write(completeness, *refusal.completeness); });
    more["completeness"] = nlohmann::json::parse(completeness.text());
  }
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
