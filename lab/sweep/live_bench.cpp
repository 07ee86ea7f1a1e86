#include <signal.h>

#include <algorithm>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "base/distribution.hpp"
#include "base/steady_clock.hpp"
#include "index/manifest.hpp"
#include "lab/cluster_faults.hpp"
#include "lab/hosted_cluster.hpp"
#include "lab/leaf_faults.hpp"
#include "lab/load.hpp"
#include "lab/load_plan.hpp"
#include "lab/sweep/bench.hpp"
#include "lab/sweep/load_figures.hpp"
#include "wire/as_result.hpp"
#include "wire/http_client.hpp"

namespace hedgerow::lab::sweep {

namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

constexpr Duration one_request = std::chrono::seconds(10);
constexpr Duration ready_limit = std::chrono::seconds(60);
constexpr Duration look_again_after = std::chrono::milliseconds(20);

result<ClusterSettings> cluster_settings(const SweepPlan& plan, const fs::path& bin_dir) {
  const LiveWorld& live = *plan.live;
  ClusterSettings cluster;
  std::error_code ignored;
  cluster.index = fs::absolute(live.index, ignored).lexically_normal();
  const auto manifest = read_manifest(cluster.index);
  if (manifest.has_error()) return manifest.error();
  cluster.bin_dir = bin_dir;
  cluster.partitions = manifest->partitions.size();
  for (const auto& fanout : plan.fanouts) {
    if (!fanout || *fanout <= cluster.partitions) continue;
    return Error{Errc::invalid_argument, "fanouts: the index has " + std::to_string(cluster.partitions) + " partitions"};
  }
  cluster.replicas = live.replicas;
  auto placement = place_partitions(cluster.partitions, live.replicas, live.leaves);
  if (placement.has_error()) return placement.error();
  cluster.placement = std::move(*placement);
  cluster.spellers = live.spellers;
  cluster.port = 0;
  if (live.workers > 0) cluster.workers = static_cast<unsigned>(live.workers);
  cluster.allow_faults = true;
  cluster.leaf_arguments = live.leaf_arguments;
  // A result from the cache measures nothing, and to a root that was just started every query is new; unless the user wants
  // just that.
  cluster.root_arguments = live.root_arguments;
  for (const char* setting : {"--cache-bytes=0", "--default-canary=off"}) {
    const std::string name(setting, std::string_view(setting).find('=') + 1);
    const bool given = std::any_of(live.root_arguments.begin(), live.root_arguments.end(), [&](const auto& argument) { return argument.starts_with(name); });
    if (!given) cluster.root_arguments.push_back(setting);
  }
  cluster.log_level = "warning";
  return cluster;
}

std::vector<std::string> leaf_names(std::size_t leaves) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < leaves; ++i) names.push_back(leaf_name(i));
  return names;
}

class LiveBench final : public Bench {
 public:
  LiveBench(const SweepPlan& plan, const fs::path& bin_dir) : plan_(plan), bin_dir_(bin_dir), signals_(host_.context()) {}

  ~LiveBench() override {
    boost::system::error_code ignored;
    signals_.cancel(ignored);
    host_.stop();
  }

  // What can be wrong is looked for before anything is started.
  result<void> start() {
    if (plan_.load.queries.empty()) return Error{Errc::invalid_argument, "load.queries is missing: a file of queries (--queries)"};
    for (const FaultSet& faults : plan_.faults) {
      const auto checked = faults_by_leaf(faults.faults, leaf_names(plan_.live->leaves), read_sample_file);
      if (checked.has_error()) return Error{checked.error().code, "faults '" + faults.name + "': " + checked.error().context};
    }
    for (const char* program : {"hedgerow-leaf", "hedgerow-root"}) {
      std::error_code ignored;
      if (!fs::exists(bin_dir_ / program, ignored)) return Error{Errc::not_found, (bin_dir_ / program).string() + ": no such program"};
    }
    auto settings = cluster_settings(plan_, bin_dir_);
    if (settings.has_error()) return settings.error();
    if (auto read = prepare(); read.has_error()) return read.error();
    watch_signals();
    auto started = host_.start("sweep", std::move(*settings),
                               [this](const std::string& name, int, const ChildEnd& end) { ended_.insert_or_assign(name, to_string(end)); });
    if (started.has_error()) return started.error();
    prepared_.settings.target = "http://" + host_.cluster().root_address();
    return {};
  }

  result<Figures> run(const SweepPoint& point, const ScheduledRun& scheduled) override {
    auto figures = host_.wait_for(run_all(point, scheduled));
    if (!figures.has_error() || figures.error().code == Errc::cancelled) return figures;
    host_.keep_logs();
    return Error{figures.error().code, figures.error().context + " (logs are in " + host_.logs().string() + ")"};
  }

  std::vector<std::string> notes() const override { return prepared_.notes; }

 private:
  // Only now: what is read before ends at once with Ctrl-C, as any program does.
  void watch_signals() {
    for (const int signal : {SIGINT, SIGTERM}) signals_.add(signal);
    signals_.async_wait([this](boost::system::error_code error, int) {
      if (error) return;
      broken_off_ = true;
      if (load_) load_->break_off();
      // A second one ends the process as if there were no handler; its children end with it.
      boost::system::error_code ignored;
      signals_.clear(ignored);
    });
  }

  // Reads the files and finds the complete answers, once for all runs.
  result<void> prepare() {
    LoadPlan words;
    words.load.rate = plan_.load.rate;
    words.load.duration = plan_.load.duration;
    words.load.warm_up = plan_.load.warm_up;
    words.load.arrivals = plan_.load.arrivals;
    words.load.connections = plan_.load.connections;
    words.queries = plan_.load.queries;
    words.qrels = plan_.quality.qrels;
    if (plan_.quality.reference) words.reference = plan_.live->index;
    words.depth = static_cast<std::uint32_t>(plan_.quality.k);
    auto prepared = prepare_load(words);
    if (prepared.has_error()) return prepared.error();
    prepared_ = std::move(*prepared);
    return {};
  }

  asio::awaitable<result<Figures>> run_all(SweepPoint point, ScheduledRun scheduled) {
    if (broken_off_) co_return cancelled();
    auto begun = co_await begin_anew();
    if (begun.has_error()) co_return begun.error();
    auto set = co_await set_up(point);
    if (set.has_error()) co_return set.error();
    if (broken_off_) co_return cancelled();

    load_ = std::make_unique<Load>(host_.context(), load_settings(point, scheduled));
    auto loaded = co_await load_->run();
    load_.reset();
    if (broken_off_) co_return cancelled();
    if (loaded.has_error()) co_return loaded.error();
    if (const auto root = host_.cluster().process("root"); !root || root->state != ProcessState::running) {
      co_return Error{Errc::unavailable, "the root has ended: " + ended_["root"]};
    }
    co_return figures_of(loaded->frame, loaded->report);
  }

  LoadSettings load_settings(const SweepPoint& point, const ScheduledRun& scheduled) const {
    LoadSettings settings = prepared_.settings;
    settings.seed = scheduled.seed;
    settings.parameters.insert(settings.parameters.end(), {{"deadline", format_duration(point.deadline)}, {"fanout", fanout_text(point.fanout)}});
    const Policy& policy = policy_of(point.policy);
    settings.parameters.insert(settings.parameters.end(), policy.parameters.begin(), policy.parameters.end());
    // A query gets an answer by its deadline, or something is wrong.
    settings.time_limit = point.deadline + std::chrono::seconds(10);
    return settings;
  }

  static Error cancelled() { return {Errc::cancelled, "broken off"}; }

  const Policy& policy_of(const std::string& name) const {
    for (const Policy& policy : plan_.policies) {
      if (policy.name == name) return policy;
    }
    return plan_.policies.front();
  }

  // Fresh processes, no faults, everything served. Heals also what a fault has ended.
  asio::awaitable<result<void>> begin_anew() {
    const bool all = plan_.live->anew == LiveWorld::Anew::all;
    for (const ProcessStatus& process : host_.cluster().processes()) {
      const bool restarted = process.name == "root" || all || process.state != ProcessState::running;
      if (!restarted || process.name == "root") continue;
      auto leaf = co_await host_.cluster().act(process.name, ProcessAction::restart);
      if (leaf.has_error()) co_return leaf.error();
    }
    // Before the root, whose policies are then not misled by what a fault does last.
    auto cleared = co_await clear_leaf_faults(leaves_of(host_.cluster()));
    if (cleared.has_error()) co_return cleared.error();
    auto root = co_await host_.cluster().act("root", ProcessAction::restart);
    if (root.has_error()) co_return root.error();
    auto ready = co_await until_ready();
    co_return ready;
  }

  asio::awaitable<result<void>> until_ready() {
    const auto endpoint = co_await wire::resolve_address(host_.cluster().root_address());
    if (endpoint.has_error()) co_return endpoint.error();
    wire::HttpClient client(host_.context().get_executor(), *endpoint);
    const Instant end = clock_now() + ready_limit;
    asio::steady_timer pause(host_.context());
    while (clock_now() < end) {
      const auto answer = co_await client.request("GET", "/readyz", "", one_request);
      if (!answer.has_error() && answer->status == 200) co_return result<void>();
      pause.expires_after(look_again_after);
      co_await pause.async_wait(wire::as_result);
    }
    co_return Error{Errc::unavailable, "the root is not ready " + format_duration(ready_limit) + " after its start"};
  }

  // The point's faults, and what of its policy no query can say.
  asio::awaitable<result<void>> set_up(const SweepPoint& point) {
    for (const FaultSet& faults : plan_.faults) {
      if (faults.name != point.faults || faults.faults.empty()) continue;
      auto set = co_await set_leaf_faults(leaves_of(host_.cluster()), faults.faults, read_sample_file);
      if (set.has_error()) co_return set.error();
    }
    const Policy& policy = policy_of(point.policy);
    nlohmann::json budget = nlohmann::json::object();
    if (policy.hedge_budget_fill) budget["budget_fill"] = *policy.hedge_budget_fill;
    if (policy.hedge_budget_depth) budget["budget_depth"] = *policy.hedge_budget_depth;
    if (budget.empty()) co_return result<void>();
    const auto endpoint = co_await wire::resolve_address(host_.cluster().root_address());
    if (endpoint.has_error()) co_return endpoint.error();
    wire::HttpClient client(host_.context().get_executor(), *endpoint);
    const auto answer = co_await client.request("PUT", "/v1/hedging", budget.dump(), one_request);
    if (answer.has_error()) co_return answer.error();
    if (answer->status != 200) co_return Error{Errc::invalid_argument, "the root does not take the hedge budget of '" + policy.name + "': " + answer->body};
    co_return result<void>();
  }

  const SweepPlan& plan_;
  fs::path bin_dir_;
  std::map<std::string, std::string> ended_;  // processes that ended by themselves, and how
  HostedCluster host_;
  asio::signal_set signals_;
  PreparedLoad prepared_;
  std::unique_ptr<Load> load_;
  bool broken_off_ = false;
};

}  // namespace

result<std::unique_ptr<Bench>> live_bench(const SweepPlan& plan, const fs::path& bin_dir) {
  auto bench = std::make_unique<LiveBench>(plan, bin_dir);
  if (auto started = bench->start(); started.has_error()) return started.error();
  return std::unique_ptr<Bench>(std::move(bench));
}

}  // namespace hedgerow::lab::sweep
