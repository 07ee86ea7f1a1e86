#include "cluster_fixture.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <stdlib.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>

#include "lab/cluster_file.hpp"
#include "program.hpp"
#include "waiting.hpp"

namespace hedgerow::test {

namespace fs = std::filesystem;
using nlohmann::json;
using namespace std::chrono_literals;

namespace {

std::string content_of(const fs::path& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

std::string state_of(const json& leaf) { return leaf.is_null() ? "not there" : leaf.value("state", ""); }

}  // namespace

TestCluster::TestCluster(const ClusterOptions& options) : exceptions_before_(std::uncaught_exceptions()) {
  std::string name = (fs::temp_directory_path() / "hedgerow-cluster-XXXXXX").string();
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  state_ = name;

  std::vector<std::string> arguments{"up", "--index", options.index.string(), "--leaves", std::to_string(options.leaves),
                                     "--replicas", std::to_string(options.replicas), "--workers",
                                     std::to_string(options.workers), "--port", "0", "--control-port", "0", "--state",
                                     state_.string(), "--start-time", format_duration(scaled(30s))};
  arguments.insert(arguments.end(), {"--spellers", std::to_string(std::min(options.spellers, options.leaves)),
                                     "--root-arg=--cache-bytes=" + std::to_string(options.cache_bytes),
                                     "--root-arg=--default-canary=" + options.canary});
  if (options.allow_faults) arguments.push_back("--allow-faults");
  for (const auto& argument : options.root_arguments) arguments.push_back("--root-arg=" + argument);
  for (const auto& argument : options.leaf_arguments) arguments.push_back("--leaf-arg=" + argument);
  auto started = lab::ChildProcess::start(context_.get_executor(),
                                          {built_program("hedgerow-lab"), std::move(arguments), state_ / "up.log"});
  if (started.has_value()) laboratory_ = *started;
  // Written when the root is ready.
  const auto file = state_ / "cluster.json";
  const bool up = laboratory_ && eventually(40s, [&] { return fs::exists(file) || !runs(laboratory_->pid()); }) &&
                  fs::exists(file);
  if (!up) {
    const std::string said = log("up");
    end();
    FAIL("the cluster does not start: ", said);
  }
  file_ = json::parse(content_of(file));
  root_address_ = file_["root"]["address"];
  control_address_ = file_["control"];
  for (const auto& leaf : file_["leaves"]) leaf_names_.push_back(leaf["name"]);
}

TestCluster::~TestCluster() {
  if (std::uncaught_exceptions() > exceptions_before_) {
    std::cerr << "the test failed; the ends of the logs:\n";
    for (const char* name : {"up", "root", "leaf-0", "leaf-1"}) {
      std::cerr << name << ":\n" << lab::last_lines(state_ / (std::string(name) + ".log"), 12);
    }
  }
  end();
}

void TestCluster::end() {
  clients_.clear();
  if (laboratory_) {
    laboratory_->send(SIGTERM);
    auto ended = boost::asio::co_spawn(context_, laboratory_->wait_for_end(scaled(15s)), boost::asio::use_future);
    context_.restart();
    context_.run();
    if (!ended.get()) std::cerr << "the laboratory did not end in time; it is killed\n";
    laboratory_.reset();
  }
  // What a sanitizer has to say of the processes under test stands in their logs.
  std::error_code ignored;
  for (const auto& file : fs::directory_iterator(state_, ignored)) {
    if (file.path().extension() != ".log") continue;
    const auto text = content_of(file.path());
    if (const auto at = text.find("Sanitizer: "); at != std::string::npos) {
      FAIL_CHECK(file.path().filename().string(), ": ", text.substr(at > 100 ? at - 100 : 0, 6000));
    }
    if (const auto at = text.find("runtime error: "); at != std::string::npos) {
      FAIL_CHECK(file.path().filename().string(), ": ", text.substr(at > 200 ? at - 200 : 0, 2000));
    }
  }
  fs::remove_all(state_, ignored);
}

Client& TestCluster::client(const std::string& address) {
  auto& place = clients_[address];
  if (!place) place = std::make_unique<Client>(address);
  return *place;
}

std::string TestCluster::leaf_address(const std::string& name) const {
  for (const auto& leaf : file_["leaves"]) {
    if (leaf["name"] == name) return leaf["address"];
  }
  FAIL("there is no leaf ", name);
  return "";
}

std::vector<std::uint32_t> TestCluster::partitions_of(const std::string& name) const {
  for (const auto& leaf : file_["leaves"]) {
    if (leaf["name"] == name) return leaf["partitions"];
  }
  FAIL("there is no leaf ", name);
  return {};
}

Reply TestCluster::ask(const std::string& method, const std::string& target, const std::string& body,
                       const wire::HttpHeaders& headers) {
  return client(root_address_).request(method, target, body, headers);
}

Reply TestCluster::search(const std::string& query, const lab::SearchParameters& parameters) {
  return ask("GET", search_target(query, parameters));
}

json TestCluster::cluster() {
  const auto reply = ask("GET", "/v1/cluster");
  REQUIRE_MESSAGE(reply.status == 200, reply.error, reply.body);
  return reply.json();
}

json TestCluster::leaf(const std::string& name) {
  const auto all = cluster();
  for (const auto& leaf : all["leaves"]) {
    if (leaf["name"] == name) return leaf;
  }
  return {};
}

bool TestCluster::becomes_serving(const std::string& name, Duration limit) {
  return eventually(limit, [&] { return state_of(leaf(name)) == "serving"; });
}

bool TestCluster::stops_serving(const std::string& name, Duration limit) {
  return eventually(limit, [&] { return state_of(leaf(name)) != "serving"; });
}

json TestCluster::process(const std::string& name) {
  const auto reply = client(control_address_).get("/v1/processes/" + name);
  REQUIRE_MESSAGE(reply.status == 200, reply.error, reply.body);
  return reply.json();
}

json TestCluster::act(const std::string& name, const std::string& action) {
  // A client of its own: an action may be under way while another thread asks.
  const auto reply = Client(control_address_).request("POST", "/v1/processes/" + name + "/" + action);
  REQUIRE_MESSAGE(reply.status == 200, reply.error, reply.body);
  return reply.json();
}

Reply TestCluster::control(const std::string& method, const std::string& target, const std::string& body) {
  return client(control_address_).request(method, target, body);
}

std::future<Reply> TestCluster::act_in_background(const std::string& name, const std::string& action) {
  return std::async(std::launch::async, [address = control_address_, target = "/v1/processes/" + name + "/" + action] {
    return Client(address).request("POST", target);
  });
}

int TestCluster::pid(const std::string& name) {
  const auto number = process(name)["pid"];
  return number.is_number() ? number.get<int>() : 0;
}

double TestCluster::metric(const std::string& process_name, const std::string& series) {
  const auto reply = client(process_name == "root" ? root_address_ : leaf_address(process_name)).get("/metrics");
  REQUIRE_MESSAGE(reply.status == 200, reply.error, reply.body);
  std::istringstream lines(reply.body);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(series + " ")) return std::stod(line.substr(series.size() + 1));
  }
  return 0;
}

void TestCluster::set_faults(const std::string& leaf, const json& list) {
  const auto reply = ask("PUT", "/v1/leaves/" + leaf + "/faults", list.dump());
  REQUIRE_MESSAGE(reply.status == 200, reply.error, reply.body);
}

json TestCluster::faults(const std::string& leaf) {
  const auto reply = ask("GET", "/v1/leaves/" + leaf + "/faults");
  REQUIRE_MESSAGE(reply.status == 200, reply.error, reply.body);
  return reply.json()["faults"];
}

void TestCluster::clear_faults(const std::string& leaf) {
  const auto reply = ask("DELETE", "/v1/leaves/" + leaf + "/faults");
  REQUIRE_MESSAGE(reply.status == 200, reply.error, reply.body);
}

json TestCluster::topology() const { return json::parse(content_of(state_ / "topology.json")); }

void TestCluster::write_topology(const std::string& text) {
  REQUIRE(lab::write_file_atomically(state_ / "topology.json", text).has_value());
}

void TestCluster::reload() { REQUIRE(::kill(pid("root"), SIGHUP) == 0); }

std::string TestCluster::log(const std::string& process_name) const { return content_of(state_ / (process_name + ".log")); }

std::map<std::uint32_t, std::string> missing_of(const json& answer) {
  std::map<std::uint32_t, std::string> missing;
  for (const auto& entry : answer.at("completeness").at("missing")) missing[entry["partition"]] = entry["reason"];
  return missing;
}

std::map<std::uint32_t, std::string> all_for(const std::vector<std::uint32_t>& partitions, const std::string& reason) {
  std::map<std::uint32_t, std::string> missing;
  for (const auto partition : partitions) missing[partition] = reason;
  return missing;
}

std::string completeness_header(double fraction) {
  char text[16];
  std::snprintf(text, sizeof text, "%.4f", std::floor(fraction * 10'000) / 10'000);
  return text;
}

bool hits_are_whole(const json& answer) {
  std::size_t rank = 0;
  double score = std::numeric_limits<double>::infinity();
  for (const auto& hit : answer.at("hits")) {
    if (hit["rank"] != ++rank || hit["id"] == "" || hit["title"] == "") return false;
    // As floats: closer ones are a tie, in the order of the documents' numbers.
    if (static_cast<float>(hit["score"].get<double>()) > static_cast<float>(score)) return false;
    score = hit["score"];
  }
  return true;
}

}  // namespace hedgerow::test
