#include "lab/up.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>

#include "index/manifest.hpp"
#include "lab/cluster.hpp"
#include "lab/cluster_faults.hpp"
#include "lab/control_api.hpp"
#include "lab/given_faults.hpp"
#include "lab/leaf_faults.hpp"
#include "lab/search_target.hpp"
#include "lab/temporary_directory.hpp"
#include "wire/as_result.hpp"
#include "wire/http_client.hpp"
#include "wire/http_server.hpp"

namespace hedgerow::lab {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using tcp = asio::ip::tcp;

namespace {

using wire::as_result;
constexpr std::size_t default_spellers = 2;

void say(const std::string& text) { std::fprintf(stderr, "hedgerow-lab: %s\n", text.c_str()); }

// The directory of the cluster's files, held by a lock for as long as the cluster runs. A default one, which we made,
// is removed in the end unless somebody should look at its logs.
class StateDirectory {
 public:
  static result<std::unique_ptr<StateDirectory>> open(const std::optional<fs::path>& wanted) {
    auto state = std::unique_ptr<StateDirectory>(new StateDirectory);
    if (wanted) {
      std::error_code error;
      fs::create_directories(*wanted, error);
      state->path_ = fs::absolute(*wanted, error).lexically_normal();
      if (error) return Error{Errc::io, wanted->string() + ": " + error.message()};
    } else {
      const char* runtime = std::getenv("XDG_RUNTIME_DIR");
      auto ours = TemporaryDirectory::make("up", runtime ? runtime : "");
      if (ours.has_error()) return ours.error();
      state->path_ = ours->path();
      state->ours_ = std::move(*ours);
    }
    const auto lock = state->path_ / "lock";
    state->lock_ = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (state->lock_ < 0) return Error{Errc::io, lock.string() + ": " + std::strerror(errno)};
    if (::flock(state->lock_, LOCK_EX | LOCK_NB) != 0) {
      return Error{Errc::refused, state->path_.string() + " is in use by another cluster"};
    }
    state->locked_ = true;
    std::error_code ignored;
    fs::remove(state->path_ / "cluster.json", ignored);
    return state;
  }

  ~StateDirectory() {
    std::error_code ignored;
    if (locked_) fs::remove(path_ / "cluster.json", ignored);  // else it is another's
    if (lock_ >= 0) ::close(lock_);
  }

  const fs::path& path() const { return path_; }
  void keep() {
    if (ours_) ours_->keep();
  }
  bool kept() const { return !ours_ || ours_->kept(); }

 private:
  StateDirectory() = default;
  fs::path path_;
  int lock_ = -1;
  bool locked_ = false;
  std::optional<TemporaryDirectory> ours_;
};

result<void> check_port(asio::io_context& context, std::uint16_t port) {
  if (port == 0) return {};
  tcp::acceptor acceptor(context);
  boost::system::error_code error;
  acceptor.open(tcp::v4(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind({asio::ip::address_v4::loopback(), port}, error);
  if (!error) acceptor.listen(1, error);
  if (!error) return {};
  const std::string why = error == asio::error::address_in_use ? "is in use by another program" : "is not to be had: " + error.message();
  return Error{Errc::invalid_argument, "port " + std::to_string(port) + " " + why + "; choose another with --port"};
}

// Everything that can be wrong with the arguments, before anything starts.
result<ClusterSettings> check(asio::io_context& context, const UpSettings& settings) {
  ClusterSettings cluster;
  std::error_code error;
  cluster.index = fs::absolute(settings.index, error).lexically_normal();
  const auto manifest = read_manifest(cluster.index);
  if (manifest.has_error()) return manifest.error();
  cluster.partitions = manifest->partitions.size();
  cluster.replicas = settings.replicas;
  auto placement = place_partitions(cluster.partitions, settings.replicas, settings.leaves);
  if (placement.has_error()) return placement.error();
  cluster.placement = std::move(*placement);
  cluster.spellers = settings.spellers.value_or(std::min(default_spellers, settings.leaves));
  if (cluster.spellers > settings.leaves) {
    return Error{Errc::invalid_argument, std::to_string(cluster.spellers) + " spellers need as many leaves, and " +
                                             std::to_string(settings.leaves) + " are asked for"};
  }

  cluster.bin_dir = settings.bin_dir ? fs::absolute(*settings.bin_dir, error)
                                     : fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* program : {"hedgerow-leaf", "hedgerow-root"}) {
    if (::access((cluster.bin_dir / program).c_str(), X_OK) != 0) {
      return Error{Errc::not_found, (cluster.bin_dir / program).string() + ": no such program; say where with --bin-dir"};
    }
  }
  for (const auto port : {settings.port, settings.control_port}) {
    if (auto is_free = check_port(context, port); is_free.has_error()) return is_free.error();
  }
  if (settings.port != 0 && settings.port == settings.control_port) {
    return Error{Errc::invalid_argument, "--port and --control-port are the same"};
  }
  cluster.port = settings.port;
  cluster.workers = settings.workers;
  cluster.allow_faults = settings.allow_faults || !settings.faults.empty();
  cluster.leaf_arguments = settings.leaf_arguments;
  cluster.root_arguments = settings.root_arguments;
  cluster.log_level = settings.log_level;
  cluster.start_time = settings.start_time;
  return cluster;
}

// The faults to begin with, null where none are given; what is wrong with them is found before anything starts.
result<nlohmann::json> first_faults(const UpSettings& settings) {
  if (settings.faults.empty()) return {boost::system::in_place_value, nlohmann::json()};
  auto faults = read_given_faults(settings.faults);
  if (faults.has_error()) return faults;
  std::vector<std::string> leaves;
  for (std::size_t i = 0; i < settings.leaves; ++i) leaves.push_back(leaf_name(i));
  if (const auto checked = faults_by_leaf(*faults, leaves, read_sample_file); checked.has_error()) return checked.error();
  return faults;
}

// One run of the command, on one thread.
class Up {
 public:
  Up(asio::io_context& context, const UpSettings& settings, ClusterSettings cluster, nlohmann::json faults, StateDirectory& state)
      : context_(context), settings_(settings), faults_(std::move(faults)), state_(state), partitions_(cluster.partitions), signals_(context, SIGINT, SIGTERM, SIGHUP),
        wake_(context, asio::steady_timer::time_point::max()),
        cluster_(context.get_executor(), std::move(cluster),
                 [this](const std::string& name, int pid, const ChildEnd& end) { on_end(name, pid, end); }),
        routes_(control_routes(cluster_)),
        server_(context.get_executor(), {}, [this](wire::HttpRequest& request) { return routes_.handle(request); }) {}

  asio::awaitable<int> run() {
    watch_signals();
    const auto control = server_.listen({asio::ip::address_v4::loopback(), settings_.control_port});
    if (control.has_error()) {
      say(to_string(control.error()));
      co_return 1;
    }
    control_address_ = "127.0.0.1:" + std::to_string(control->port());

    asio::co_spawn(context_, start_and_ask(), [this](std::exception_ptr problem, std::optional<int> status) {
      if (problem) status = 1;
      if (status) finish(*status);
    });
    while (!status_) co_await wake_.async_wait(as_result);
    if (*status_ != 0) state_.keep();
    ending_ = true;
    co_await cluster_.stop_all();
    co_await server_.drain(std::chrono::seconds(1));
    boost::system::error_code ignored;
    signals_.cancel(ignored);
    co_return *status_;
  }

 private:
  // The exit status of the queries, or of a failed start; none where the cluster is to stay.
  asio::awaitable<std::optional<int>> start_and_ask() {
    const auto started = co_await cluster_.start(control_address_);
    if (status_) co_return std::nullopt;
    if (started.has_error()) {
      say("the cluster does not start: " + started.error().context);
      co_return 1;
    }
    up_ = true;
    if (!faults_.is_null()) {
      const auto set = co_await set_leaf_faults(leaves_of(cluster_), faults_, read_sample_file);
      if (status_) co_return std::nullopt;
      if (set.has_error()) {
        say("the faults cannot be set: " + set.error().context);
        co_return 1;
      }
    }
    if (!settings_.queries.empty()) co_return co_await ask();
    announce();
    co_return std::nullopt;
  }

  asio::awaitable<int> ask() {
    const auto endpoint = co_await wire::resolve_address(cluster_.root_address());
    if (endpoint.has_error()) co_return 1;
    wire::HttpClient client(context_.get_executor(), *endpoint);
    int status = 0;
    for (const auto& query : settings_.queries) {
      const auto answer = co_await client.request("GET", search_target(query, {}), "", std::chrono::seconds(30));
      if (answer.has_error()) {
        say("no answer: " + to_string(answer.error()));
        co_return 1;
      }
      std::fwrite(answer->body.data(), 1, answer->body.size(), stdout);
      if (!answer->body.ends_with('\n')) std::fputc('\n', stdout);
      if (answer->status != 200) {
        say("the answer's status is " + std::to_string(answer->status));
        status = 1;
      }
    }
    if (std::fflush(stdout) != 0) status = 1;
    co_return status;
  }

  void announce() {
    const std::string url = "http://" + cluster_.root_address();
    std::printf("Hedgerow answers at %s (%zu partitions, %zu replicas, %zu leaves); control at http://%s, state in %s\n",
                url.c_str(), partitions_, settings_.replicas, settings_.leaves, control_address_.c_str(),
                state_.path().c_str());
    std::printf("curl '%s'\n", (url + search_target("full text search engine", {})).c_str());
    std::printf("curl '%s'\n", (url + search_target("web server", {{"k", "3"}, {"deadline", "50ms"}})).c_str());
    std::printf("curl '%s/v1/cluster'\n", url.c_str());
    std::fflush(stdout);
  }

  void on_end(const std::string& name, int pid, const ChildEnd& end) {
    if (!up_ || ending_) return;  // the start tells of it itself
    state_.keep();
    std::string text = name + " (pid " + std::to_string(pid) + ") ended by itself: " + to_string(end);
    const auto log = cluster_.process(name)->log;
    if (name == "root") {
      say(text + "; without it the cluster ends. The end of its log, " + log + ":\n" + last_lines(log, 10));
      finish(1);
    } else {
      say(text + "; the cluster goes on without it. Its log is " + log + "; `hedgerow-lab start " + name + " --cluster " +
          state_.path().string() + "` starts it again.");
    }
  }

  void finish(int status) {
    if (!status_) status_ = status;
    wake_.cancel();
  }

  void watch_signals() {
    signals_.async_wait([this](boost::system::error_code error, int signal) {
      if (error) return;
      if (status_) {
        cluster_.hurry();
      } else {
        // Asked to end before the queries were answered is no success.
        finish(settings_.queries.empty() && up_ ? 0 : 128 + signal);
      }
      watch_signals();
    });
  }

  asio::io_context& context_;
  const UpSettings& settings_;
  nlohmann::json faults_;
  StateDirectory& state_;
  std::size_t partitions_;
  asio::signal_set signals_;
  asio::steady_timer wake_;
  Cluster cluster_;
  wire::HttpRouter routes_;
  wire::HttpServer server_;
  std::string control_address_;
  std::optional<int> status_;
  bool up_ = false;
  bool ending_ = false;
};

}  // namespace

int run_up(const UpSettings& settings) {
  asio::io_context context(1);
  auto cluster = check(context, settings);
  if (cluster.has_error()) {
    say(to_string(cluster.error()));
    return 2;
  }
  auto faults = first_faults(settings);
  if (faults.has_error()) {
    say("--faults: " + faults.error().context);
    return 2;
  }
  auto state = StateDirectory::open(settings.state);
  if (state.has_error()) {
    say(to_string(state.error()));
    return 2;
  }
  cluster->state = (*state)->path();
  int status = 1;
  {
    Up up(context, settings, std::move(*cluster), std::move(*faults), **state);
    asio::co_spawn(context, up.run(), [&](std::exception_ptr problem, int s) {
      if (problem) {
        try {
          std::rethrow_exception(problem);
        } catch (const std::exception& e) {
          say(std::string("internal: ") + e.what());
        }
      } else {
        status = s;
      }
    });
    context.run();
  }
  if (status != 0 && (*state)->kept()) say("logs are in " + (*state)->path().string());
  return status;
}

}  // namespace hedgerow::lab
