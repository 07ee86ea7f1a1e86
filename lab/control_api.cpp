#include "lab/control_api.hpp"

#include "lab/leaf_faults.hpp"
#include "wire/problem.hpp"

namespace hedgerow::lab {

namespace {

namespace asio = boost::asio;
using nlohmann::ordered_json;
using wire::HttpRequest;
using wire::HttpResponse;
using wire::PathParts;

HttpResponse answer(const ordered_json& body) {
  HttpResponse response;
  response.body = body.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

HttpResponse unknown_process(const std::string& name) {
  return wire::problem(404, "unknown-process", "There is no process '" + name + "'.");
}

HttpResponse problem_of(const Error& error) {
  switch (error.code) {
    case Errc::not_found: return wire::problem(404, "unknown-process", error.context);
    case Errc::refused: return wire::problem(409, "process-state", error.context);
    case Errc::unavailable: return wire::problem(503, "process-not-up", error.context);
    default: return wire::problem(500, "internal", to_string(error));
  }
}

HttpResponse answer_of(const result<LeafListings>& listings) {
  if (listings.has_value()) return answer({{"leaves", listings->leaves}});
  const Error& error = listings.error();
  switch (error.code) {
    case Errc::refused: return wire::problem(409, "faults-refused", error.context);
    case Errc::unavailable: return wire::problem(502, "leaf-unreachable", error.context);
    default: return wire::problem(400, "bad-fault", error.context);
  }
}

result<std::string> no_delay_files(const std::string&) {
  return Error{Errc::invalid_argument, "no file is read here; `hedgerow-lab faults` carries measured delays along"};
}

}  // namespace

ordered_json process_json(const ProcessStatus& process) {
  ordered_json out{{"name", process.name}, {"state", to_string(process.state)}};
  out["pid"] = process.pid == 0 ? ordered_json(nullptr) : ordered_json(process.pid);
  out["address"] = process.address;
  if (!process.partitions.empty()) {
    out["partitions"] = ordered_json::array();
    for (const auto partition : process.partitions) out["partitions"].push_back(partition.value);
  }
  out["starts"] = process.starts;
  out["resident_bytes"] = process.resident_bytes;
  if (process.end) {
    if (process.end->signal) {
      out["end"] = {{"signal", *process.end->signal}, {"text", to_string(*process.end)}};
    } else {
      out["end"] = {{"status", process.end->status.value_or(0)}, {"text", to_string(*process.end)}};
    }
  }
  out["log"] = process.log;
  return out;
}

wire::HttpRouter control_routes(Cluster& cluster) {
  const auto list = [&cluster](HttpRequest&, const PathParts&) -> asio::awaitable<HttpResponse> {
    ordered_json processes = ordered_json::array();
    for (const auto& process : cluster.processes()) processes.push_back(process_json(process));
    co_return answer({{"processes", std::move(processes)}});
  };
  const auto show = [&cluster](HttpRequest&, const PathParts& parts) -> asio::awaitable<HttpResponse> {
    const auto process = cluster.process(parts.at("name"));
    if (!process) co_return unknown_process(parts.at("name"));
    co_return answer(process_json(*process));
  };
  const auto act = [&cluster](HttpRequest&, const PathParts& parts) -> asio::awaitable<HttpResponse> {
    const auto action = parse_action(parts.at("action"));
    if (!action) {
      co_return wire::problem(404, "unknown-action",
                              "There is no action '" + parts.at("action") +
                                  "'; there are stop, continue, kill, terminate, restart and start.");
    }
    const auto process = co_await cluster.act(parts.at("name"), *action);
    if (process.has_error()) co_return problem_of(process.error());
    co_return answer(process_json(*process));
  };
  const auto list_faults = [&cluster](HttpRequest&, const PathParts&) -> asio::awaitable<HttpResponse> {
    co_return answer_of(co_await list_leaf_faults(leaves_of(cluster)));
  };
  const auto set_faults = [&cluster](HttpRequest& request, const PathParts&) -> asio::awaitable<HttpResponse> {
    auto faults = nlohmann::json::parse(request.body, nullptr, false);
    if (faults.is_discarded()) co_return wire::problem(400, "bad-json", "The body is not valid JSON.");
    co_return answer_of(co_await set_leaf_faults(leaves_of(cluster), std::move(faults), no_delay_files));
  };
  const auto clear_faults = [&cluster](HttpRequest&, const PathParts&) -> asio::awaitable<HttpResponse> {
    co_return answer_of(co_await clear_leaf_faults(leaves_of(cluster)));
  };
  return wire::HttpRouter({{"GET", "/v1/faults", list_faults},
                           {"PUT", "/v1/faults", set_faults},
                           {"DELETE", "/v1/faults", clear_faults},
                           {"GET", "/v1/processes", list},
                           {"GET", "/v1/processes/{name}", show},
                           {"POST", "/v1/processes/{name}/{action}", act}});
}

}  // namespace hedgerow::lab
