#include "lab/control_command.hpp"

#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/url/encode.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "lab/cluster_file.hpp"
#include "wire/http_client.hpp"

namespace hedgerow::lab {

namespace asio = boost::asio;
using nlohmann::ordered_json;

namespace {

void tell(const std::string& text) { std::fprintf(stderr, "hedgerow-lab: %s\n", text.c_str()); }

asio::awaitable<result<wire::HttpResponse>> request(std::string address, std::string method, std::string target) {
  const auto endpoint = co_await wire::resolve_address(address);
  if (endpoint.has_error()) co_return endpoint.error();
  wire::HttpClient client(co_await asio::this_coro::executor, *endpoint);
  // Longer than a restart may take.
  co_return co_await client.request(std::move(method), std::move(target), "", std::chrono::seconds(120));
}

// The answer's JSON, or nullopt when that was said already.
std::optional<ordered_json> ask(const ControlSettings& settings, const std::string& method, const std::string& target) {
  const auto cluster = read_cluster_file(settings.cluster);
  if (cluster.has_error()) {
    tell(to_string(cluster.error()));
    return std::nullopt;
  }
  asio::io_context context(1);
  auto future = asio::co_spawn(context, request(cluster->control, method, target), asio::use_future);
  context.run();
  const auto response = future.get();
  if (response.has_error()) {
    tell("no answer from the cluster's control API at " + cluster->control + ": " + to_string(response.error()));
    return std::nullopt;
  }
  auto body = ordered_json::parse(response->body, nullptr, false);
  if (response->status != 200) {
    tell(body.is_object() && body.contains("detail") && body["detail"].is_string() ? body["detail"].get<std::string>()
                                                                                 : response->body);
    return std::nullopt;
  }
  if (!body.is_object()) {
    tell("the control API's answer is no JSON object");
    return std::nullopt;
  }
  return body;
}

std::string partitions_of(const ordered_json& process) {
  std::string text;
  for (const auto& partition : process.value("partitions", ordered_json::array())) {
    text += (text.empty() ? "" : ",") + partition.dump();
  }
  return text;
}

void print_row(const ordered_json& process) {
  const ordered_json end = process.value("end", ordered_json::object());
  std::printf("%-10s %-9s %8s %-21s %8.1f %7d  %-16s %s\n", process.value("name", "").c_str(),
              process.value("state", "").c_str(), process["pid"].is_null() ? "-" : process["pid"].dump().c_str(),
              process.value("address", "").c_str(), process.value("resident_bytes", 0.0) / (1 << 20),
              process.value("starts", 0), partitions_of(process).c_str(), end.value("text", "").c_str());
}

void print_head() {
  std::printf("%-10s %-9s %8s %-21s %8s %7s  %-16s %s\n", "NAME", "STATE", "PID", "ADDRESS", "MEM/MiB", "STARTS",
              "PARTITIONS", "END");
}

bool as_table(const ControlSettings& settings) { return !settings.json && ::isatty(STDOUT_FILENO) == 1; }

}  // namespace

int run_ps(const ControlSettings& settings) {
  const auto answer = ask(settings, "GET", "/v1/processes");
  if (!answer) return 1;
  if (!as_table(settings)) {
    std::printf("%s\n", answer->dump(2).c_str());
    return 0;
  }
  print_head();
  for (const auto& process : answer->value("processes", ordered_json::array())) print_row(process);
  return 0;
}

int run_action(const ControlSettings& settings, const std::string& action) {
  const auto name = boost::urls::encode(settings.process, boost::urls::unreserved_chars);
  const auto answer = ask(settings, "POST", "/v1/processes/" + std::string(name) + "/" + action);
  if (!answer) return 1;
  if (as_table(settings)) {
    print_head();
    print_row(*answer);
  } else {
    std::printf("%s\n", answer->dump(2).c_str());
  }
  return 0;
}

}  // namespace hedgerow::lab
