#include "lab/cluster.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fstream>
#include <thread>

#include "base/steady_clock.hpp"
#include "wire/as_result.hpp"
#include "wire/http_client.hpp"

namespace hedgerow::lab {

namespace asio = boost::asio;

namespace {

using wire::as_result;
// How often a file or a page is looked at while a process starts.
constexpr auto look_again = std::chrono::milliseconds(10);
constexpr auto a_long_time = std::chrono::hours(24);

asio::awaitable<ChildEnd> until_end(std::shared_ptr<ChildProcess> child) {
  // g++ 12 makes a trap of a loop that is nothing but co_await in its condition; so the condition is a variable.
  std::optional<ChildEnd> end;
  while (!end) end = co_await child->wait_for_end(a_long_time);
  co_return *end;
}

std::string joined(const std::vector<PartitionId>& partitions) {
  std::string text;
  for (const auto partition : partitions) text += (text.empty() ? "" : ",") + std::to_string(partition.value);
  return text;
}

std::string port_of(const std::string& address) { return address.substr(address.rfind(':') + 1); }

struct Process {
  std::string name;
  bool is_root = false;
  std::vector<PartitionId> partitions;
  bool spelling = false;
  std::string address;  // empty until it has listened once
  std::filesystem::path log, address_file;
  std::shared_ptr<ChildProcess> child;
  std::size_t starts = 0;
  ProcessState phase = ProcessState::ended;  // starting, running or ending as we wish it; ended when it is gone
  bool acting = false;                       // an action is under way
};

// Marks a process as busy for as long as an action takes.
class Acting {
 public:
  explicit Acting(Process& process) : process_(process) { process_.acting = true; }
  Acting(const Acting&) = delete;
  Acting& operator=(const Acting&) = delete;
  ~Acting() { process_.acting = false; }

 private:
  Process& process_;
};

}  // namespace

std::string_view to_string(ProcessState state) {
  switch (state) {
    case ProcessState::starting: return "starting";
    case ProcessState::running: return "running";
    case ProcessState::stopped: return "stopped";
    case ProcessState::ending: return "ending";
    case ProcessState::ended: return "ended";
  }
  return "ended";
}

std::optional<ProcessAction> parse_action(std::string_view word) {
  if (word == "stop") return ProcessAction::stop;
  if (word == "continue") return ProcessAction::go_on;
  if (word == "kill") return ProcessAction::kill;
  if (word == "terminate") return ProcessAction::terminate;
  if (word == "restart") return ProcessAction::restart;
  if (word == "start") return ProcessAction::start;
  return std::nullopt;
}

struct Cluster::Implementation : std::enable_shared_from_this<Cluster::Implementation> {
  Implementation(asio::any_io_executor e, ClusterSettings s, EndObserver o)
      : executor(std::move(e)), settings(std::move(s)), observer(std::move(o)) {
    for (std::size_t leaf = 0; leaf < settings.placement.size(); ++leaf) {
      auto& process = add(leaf_name(leaf));
      process.partitions = settings.placement[leaf];
      process.spelling = leaf < settings.spellers;
    }
    auto& root = add("root");
    root.is_root = true;
    root.address = "127.0.0.1:" + std::to_string(settings.port);
  }

  Process& add(std::string name) {
    auto& process = *processes.emplace_back(std::make_unique<Process>());
    process.log = settings.state / (name + ".log");
    process.address_file = settings.state / (name + ".address");
    process.name = std::move(name);
    return process;
  }

  Process* find(std::string_view name) {
    const auto found =
        std::find_if(processes.begin(), processes.end(), [&](const auto& process) { return process->name == name; });
    return found == processes.end() ? nullptr : found->get();
  }
  Process& root() { return *processes.back(); }

  ChildCommand command_for(const Process& process) const {
    ChildCommand command;
    command.program = settings.bin_dir / (process.is_root ? "hedgerow-root" : "hedgerow-leaf");
    command.log = process.log;
    auto& arguments = command.arguments;
    arguments = {"--index", settings.index.string(), "--address", "127.0.0.1",
                 "--port", process.address.empty() ? "0" : port_of(process.address),
                 "--address-file", process.address_file.string(), "--log-level", settings.log_level};
    if (process.is_root) {
      arguments.insert(arguments.end(), {"--topology", (settings.state / "topology.json").string()});
      arguments.insert(arguments.end(), settings.root_arguments.begin(), settings.root_arguments.end());
      return command;
    }
    arguments.insert(arguments.end(), {"--name", process.name, "--partitions", joined(process.partitions)});
    // All leaves share this machine's cores.
    const auto leaves = std::max<std::size_t>(1, settings.placement.size());
    const auto share = std::max<std::size_t>(1, std::thread::hardware_concurrency() / leaves);
    arguments.insert(arguments.end(), {"--workers", std::to_string(settings.workers ? *settings.workers : share)});
    if (process.spelling) arguments.push_back("--spelling");
    if (settings.allow_faults) arguments.push_back("--allow-faults");
    arguments.insert(arguments.end(), settings.leaf_arguments.begin(), settings.leaf_arguments.end());
    return command;
  }

  // Starts the process, without waiting until it listens.
  result<void> launch(Process& process) {
    if (stopping) return Error{Errc::refused, "the cluster is stopping"};
    std::error_code ignored;
    std::filesystem::remove(process.address_file, ignored);
    auto child = ChildProcess::start(executor, command_for(process));
    if (child.has_error()) return Error{child.error().code, process.name + ": " + child.error().context};
    process.child = *child;
    process.phase = ProcessState::starting;
    ++process.starts;
    asio::co_spawn(executor, watch(shared_from_this(), process, *child), asio::detached);
    return {};
  }

  // Waits for the end of one child, and tells it when nobody asked for it. Holds the cluster's state until then; the
  // owner ends every child and then waits for all_ended.
  static asio::awaitable<void> watch(std::shared_ptr<Implementation> self, Process& process,
                                     std::shared_ptr<ChildProcess> child) {
    const ChildEnd end = co_await until_end(child);
    if (process.child != child) co_return;
    const bool wished = process.phase == ProcessState::ending;
    const bool starting = process.phase == ProcessState::starting;
    process.phase = ProcessState::ended;
    // One that ends while it starts is told by whoever waits for it.
    if (!wished && !starting && self->observer) self->observer(process.name, child->pid(), end);
  }

  Error not_up(const Process& process, const std::string& what) const {
    std::string context = process.name + " " + what;
    const auto log = last_lines(process.log, 10);
    context += log.empty() ? "; its log is empty (" + process.log.string() + ")"
                           : "; the end of its log, " + process.log.string() + ":\n" + log;
    while (context.ends_with('\n')) context.pop_back();
    return {Errc::unavailable, context};
  }

  // Waits until the process has written where it listens.
  asio::awaitable<result<void>> listening(Process& process, Instant deadline) {
    const auto child = process.child;
    while (true) {
      std::string address;
      std::ifstream(process.address_file) >> address;
      if (!address.empty()) {
        process.address = address;
        if (process.phase == ProcessState::starting) process.phase = ProcessState::running;
        co_return result<void>{};
      }
      if (const auto end = child->end()) co_return not_up(process, "ended before it listened: " + to_string(*end));
      if (clock_now() >= deadline) {
        co_return not_up(process, "does not listen after " + format_duration(settings.start_time));
      }
      co_await child->wait_for_end(look_again);
    }
  }

  asio::awaitable<result<void>> ready(Process& process, Instant deadline) {
    auto endpoint = co_await wire::resolve_address(process.address);
    if (endpoint.has_error()) co_return endpoint.error();
    wire::HttpClient client(executor, *endpoint);
    std::string last = "no answer";
    while (clock_now() < deadline) {
      if (const auto end = process.child->end()) {
        co_return not_up(process, "ended before it was ready: " + to_string(*end));
      }
      const auto answer = co_await client.request("GET", "/readyz", "", std::chrono::seconds(1));
      if (answer.has_value() && answer->status == 200) co_return result<void>{};
      last = answer.has_error() ? to_string(answer.error())
                                : "status " + std::to_string(answer->status) + " " + answer->body.substr(0, 400);
      while (last.ends_with('\n')) last.pop_back();
      for (const auto& leaf : processes) {
        if (leaf->child && leaf->child->end()) {
          co_return not_up(*leaf, "ended before the cluster was ready: " + to_string(*leaf->child->end()));
        }
      }
      co_await process.child->wait_for_end(look_again);
    }
    co_return not_up(process, "is not ready after " + format_duration(settings.start_time) + " (/readyz: " + last + ")");
  }

  asio::awaitable<result<void>> start(std::string control) {
    control_address = std::move(control);
    const Instant deadline = clock_now() + settings.start_time;
    for (const auto& process : processes) {
      if (process->is_root) continue;
      if (auto launched = launch(*process); launched.has_error()) co_return launched;
    }
    for (const auto& process : processes) {
      if (process->is_root) continue;
      if (auto up = co_await listening(*process, deadline); up.has_error()) co_return up;
    }
    if (auto written = write_file_atomically(settings.state / "topology.json", topology_json(describe()));
        written.has_error()) {
      co_return written;
    }
    if (auto launched = launch(root()); launched.has_error()) co_return launched;
    if (auto up = co_await listening(root(), deadline); up.has_error()) co_return up;
    if (auto up = co_await ready(root(), deadline); up.has_error()) co_return up;
    co_return write_cluster_file(settings.state / "cluster.json", describe());
  }

  ClusterFile describe() const {
    const auto member = [](const Process& process) {
      return ClusterMember{process.name, process.address, process.child ? process.child->pid() : 0, process.partitions,
                           process.log.string(), process.spelling};
    };
    ClusterFile file;
    file.index = settings.index.string();
    file.control = control_address;
    file.pid = ::getpid();
    file.partitions = settings.partitions;
    file.replicas = settings.replicas;
    for (const auto& process : processes) {
      if (process->is_root) {
        file.root = member(*process);
      } else {
        file.leaves.push_back(member(*process));
      }
    }
    return file;
  }

  ProcessStatus status_of(const Process& process) const {
    ProcessStatus status;
    status.name = process.name;
    status.address = process.address;
    status.partitions = process.partitions;
    status.starts = process.starts;
    status.log = process.log.string();
    status.state = process.phase;
    if (!process.child) return status;
    status.end = process.child->end();
    if (status.end) {
      status.state = ProcessState::ended;
      return status;
    }
    status.pid = process.child->pid();
    status.resident_bytes = process.child->resident_bytes();
    if (process.phase == ProcessState::running && process.child->stopped()) status.state = ProcessState::stopped;
    return status;
  }

  static bool runs(const Process& process) { return process.child && !process.child->end(); }

  // Asks to end, and kills when the time is over. A stopped process is let go on, or it could not end by itself.
  asio::awaitable<void> end(Process& process, Instant deadline) {
    if (!runs(process)) co_return;
    const auto child = process.child;
    process.phase = ProcessState::ending;
    child->send(SIGTERM);
    child->send(SIGCONT);
    while (!hurried && clock_now() < deadline && !child->end()) {
      co_await child->wait_for_end(std::min<Duration>(deadline - clock_now(), std::chrono::milliseconds(100)));
    }
    if (!child->end()) child->send(SIGKILL);
    co_await until_end(child);
    process.phase = ProcessState::ended;
  }

  asio::awaitable<void> stop_all() {
    stopping = true;
    const Instant begin = clock_now();
    // The root first, while the leaves can still answer what it has in progress.
    if (processes.empty()) co_return;
    co_await end(root(), begin + settings.stop_time / 2);
    std::size_t left = processes.size();
    asio::steady_timer all_ended(executor, asio::steady_timer::time_point::max());
    for (const auto& process : processes) {
      asio::co_spawn(executor, end(*process, begin + settings.stop_time), [&](std::exception_ptr) {
        if (--left == 0) all_ended.cancel();
      });
    }
    if (left > 0) co_await all_ended.async_wait(as_result);
  }

  asio::awaitable<result<ProcessStatus>> act(std::string name, ProcessAction action) {
    const auto self = shared_from_this();  // a request may outlive the cluster
    Process* process = find(name);
    if (!process) co_return Error{Errc::not_found, "there is no process '" + name + "'"};
    if (stopping) co_return Error{Errc::refused, "the cluster is stopping"};
    if (process->acting || process->phase == ProcessState::starting) {
      co_return Error{Errc::refused, name + " is busy with another action"};
    }
    const bool running = runs(*process);
    if (action == ProcessAction::start && running) co_return Error{Errc::refused, name + " runs already"};
    if (action != ProcessAction::start && action != ProcessAction::restart && !running) {
      co_return Error{Errc::refused, name + " does not run"};
    }
    const Acting acting(*process);
    switch (action) {
      case ProcessAction::stop:
        process->child->send(SIGSTOP);
        break;
      case ProcessAction::go_on:
        process->child->send(SIGCONT);
        break;
      case ProcessAction::kill:
        process->phase = ProcessState::ending;
        process->child->send(SIGKILL);
        co_await until_end(process->child);
        process->phase = ProcessState::ended;
        break;
      case ProcessAction::terminate:
        // As it is: a stopped process keeps the signal until it goes on.
        process->phase = ProcessState::ending;
        process->child->send(SIGTERM);
        if (process->child->stopped()) break;
        if (!co_await process->child->wait_for_end(settings.stop_time)) {
          co_return Error{Errc::unavailable, name + " was asked to end, and has not after " +
                                                 format_duration(settings.stop_time)};
        }
        process->phase = ProcessState::ended;
        break;
      case ProcessAction::restart:
        co_await end(*process, clock_now() + settings.stop_time);
        [[fallthrough]];
      case ProcessAction::start:
        if (auto up = co_await start_again(*process); up.has_error()) co_return up.error();
        break;
    }
    co_return status_of(*process);
  }

  asio::awaitable<result<void>> start_again(Process& process) {
    if (auto launched = launch(process); launched.has_error()) co_return launched;
    if (auto up = co_await listening(process, clock_now() + settings.start_time); up.has_error()) {
      process.phase = runs(process) ? ProcessState::running : ProcessState::ended;
      co_return up;
    }
    co_return write_cluster_file(settings.state / "cluster.json", describe());
  }

  asio::any_io_executor executor;
  ClusterSettings settings;
  EndObserver observer;
  std::string control_address;
  std::vector<std::unique_ptr<Process>> processes;  // the root last
  bool stopping = false;
  bool hurried = false;
};

Cluster::Cluster(asio::any_io_executor executor, ClusterSettings settings, EndObserver observer)
    : implementation_(
          std::make_shared<Implementation>(std::move(executor), std::move(settings), std::move(observer))) {}

Cluster::~Cluster() {
  implementation_->observer = {};
  for (const auto& process : implementation_->processes) {
    if (Implementation::runs(*process)) process->child->send(SIGKILL);
  }
}

asio::awaitable<result<void>> Cluster::start(std::string control_address) {
  return implementation_->start(std::move(control_address));
}
asio::awaitable<void> Cluster::stop_all() { return implementation_->stop_all(); }
void Cluster::hurry() { implementation_->hurried = true; }

std::vector<ProcessStatus> Cluster::processes() const {
  std::vector<ProcessStatus> all;
  for (const auto& process : implementation_->processes) all.push_back(implementation_->status_of(*process));
  return all;
}

std::optional<ProcessStatus> Cluster::process(std::string_view name) const {
  const Process* process = implementation_->find(name);
  if (!process) return std::nullopt;
  return implementation_->status_of(*process);
}

asio::awaitable<result<ProcessStatus>> Cluster::act(std::string name, ProcessAction action) {
  return implementation_->act(std::move(name), action);
}

std::string Cluster::root_address() const { return implementation_->root().address; }
std::filesystem::path Cluster::cluster_file() const { return implementation_->settings.state / "cluster.json"; }

}  // namespace hedgerow::lab
