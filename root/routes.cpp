#include "root/routes.hpp"

#include <boost/algorithm/string/predicate.hpp>
#include <cmath>
#include <ctime>

#include "base/log.hpp"
#include "base/random.hpp"
#include "base/steady_clock.hpp"
#include "root/api_json.hpp"
#include "root/hedging_api.hpp"
#include "root/trace_context.hpp"
#include "wire/http_client.hpp"
#include "wire/problem.hpp"

namespace hedgerow::root {

namespace asio = boost::asio;
using Json = nlohmann::ordered_json;
using wire::HttpRequest;
using wire::HttpResponse;
using wire::PathParts;

namespace {

constexpr Duration leaf_answer_time = std::chrono::seconds(2);

HttpResponse json_response(const Json& body, int status = 200) {
  HttpResponse response;
  response.status = status;
  response.body = body.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

HttpResponse bad_parameter(const ParameterProblem& bad) {
  nlohmann::json more = nlohmann::json::object();
  if (!bad.parameter.empty()) more["parameter"] = bad.parameter;
  return wire::problem(400, bad.type, bad.detail, more);
}

asio::awaitable<HttpResponse> search(const RoutesSetting& setting, HttpRequest& request,
                                     boost::system::result<SearchParameters, ParameterProblem> parameters) {
  HttpResponse response;
  if (parameters.has_error()) {
    setting.metrics.queries_rejected.Increment();
    response = bad_parameter(parameters.error());
  } else {
    const auto outcome = co_await setting.queries.search(*parameters, request.received, request.client);
    response = outcome.has_error() ? to_response(outcome.error()) : to_response(*outcome);
  }
  std::optional<TraceContext> trace;
  if (const auto header = request.header("traceparent")) trace = parse_traceparent(*header);
  if (trace) {
    const auto span = stable_hash(trace->trace_id + trace->parent_id + request.target);
    response.headers.emplace_back("traceparent", traceparent(*trace, span));
  }
  // Refusals are many when they are needed; they are counted in the metrics.
  const bool refused = response.status == 503;
  if ((response.status >= 500 && !refused) || trace) {
    log_event(response.status >= 500 ? LogLevel::warning : LogLevel::info, "query",
              {{"status", response.status},
               {"took_ms", to_milliseconds(clock_now() - request.received)},
               {"trace_id", trace ? trace->trace_id : ""}});
  }
  co_return response;
}

asio::awaitable<HttpResponse> search_by_body(const RoutesSetting& setting, HttpRequest& request) {
  const auto type = request.header("Content-Type");
  if (type && !boost::algorithm::istarts_with(*type, "application/json")) {
    co_return wire::problem(415, "not-json", "The body's type is '" + std::string(*type) + "'; send application/json.");
  }
  if (!request.parameters.empty()) {
    co_return wire::problem(400, "bad-parameter", "A POST takes its parameters from the body, not from the address.");
  }
  co_return co_await search(setting, request, parse_parameters_json(request.body, setting.defaults));
}

// The id is the rest of the path, decoded: it may hold slashes.
asio::awaitable<HttpResponse> document(const RoutesSetting& setting, HttpRequest& request, const PathParts& parts) {
  const std::string& id = parts.at("id");
  Duration deadline = setting.defaults.deadline;
  for (const auto& [name, value] : request.parameters) {
    if (name != "deadline") co_return bad_parameter(unknown_parameter(name));
    const auto parsed = parse_deadline(value);
    if (parsed.has_error()) co_return bad_parameter(parsed.error());
    deadline = *parsed;
  }
  if (id.size() > SearchParameters::longest_id) {
    co_return wire::problem(400, "bad-parameter", "The document's id is longer than 1024 bytes.", {{"parameter", "id"}});
  }
  const auto outcome = co_await setting.queries.document(id, deadline, request.received, request.client);
  co_return outcome.has_error() ? to_response(outcome.error()) : to_response(*outcome);
}

// What recent queries taught about each; p95_ms is null where nothing is known, or too much was given up to know.
Json describe_subsystems(Cluster& cluster) {
  const Instant now = clock_now();
  Json out = Json::object();
  for (std::size_t i = 0; i < policy::subsystem_kinds; ++i) {
    auto& model = cluster.policies().subsystems[i];
    const auto expected = model.expected(now);
    Json entry{{"samples", model.samples(now)}, {"p95_ms", nullptr}};
    if (expected && *expected != policy::LatencyModel::longer_than_known) entry["p95_ms"] = to_milliseconds(*expected);
    out[std::string(to_string(static_cast<policy::SubsystemKind>(i)))] = std::move(entry);
  }
  return out;
}

Json describe_admission(const policy::Admission& admission) {
  const Instant now = clock_now();
  const auto of_class = [&](ServiceClass service_class, std::size_t limit) {
    return Json{{"in_flight", admission.in_flight(service_class)}, {"limit", limit}, {"waiting", admission.waiting(service_class)}};
  };
  const auto& settings = admission.settings();
  return {{"level", to_string(admission.level(now))},
          {"pressure", std::round(admission.pressure(now) * 1000) / 1000},
          {"overload", to_string(admission.sign())},
          {"fanout", std::round(admission.shedding(ServiceClass::interactive, now).fanout * 1000) / 1000},
          {"interactive", of_class(ServiceClass::interactive, admission.limit())},
          {"batch", of_class(ServiceClass::batch, settings.most_batch)},
          {"most_waiting", settings.most_waiting}};
}

HttpResponse describe_cluster(const RoutesSetting& setting) {
  Cluster& cluster = setting.cluster;
  const auto& admission = setting.queries.admission();
  const Manifest& manifest = cluster.manifest();
  Json leaves = Json::array();
  for (const auto& client : cluster.leaves()) {
    const auto status = client->status();
    Json partitions = Json::array();
    for (const auto partition : client->leaf().partitions) partitions.push_back(partition.value);
    Json entry{{"name", client->leaf().name},
               {"address", client->leaf().address},
               {"state", to_string(status.state)},
               {"partitions", std::move(partitions)},
               {"spelling", client->leaf().spelling},
               {"latency_ms", nullptr},
               {"slow", cluster.policies().search.replica_choice.is_slow(client->id())},
               {"in_flight", cluster.policies().search.replica_choice.in_flight(client->id())},
               {"open_calls", status.open_calls},
               {"unanswered_bytes", status.unanswered_bytes},
               {"late_answers", status.late_answers},
               {"links", status.links},
               {"load", {{"queued", status.load.queued}, {"running", status.load.running}}}};
    if (const auto latency = cluster.policies().search.replica_choice.latency(client->id())) {
      entry["latency_ms"] = std::round(to_milliseconds(*latency) * 1000) / 1000;
    }
    if (!status.last_error.empty()) entry["last_error"] = status.last_error;
    leaves.push_back(std::move(entry));
  }
  Json partitions = Json::array();
  const auto replicas = cluster.replicas();
  for (std::size_t i = 0; i < replicas->size(); ++i) {
    Json names = Json::array();
    for (const auto leaf : (*replicas)[i]) {
      if (const auto* client = cluster.client(leaf)) names.push_back(client->leaf().name);
    }
    partitions.push_back({{"partition", i}, {"documents", manifest.partitions[i].documents}, {"replicas", std::move(names)}});
  }
  return json_response({{"collection", manifest.collection},
                        {"generation", manifest.generation.value},
                        {"documents", manifest.documents},
                        {"ready", cluster.ready()},
                        {"queries_in_flight", admission.in_flight(ServiceClass::interactive) + admission.in_flight(ServiceClass::batch)},
                        {"admission", describe_admission(admission)},
                        {"replica_choice", to_string(cluster.policies().search.replica_choice.settings().mode)},
                        {"hedging", describe_hedging(cluster, setting.defaults)},
                        {"subsystems", describe_subsystems(cluster)},
                        {"leaves", std::move(leaves)},
                        {"partitions", std::move(partitions)}});
}

// "2026-11-30T05:26:14Z"
std::string wall_clock(std::chrono::system_clock::time_point instant) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(instant);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

// A route that takes no parameters refuses any: a misspelt address must not do more than was meant.
wire::Route without_parameters(wire::Route route) {
  route.handle = [handle = std::move(route.handle)](HttpRequest& request, const PathParts& parts) -> asio::awaitable<HttpResponse> {
    if (!request.parameters.empty()) {
      HttpResponse refused = bad_parameter(unknown_parameter(request.parameters.front().first));
      co_return refused;
    }
    co_return co_await handle(request, parts);
  };
  return route;
}

HttpResponse describe_quarantine(CanaryService& canaries) {
  Json queries = Json::array();
  for (const auto& entry : canaries.entries()) {
    queries.push_back({{"id", std::to_string(entry.id)},
                       {"query", entry.query},
                       {"reason", to_string(entry.reason)},
                       {"leaves", entry.leaves},
                       {"since", wall_clock(entry.since)},
                       {"until", wall_clock(entry.until)},
                       {"remaining_ms", std::round(to_milliseconds(entry.remaining))},
                       {"refused", entry.refused}});
  }
  return json_response({{"queries", std::move(queries)}});
}

HttpResponse clear_quarantine(CanaryService& canaries, const std::string& id) {
  const bool number = !id.empty() && id.size() <= 18 && id.find_first_not_of("0123456789") == std::string::npos;
  if (!number || !canaries.clear(std::stoull(id))) {
    return wire::problem(404, "unknown-entry", "The quarantine has no entry '" + id.substr(0, 60) + "'.");
  }
  return json_response({{"cleared", 1}});
}

HttpResponse change_hedging(const RoutesSetting& setting, const HttpRequest& request) {
  const auto change = parse_hedging_change(request.body);
  if (change.has_error()) return bad_parameter(change.error());
  apply(*change, setting.cluster, setting.defaults, clock_now());
  return json_response(describe_hedging(setting.cluster, setting.defaults));
}

// Hands a request about a leaf's faults to the leaf, and its answer back.
asio::awaitable<HttpResponse> faults_of_leaf(const RoutesSetting& setting, HttpRequest& request, const PathParts& parts) {
  const std::string& name = parts.at("leaf");
  const auto client = setting.cluster.client_named(name);
  if (!client) co_return wire::problem(404, "unknown-leaf", "The topology has no leaf '" + name + "'.");
  const auto endpoint = co_await wire::resolve_address(client->leaf().address);
  if (endpoint.has_error()) co_return wire::problem(502, "leaf-unreachable", to_string(endpoint.error()));
  wire::HttpClient http(setting.executor, *endpoint);
  auto answer = co_await http.request(request.method, "/v1/faults", std::move(request.body), leaf_answer_time);
  if (answer.has_error()) {
    co_return wire::problem(answer.error().code == Errc::expired ? 504 : 502, "leaf-unreachable",
                            "Leaf '" + name + "': " + to_string(answer.error()) + ".");
  }
  HttpResponse response;
  response.status = answer->status;
  response.content_type = answer->content_type;
  response.body = std::move(answer->body);
  co_return response;
}

}  // namespace

std::vector<wire::Route> routes(RoutesSetting setting) {
  const auto faults = [setting](HttpRequest& request, const PathParts& parts) -> asio::awaitable<HttpResponse> {
    return faults_of_leaf(setting, request, parts);
  };
  return {
      {"GET", "/v1/search",
       [setting](HttpRequest& request, const PathParts&) -> asio::awaitable<HttpResponse> {
         return search(setting, request, parse_parameters(request.parameters, setting.defaults));
       }},
      {"POST", "/v1/search",
       [setting](HttpRequest& request, const PathParts&) -> asio::awaitable<HttpResponse> {
         return search_by_body(setting, request);
       }},
      {"GET", "/v1/documents/{id...}",
       [setting](HttpRequest& request, const PathParts& parts) -> asio::awaitable<HttpResponse> {
         return document(setting, request, parts);
       }},
      {"GET", "/v1/cluster",
       [setting](HttpRequest&, const PathParts&) -> asio::awaitable<HttpResponse> { co_return describe_cluster(setting); }},
      without_parameters({"GET", "/v1/hedging",
       [setting](HttpRequest&, const PathParts&) -> asio::awaitable<HttpResponse> {
         co_return json_response(describe_hedging(setting.cluster, setting.defaults));
       }}),
      without_parameters({"PUT", "/v1/hedging",
       [setting](HttpRequest& request, const PathParts&) -> asio::awaitable<HttpResponse> { co_return change_hedging(setting, request); }}),
      {"GET", "/v1/leaves/{leaf}/faults", faults},
      {"PUT", "/v1/leaves/{leaf}/faults", faults},
      {"DELETE", "/v1/leaves/{leaf}/faults", faults},
      without_parameters({"GET", "/v1/quarantine",
       [setting](HttpRequest&, const PathParts&) -> asio::awaitable<HttpResponse> { co_return describe_quarantine(setting.canaries); }}),
      without_parameters({"DELETE", "/v1/quarantine",
       [setting](HttpRequest&, const PathParts&) -> asio::awaitable<HttpResponse> {
         co_return json_response({{"cleared", setting.canaries.clear()}});
       }}),
      without_parameters({"DELETE", "/v1/quarantine/{id}",
       [setting](HttpRequest&, const PathParts& parts) -> asio::awaitable<HttpResponse> {
         co_return clear_quarantine(setting.canaries, parts.at("id"));
       }}),
      {"GET", "/livez",
       [](HttpRequest&, const PathParts&) -> asio::awaitable<HttpResponse> { co_return json_response({{"status", "ok"}}); }},
      {"GET", "/readyz",
       [setting](HttpRequest&, const PathParts&) -> asio::awaitable<HttpResponse> {
         if (setting.draining) co_return wire::problem(503, "draining", "This root is stopping.");
         if (!setting.cluster.ready()) co_return wire::problem(503, "not-ready", "Not every partition has a leaf that serves it.");
         co_return json_response({{"status", "ok"}});
       }},
      {"GET", "/metrics",
       [setting](HttpRequest&, const PathParts&) -> asio::awaitable<HttpResponse> {
         setting.canaries.refresh_metrics();
         setting.cluster.refresh_metrics();
         HttpResponse response;
         response.content_type = "text/plain; version=0.0.4; charset=utf-8";
         response.body = metrics_text(setting.metrics.registry);
         co_return response;
       }},
  };
}

}  // namespace hedgerow::root
