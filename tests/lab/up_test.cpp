// `hedgerow-lab up` and the commands that act on its cluster, with the real programs.
#include "lab/up.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_future.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "lab/child_process.hpp"
#include "lab/cluster_file.hpp"
#include "tests/cluster/asking.hpp"
#include "tests/cluster/program.hpp"
#include "tests/cluster/test_index.hpp"
#include "tests/cluster/waiting.hpp"

using namespace hedgerow;
using namespace hedgerow::lab;
using namespace hedgerow::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

using Arguments = std::vector<std::string>;

std::string content_of(const fs::path& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// One run of the command, as a shell would start it.
class Up {
 public:
  Up() {
    std::string name = (fs::temp_directory_path() / "hedgerow-up-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    directory = name;
    state = directory / "state";
  }
  ~Up() {
    process.reset();
    fs::remove_all(directory);
  }

  // Two leaves with two replicas on any port, unless the arguments say otherwise.
  void start(Arguments arguments = {}) {
    Arguments all{"up", "--index", animal_index().directory.string(), "--state", state.string(), "--workers", "1"};
    const auto give = [&](const std::string& name, const std::string& value) {
      if (std::find(arguments.begin(), arguments.end(), name) == arguments.end()) all.insert(all.end(), {name, value});
    };
    give("--leaves", "2");
    give("--port", "0");
    give("--start-time", format_duration(scaled(30s)));
    all.insert(all.end(), arguments.begin(), arguments.end());
    run(all);
  }
  void run(const Arguments& arguments) {
    auto child = ChildProcess::start(context.get_executor(), {built_program("hedgerow-lab"), arguments, directory / "said"});
    REQUIRE(child.has_value());
    process = *child;
  }
  void start_and_wait(Arguments arguments = {}) {
    start(std::move(arguments));
    const bool up = eventually(40s, [&] { return contains(said(), "/v1/cluster'") || !runs(process->pid()); });
    INFO(said());
    REQUIRE(up);
    REQUIRE(runs(process->pid()));
  }
  std::optional<ChildEnd> end(Duration limit = 20s) {
    auto future = asio::co_spawn(context, process->wait_for_end(scaled(limit)), asio::use_future);
    context.restart();
    context.run();
    return future.get();
  }

  std::string said() const { return content_of(directory / "said"); }
  ClusterFile cluster() const {
    const auto file = read_cluster_file(state);
    REQUIRE(file.has_value());
    return *file;
  }
  std::vector<int> pids() const {
    const auto file = cluster();
    std::vector<int> all{file.root.pid};
    for (const auto& leaf : file.leaves) all.push_back(leaf.pid);
    for (const int pid : all) REQUIRE(runs(pid));
    return all;
  }
  // A command of the laboratory on this cluster.
  ProgramRun command(Arguments arguments) const {
    arguments.insert(arguments.end(), {"--cluster", state.string()});
    return run_program(built_program("hedgerow-lab"), arguments);
  }
  json search() const {
    Client client(cluster().root.address);
    return client.get(search_target("common", {})).json();
  }

  asio::io_context context{1};
  fs::path directory, state;
  std::shared_ptr<ChildProcess> process;
};

void none_runs(const std::vector<int>& pids) {
  for (const int pid : pids) CHECK(eventually(20s, [&] { return !runs(pid); }));
}

}  // namespace

TEST_CASE("up starts a cluster that answers in full, prints where, and Ctrl-C leaves no process behind") {
  Up up;
  up.start_and_wait();
  const auto file = up.cluster();
  CHECK(file.leaves.size() == 2);
  CHECK(file.partitions == 8);
  const auto said = up.said();
  CHECK(contains(said, "http://" + file.root.address));
  CHECK(std::count(said.begin(), said.end(), '\n') == 4);
  // Each of the three lines is a command that works as it stands.
  std::istringstream lines(said);
  std::string line;
  std::getline(lines, line);
  Client client(file.root.address);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(std::getline(lines, line));
    const std::string begin = "curl 'http://" + file.root.address;
    REQUIRE(line.starts_with(begin));
    CHECK(client.get(line.substr(begin.size(), line.size() - begin.size() - 1)).status == 200);
  }
  CHECK(up.search()["completeness"]["fraction"] == 1);

  const auto pids = up.pids();
  up.process->send(SIGINT);
  const auto end = up.end();
  REQUIRE(end);
  CHECK(end->status == 0);
  for (const int pid : pids) CHECK(!runs(pid));  // at once: the command had waited for them
  CHECK(!fs::exists(up.state / "cluster.json"));
}

TEST_CASE("when up itself is killed, its processes end, the stopped one too") {
  Up up;
  up.start_and_wait();
  const auto pids = up.pids();
  CHECK(up.command({"stop", "leaf-1"}).status == 0);
  up.process->send(SIGKILL);
  REQUIRE(up.end());
  none_runs(pids);
}

TEST_CASE("SIGTERM ends a cluster with a stopped leaf, within the time that processes have to drain") {
  Up up;
  up.start_and_wait();
  const auto pids = up.pids();
  CHECK(up.command({"stop", "leaf-0"}).status == 0);
  const Instant begin = clock_now();
  up.process->send(SIGTERM);
  const auto end = up.end();
  REQUIRE(end);
  CHECK(end->status == 0);
  CHECK(clock_now() - begin < scaled(8s));
  for (const int pid : pids) CHECK(!runs(pid));
}

TEST_CASE("--query prints the answer's JSON and nothing else, and leaves neither process nor directory behind") {
  Up up;
  // The default state directory goes where the session's files go.
  REQUIRE(::setenv("XDG_RUNTIME_DIR", up.directory.c_str(), 1) == 0);
  const auto asked = run_program(built_program("hedgerow-lab"),
                                 {"up", "--index", animal_index().directory.string(), "--leaves", "2", "--port", "0",
                                  "--query", "solo7", "--query", "+common -otter"});
  CHECK(asked.status == 0);
  std::istringstream bodies(asked.output);
  json first, second;
  bodies >> first >> second;
  CHECK(first["total"]["value"] == 1);
  CHECK(second["completeness"]["fraction"] == 1);
  CHECK(second["total"]["value"] == 200);  // the odd half of the 400
  CHECK(fs::is_empty(up.directory));
}

TEST_CASE("an answer that is not 200 is printed too, and makes the exit status 1") {
  Up up;
  const auto asked = run_program(built_program("hedgerow-lab"),
                                 {"up", "--index", animal_index().directory.string(), "--leaves", "2", "--port", "0",
                                  "--state", up.state.string(), "--query", ""});
  CHECK(asked.status == 1);
  CHECK(json::parse(asked.output, nullptr, false).value("status", 0) == 400);
}

TEST_CASE("a restarted process has its old address and a new pid, and the cluster is complete again") {
  Up up;
  up.start_and_wait();
  const auto before = up.cluster();
  for (const char* name : {"leaf-1", "root"}) {
    const auto restarted = up.command({"restart", name});
    CAPTURE(name);
    REQUIRE(restarted.status == 0);
    const auto process = json::parse(restarted.output);
    CHECK(process["state"] == "running");
    CHECK(process["starts"] == 2);
  }
  const auto after = up.cluster();
  CHECK(after.leaves[1].address == before.leaves[1].address);
  CHECK(after.root.address == before.root.address);
  CHECK(after.leaves[1].pid != before.leaves[1].pid);
  CHECK(after.root.pid != before.root.pid);
  CHECK(after.leaves[0].pid == before.leaves[0].pid);
  CHECK(eventually(10s, [&] { return up.search().value("/completeness/fraction"_json_pointer, 0.0) == 1; }));
  const auto pids = up.pids();
  up.process->send(SIGINT);
  REQUIRE(up.end());
  none_runs(pids);
}

TEST_CASE("a leaf that ends by itself is reported and not started again until it is asked for") {
  Up up;
  up.start_and_wait();
  const auto before = up.cluster();
  REQUIRE(::kill(before.leaves[1].pid, SIGKILL) == 0);
  CHECK(eventually(10s, [&] { return contains(up.said(), "leaf-1 (pid " + std::to_string(before.leaves[1].pid) + ") ended by itself"); }));
  CHECK(contains(up.said(), "killed by signal 9"));
  // With two replicas nothing is missing.
  CHECK(eventually(10s, [&] { return up.search().value("/completeness/fraction"_json_pointer, 0.0) == 1; }));
  const auto listed = json::parse(up.command({"ps"}).output);
  CHECK(listed["processes"][1]["name"] == "leaf-1");
  CHECK(listed["processes"][1]["state"] == "ended");
  CHECK(listed["processes"][1]["starts"] == 1);
  CHECK(listed["processes"][1]["end"]["signal"] == SIGKILL);
  CHECK(listed["processes"][0]["state"] == "running");

  CHECK(up.command({"start", "leaf-1"}).status == 0);
  CHECK(up.cluster().leaves[1].address == before.leaves[1].address);
  CHECK(runs(up.cluster().leaves[1].pid));
}

TEST_CASE("when the root ends by itself, up tells it and ends with an error and no process left") {
  Up up;
  up.start_and_wait();
  const auto pids = up.pids();
  REQUIRE(::kill(up.cluster().root.pid, SIGKILL) == 0);
  const auto end = up.end();
  REQUIRE(end);
  CHECK(end->status == 1);
  CHECK(contains(up.said(), "root (pid " + std::to_string(pids[0]) + ") ended by itself"));
  for (const int pid : pids) CHECK(!runs(pid));
}

TEST_CASE("a root that was killed on request is not the end of the cluster") {
  Up up;
  up.start_and_wait();
  const auto address = up.cluster().root.address;
  CHECK(up.command({"kill", "root"}).status == 0);
  CHECK(up.command({"start", "root"}).status == 0);
  CHECK(up.cluster().root.address == address);
  CHECK(eventually(10s, [&] { return up.search().value("/completeness/fraction"_json_pointer, 0.0) == 1; }));
  CHECK(runs(up.process->pid()));
}

TEST_CASE("stop, continue and terminate do what they say, and what cannot be done says why") {
  Up up;
  up.start_and_wait();
  Client control(up.cluster().control);
  const auto post = [&](const std::string& name, const std::string& action) {
    return control.request("POST", "/v1/processes/" + name + "/" + action);
  };
  const auto state_of = [&](const std::string& name) { return control.get("/v1/processes/" + name).json()["state"]; };
  CHECK(state_of("leaf-0") == "running");
  CHECK(post("leaf-0", "stop").status == 200);
  CHECK(eventually(10s, [&] { return state_of("leaf-0") == "stopped"; }));
  CHECK(post("leaf-0", "continue").status == 200);
  CHECK(eventually(10s, [&] { return state_of("leaf-0") == "running"; }));
  CHECK(post("leaf-0", "start").status == 409);

  const auto terminated = post("leaf-0", "terminate");
  CHECK(terminated.status == 200);
  CHECK(terminated.json()["state"] == "ended");
  CHECK(terminated.json()["end"]["status"] == 0);
  for (const char* action : {"stop", "continue", "kill", "terminate"}) {
    const auto refused = post("leaf-0", action);
    CHECK(refused.status == 409);
    CHECK(refused.json()["type"] == "urn:hedgerow:problem:process-state");
  }
  CHECK(!contains(up.said(), "by itself"));
  CHECK(post("leaf-9", "stop").json()["type"] == "urn:hedgerow:problem:unknown-process");
  CHECK(post("leaf-1", "explode").json()["type"] == "urn:hedgerow:problem:unknown-action");
  CHECK(control.get("/v1/processes/leaf-1/stop").status == 405);
  CHECK(control.request("POST", "/v1/processes/leaf-1/kill", "", {{"Host", "example.org"}}).status == 403);
  CHECK(control.request("POST", "/v1/processes/leaf-1/kill", "", {{"Origin", "http://example.org"}}).status == 403);
  CHECK(state_of("leaf-1") == "running");
  CHECK(up.command({"kill", "leaf-9"}).status == 1);
}

TEST_CASE("faults of all leaves are listed, set from JSON and from a file with measured delays, and cleared") {
  Up up;
  up.start_and_wait({"--allow-faults"});
  const auto listed = [&](Arguments more = {}) {
    Arguments arguments{"faults"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto ran = up.command(arguments);
    REQUIRE(ran.status == 0);
    return json::parse(ran.output);
  };
  CHECK(listed()["leaf-0"]["allowed"] == true);
  CHECK(listed()["leaf-0"]["faults"].empty());

  const auto set = listed({"--set", R"([{"kind": "pause", "leaf": 1, "after": "1h"}])"});
  CHECK(set["leaf-0"]["faults"].empty());
  CHECK(set["leaf-1"]["faults"][0]["kind"] == "pause");

  // In place of those there were.
  const auto measured = up.directory / "measured.txt", faults = up.directory / "faults.json";
  std::ofstream(measured) << "3ms\n5ms 2\n";
  std::ofstream(faults) << json::array({json{{"kind", "late"}, {"delay", "empirical:" + measured.string()}}}).dump();
  const auto from_file = listed({"--set", faults.string()});
  for (const char* leaf : {"leaf-0", "leaf-1"}) {
    REQUIRE(from_file[leaf]["faults"].size() == 1);
    CHECK(from_file[leaf]["faults"][0]["delay"] == json::parse(R"({"empirical": ["3ms", ["5ms", 2.0]]})"));
  }
  CHECK(listed() == from_file);

  for (const char* wrong : {"[", "{}", R"([{"kind": "late"}])", R"([{"kind": "error", "leaf": 2}])", "/nowhere/at/all"}) {
    CAPTURE(wrong);
    CHECK(up.command({"faults", "--set", wrong}).status == 2);
  }
  CHECK(listed() == from_file);
  CHECK(listed({"--clear"})["leaf-1"]["faults"].empty());
  CHECK(up.command({"faults", "--clear", "--set", "[]"}).status == 2);
}

TEST_CASE("leaves have the faults that up is given from the start, and take others, and wrong ones start nothing") {
  Up up;
  up.start_and_wait({"--faults", R"([{"kind": "pause", "after": "1h", "leaf": 1}, {"kind": "late", "delay": "1ms"}])"});
  const auto listed = json::parse(up.command({"faults"}).output);
  CHECK(listed["leaf-0"]["faults"].size() == 1);
  CHECK(listed["leaf-0"]["faults"][0]["kind"] == "late");
  CHECK(listed["leaf-1"]["faults"].size() == 2);
  CHECK(up.command({"faults", "--clear"}).status == 0);

  Up wrong;
  for (const char* faults : {"[", "{}", R"([{"kind": "late"}])", R"([{"kind": "error", "leaf": 2}])", "/nowhere/at/all"}) {
    CAPTURE(faults);
    wrong.start({"--faults", faults});
    const auto end = wrong.end();
    REQUIRE(end);
    CHECK(end->status == 2);
    CHECK(contains(wrong.said(), "--faults: "));
    CHECK(!fs::exists(wrong.state));
  }
}

TEST_CASE("a terminated process that is stopped ends when it goes on") {
  Up up;
  up.start_and_wait();
  const int pid = up.cluster().leaves[0].pid;
  CHECK(up.command({"stop", "leaf-0"}).status == 0);
  REQUIRE(eventually(10s, [&] { return json::parse(up.command({"ps"}).output)["processes"][0]["state"] == "stopped"; }));
  CHECK(json::parse(up.command({"terminate", "leaf-0"}).output)["state"] == "ending");
  CHECK(runs(pid));
  CHECK(up.command({"continue", "leaf-0"}).status == 0);
  CHECK(eventually(10s, [&] { return json::parse(up.command({"ps"}).output)["processes"][0]["state"] == "ended"; }));
  CHECK(!contains(up.said(), "by itself"));
}

TEST_CASE("what cannot work is refused before anything starts, with the reason") {
  Up up;
  asio::io_context context(1);
  asio::ip::tcp::acceptor taken(context, {asio::ip::address_v4::loopback(), 0});
  const auto port = std::to_string(taken.local_endpoint().port());
  const std::string index = animal_index().directory.string();
  const std::pair<Arguments, std::string> cases[] = {
      {{"up", "--index", index, "--leaves", "2", "--replicas", "3", "--port", "0"}, "3 replicas"},
      {{"up", "--index", index, "--leaves", "0", "--port", "0"}, "at least one leaf"},
      {{"up", "--index", index, "--leaves", "17", "--port", "0"}, "17 leaves are too many"},
      {{"up", "--index", index, "--leaves", "2", "--spellers", "3", "--port", "0"}, "3 spellers"},
      {{"up", "--index", index, "--leaves", "2", "--port", port}, "port " + port + " is in use"},
      {{"up", "--index", index, "--leaves", "2", "--port", "0", "--control-port", port}, "port " + port + " is in use"},
      {{"up", "--index", up.directory.string(), "--leaves", "2", "--port", "0"}, "no index"},
      {{"up", "--index", index, "--leaves", "2", "--port", "0", "--bin-dir", up.directory.string()}, "--bin-dir"}};
  for (auto [arguments, reason] : cases) {
    fs::remove(up.directory / "said");
    arguments.insert(arguments.end(), {"--state", up.state.string()});
    up.run(arguments);
    const auto end = up.end();
    CAPTURE(up.said());
    REQUIRE(end);
    CHECK(end->status == 2);
    CHECK(contains(up.said(), reason));
    CHECK(!fs::exists(up.state / "leaf-0.log"));
  }
}

TEST_CASE("a process that does not come up is named, with the end of its log, and the others are ended") {
  Up up;
  up.start({"--leaf-arg=--no-such-setting"});
  const auto end = up.end();
  REQUIRE(end);
  CHECK(end->status == 1);
  CHECK(contains(up.said(), "leaf-0 ended before it listened: exit status"));
  CHECK(contains(up.said(), "no-such-setting"));
}

TEST_CASE("a start that takes too long says who is missing") {
  Up up;
  // A program that starts and never listens.
  const auto bin = up.directory / "bin";
  fs::create_directory(bin);
  for (const char* name : {"hedgerow-leaf", "hedgerow-root"}) {
    std::ofstream(bin / name) << "#!/bin/sh\necho waiting for nothing\nexec sleep 1000\n";
    fs::permissions(bin / name, fs::perms::owner_all);
  }
  up.start({"--bin-dir", bin.string(), "--start-time", "300ms"});
  const auto end = up.end();
  REQUIRE(end);
  CHECK(end->status == 1);
  CHECK(contains(up.said(), "leaf-0 does not listen after 300ms"));
  CHECK(contains(up.said(), "| waiting for nothing"));
}

TEST_CASE("Ctrl-C while the cluster starts ends it, without a process left") {
  Up up;
  const auto bin = up.directory / "bin";
  fs::create_directory(bin);
  const auto pid_file = up.directory / "pid";
  for (const char* name : {"hedgerow-leaf", "hedgerow-root"}) {
    std::ofstream(bin / name) << "#!/bin/sh\necho $$ > " << pid_file.string() << "\nexec sleep 1000\n";
    fs::permissions(bin / name, fs::perms::owner_all);
  }
  up.start({"--bin-dir", bin.string(), "--leaves", "1", "--replicas", "1"});
  REQUIRE(eventually(10s, [&] { return content_of(pid_file).ends_with('\n'); }));
  up.process->send(SIGINT);
  const auto end = up.end();
  REQUIRE(end);
  CHECK(end->status == 128 + SIGINT);
  CHECK(!runs(std::stoi(content_of(pid_file))));
}

TEST_CASE("a state directory belongs to one cluster at a time") {
  Up up;
  up.start_and_wait();
  const auto pids = up.pids();
  const auto second = run_program(built_program("hedgerow-lab"),
                                  {"up", "--index", animal_index().directory.string(), "--leaves", "2", "--port", "0",
                                   "--state", up.state.string(), "--query", "common"});
  CHECK(second.status == 2);
  for (const int pid : pids) CHECK(runs(pid));
  CHECK(up.search()["completeness"]["fraction"] == 1);
}

TEST_CASE("the commands say so when there is no cluster") {
  Up up;
  CHECK(up.command({"ps"}).status == 1);
  CHECK(up.command({"stop", "leaf-0"}).status == 1);
  CHECK(up.command({"faults"}).status == 1);
}
