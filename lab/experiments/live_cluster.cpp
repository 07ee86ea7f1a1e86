#include "lab/experiments/live_cluster.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cmath>
#include <exception>
#include <map>
#include <sstream>
#include <thread>

#include "base/random.hpp"
#include "base/steady_clock.hpp"
#include "corpus/synthetic.hpp"
#include "lab/evaluate.hpp"
#include "lab/experiments/built_index.hpp"
#include "lab/hosted_cluster.hpp"
#include "wire/as_result.hpp"
#include "wire/http_client.hpp"

namespace hedgerow::lab {

namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t made_up_queries = 500;
constexpr std::size_t first_queries = 60;
constexpr Duration one_request = std::chrono::seconds(30);
constexpr Duration look_again_after = std::chrono::milliseconds(20);
constexpr Duration start_limit = std::chrono::seconds(150);
constexpr std::uint64_t longest_latency = 600'000'000'000;  // nanoseconds

}  // namespace

struct LiveCluster::Implementation {
  Implementation(const ExperimentRequest& wished, const LiveClusterSettings& wanted) : request(wished), settings(wanted) {}
  ~Implementation() {
    host.hurry();
    host.stop();
  }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  asio::awaitable<bool> pause(Duration time) {
    asio::steady_timer timer(host.context(), time);
    co_await timer.async_wait(wire::as_result);
    co_return true;
  }
  // Until it holds; false: it did not in this time.
  template <class Holds>
  bool eventually(Duration limit, Holds&& holds) {
    for (const Instant end = clock_now() + limit; !holds();) {
      if (clock_now() >= end) return false;
      host.wait_for(pause(look_again_after));
    }
    return true;
  }

  void start() {
    ClusterSettings wanted;
    wanted.index = index->directory();
    wanted.bin_dir = request.bin_dir;
    wanted.placement = or_failure(place_partitions(settings.partitions, settings.replicas, settings.leaves), "placement");
    wanted.spellers = settings.spellers;
    wanted.partitions = settings.partitions;
    wanted.replicas = settings.replicas;
    wanted.port = 0;
    wanted.workers = settings.workers;
    wanted.allow_faults = true;
    wanted.root_arguments = {"--cache-bytes=0", "--default-canary=off"};
    wanted.root_arguments.insert(wanted.root_arguments.end(), settings.root_arguments.begin(), settings.root_arguments.end());
    wanted.leaf_arguments = settings.leaf_arguments;
    wanted.log_level = "warning";
    wanted.start_time = start_limit;
    request.say("starting " + std::to_string(settings.leaves) + " leaves and a root");
    or_failure(host.start("experiment", std::move(wanted), [](const std::string&, int, const ChildEnd&) {}), "live");
  }

  wire::HttpResponse ask(const std::string& address, const std::string& method, const std::string& target,
                         const std::string& body = "") {
    auto found = clients.find(address);
    if (found == clients.end()) {
      const auto endpoint = or_failure(host.wait_for(wire::resolve_address(address)), address);
      found = clients.emplace(address, wire::HttpClient(host.context().get_executor(), endpoint)).first;
    }
    return or_failure(host.wait_for(found->second.request(method, target, body, one_request)), method + " " + target);
  }

  asio::awaitable<bool> run_one(Load& load, LiveRun& out, std::size_t& open_left, bool open) {
    auto end = co_await load.run();
    if (end.has_error()) throw LiveFailure("load: " + to_string(end.error()));
    out.result = std::move(*end);
    if (open && --open_left == 0) open_over->cancel();
    co_return true;
  }

  const ExperimentRequest& request;
  LiveClusterSettings settings;
  std::unique_ptr<BuiltIndex> index;
  HostedCluster host;
  std::map<std::string, wire::HttpClient> clients;
  std::optional<asio::steady_timer> open_over;
};

double LiveRun::quantile_ms(double quantile) const {
  const Histogram all = latency();
  if (static_cast<double>(all.count()) * (1 - quantile) < 2) return NAN;
  return static_cast<double>(all.value_at_quantile(quantile)) / 1e6;
}

Histogram LiveRun::latency() const {
  Histogram all(longest_latency);
  for (const LoadOutcome& outcome : outcomes) {
    if (outcome.status == 200) all.record(static_cast<std::uint64_t>(std::max<Duration::rep>(0, outcome.latency.count())));
  }
  return all;
}

std::uint64_t LiveRun::with_status(int status) const {
  return static_cast<std::uint64_t>(
      std::count_if(outcomes.begin(), outcomes.end(), [&](const LoadOutcome& outcome) { return outcome.status == status; }));
}

double LiveRun::mean_completeness() const {
  double sum = 0, count = 0;
  for (const LoadOutcome& outcome : outcomes) {
    if (outcome.status != 200 || !outcome.completeness) continue;
    sum += *outcome.completeness;
    ++count;
  }
  return count > 0 ? sum / count : NAN;
}

LiveCluster::LiveCluster(const ExperimentRequest& request, const LiveClusterSettings& settings)
    : implementation_(std::make_unique<Implementation>(request, settings)) {
  request.say("building an index of " + settings.corpus + " in " + std::to_string(settings.partitions) + " partitions");
  implementation_->index = std::make_unique<BuiltIndex>(request.bin_dir, settings.corpus, settings.partitions);
  implementation_->start();
  for (std::uint64_t i = 0; i < first_queries; ++i) search(made_up_query(i), {{"deadline", "10s"}});
}
LiveCluster::~LiveCluster() = default;

LiveRun LiveCluster::load(const LiveLoad& wanted) { return std::move(loads({wanted}).front()); }

std::vector<LiveRun> LiveCluster::loads(const std::vector<LiveLoad>& wanted) {
  Implementation& all = *implementation_;
  std::vector<LiveRun> runs(wanted.size());
  std::vector<std::unique_ptr<Load>> loads;
  std::size_t open = 0;
  Duration longest{};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const LiveLoad& one = wanted[i];
    LoadSettings settings;
    settings.target = "http://" + root_address();
    settings.queries = one.queries;
    for (std::uint64_t query = 0; settings.queries.size() < made_up_queries && one.queries.empty(); ++query) {
      settings.queries.push_back(made_up_query(one.seed * made_up_queries + query));
    }
    settings.parameters = one.parameters;
    for (const char* optional : {"spelling", "snippets"}) {
      const auto named =
          std::find_if(one.parameters.begin(), one.parameters.end(), [&](const auto& given) { return given.first == optional; });
      if (named == one.parameters.end()) settings.parameters.emplace_back(optional, "off");
    }
    settings.rate = one.rate;
    settings.arrivals = one.arrivals;
    settings.clients = one.clients;
    if (one.clients > 0) settings.count = ~std::uint64_t{0};
    settings.duration = one.duration;
    settings.warm_up = one.warm_up;
    settings.connections = 2048;
    settings.time_limit = one_request;
    settings.seed = one.seed;
    open += one.clients == 0 ? 1 : 0;
    longest = std::max(longest, one.warm_up + one.duration);
    loads.push_back(std::make_unique<Load>(all.host.context(), std::move(settings)));
    loads.back()->observe([&runs, i](const LoadOutcome& outcome) { runs[i].outcomes.push_back(outcome); });
  }

  // Closed loops end with the last open one, or when the time is over.
  all.open_over.emplace(all.host.context());
  all.open_over->expires_after(open > 0 ? std::chrono::hours(1)
                                        : std::chrono::duration_cast<std::chrono::steady_clock::duration>(longest));
  std::size_t left = loads.size(), open_left = open;
  std::exception_ptr problem;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    asio::co_spawn(all.host.context(), all.run_one(*loads[i], runs[i], open_left, wanted[i].clients == 0),
                   [&](std::exception_ptr thrown, bool) {
                     if (thrown) problem = thrown;
                     if (thrown) all.open_over->cancel();
                     --left;
                   });
  }
  all.open_over->async_wait([&](boost::system::error_code) {
    for (std::size_t i = 0; i < loads.size(); ++i) {
      if (wanted[i].clients > 0 || problem) loads[i]->break_off();
    }
  });
  while (left > 0) all.host.run_one();
  all.open_over.reset();
  all.host.wait_for(all.pause(Duration(1)));  // the timer's handler, which refers to what ends here
  if (problem) std::rethrow_exception(problem);
  return runs;
}

void LiveCluster::set_faults(const nlohmann::json& faults) {
  for (std::size_t leaf = 0; leaf < leaves(); ++leaf) set_faults(leaf, faults);
}

void LiveCluster::set_faults(std::size_t leaf, const nlohmann::json& faults) {
  const auto answer = implementation_->ask(root_address(), "PUT", "/v1/leaves/" + leaf_name(leaf) + "/faults", faults.dump());
  if (answer.status != 200)
    throw LiveFailure(leaf_name(leaf) + " does not take the faults " + faults.dump() + ": " + answer.body);
}

LiveCluster::Answer LiveCluster::search(const std::string& query, const SearchParameters& parameters) {
  const Instant sent = clock_now();
  const auto answer = implementation_->ask(root_address(), "GET", search_target(query, parameters));
  return {answer.status, nlohmann::json::parse(answer.body, nullptr, false), clock_now() - sent};
}

std::vector<QueryOutcome> LiveCluster::evaluate(const std::vector<TestQuery>& queries, const SearchParameters& parameters,
                                                std::uint32_t depth) {
  EvaluateSettings settings;
  settings.target = "http://" + root_address();
  settings.depth = depth;
  settings.parameters = parameters;
  settings.time_limit = one_request;
  return or_failure(implementation_->host.wait_for(ask_root(settings, queries)), "evaluate");
}

nlohmann::json LiveCluster::get(const std::string& target) {
  const auto answer = implementation_->ask(root_address(), "GET", target);
  if (answer.status != 200) throw LiveFailure(target + ": " + answer.body);
  return nlohmann::json::parse(answer.body);
}

double LiveCluster::metric(const std::string& process, const std::string& series) {
  const auto status = implementation_->host.cluster().process(process);
  if (!status) throw LiveFailure("there is no process " + process);
  std::istringstream lines(implementation_->ask(status->address, "GET", "/metrics").body);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(series + " ")) return std::stod(line.substr(series.size() + 1));
  }
  return 0;
}

double LiveCluster::attempts(const std::string& kind) {
  return metric("root", "hedgerow_root_attempts_total{kind=\"" + kind + "\"}");
}

std::size_t LiveCluster::leaves_running() const {
  std::size_t running = 0;
  for (const auto& process : implementation_->host.cluster().processes()) {
    if (process.name != "root" && process.state != ProcessState::ended) ++running;
  }
  return running;
}

void LiveCluster::start_ended_leaves() {
  for (const auto& process : implementation_->host.cluster().processes()) {
    if (process.state == ProcessState::ended) {
      or_failure(implementation_->host.wait_for(implementation_->host.cluster().act(process.name, ProcessAction::start)), process.name);
    }
  }
  const bool all_serve = implementation_->eventually(std::chrono::seconds(60), [&] {
    const auto seen = get("/v1/cluster");  // outlives the loop over a part of it
    std::size_t serving = 0;
    for (const auto& leaf : seen.at("leaves")) serving += leaf.at("state") == "serving" ? 1 : 0;
    return serving == leaves();
  });
  if (!all_serve) throw LiveFailure("not all leaves serve again");
}

std::size_t LiveCluster::leaves() const { return implementation_->settings.leaves; }
std::string LiveCluster::root_address() const { return implementation_->host.cluster().root_address(); }

void LiveCluster::describe(ExperimentResult& result) const {
  const auto& settings = implementation_->settings;
  double load[1] = {0};
  if (::getloadavg(load, 1) != 1) load[0] = NAN;
  result.settings["cluster"] = {{"leaves", settings.leaves},
                                {"partitions", settings.partitions},
                                {"replicas", settings.replicas},
                                {"workers", settings.workers},
                                {"corpus", settings.corpus},
                                {"root_arguments", settings.root_arguments},
                                {"leaf_arguments", settings.leaf_arguments}};
  result.settings["machine"] = {{"processors", std::thread::hardware_concurrency()}, {"load_average_at_the_end", load[0]}};
  result.settings["time_scale"] = implementation_->request.time_scale;
}

Duration scaled(Duration time, const ExperimentRequest& request) {
  return std::max<Duration>(std::chrono::seconds(1), from_milliseconds(to_milliseconds(time) * request.time_scale));
}

std::size_t rounds_of(std::size_t wanted, const ExperimentRequest& request) { return request.time_scale < 0.5 ? 1 : wanted; }

Duration in_each_round(Duration all, std::size_t rounds, const ExperimentRequest& request) {
  return scaled(all / static_cast<Duration::rep>(rounds), request);
}

std::string made_up_query(std::uint64_t number) {
  Random random(number + 1);
  std::string query;
  for (std::uint64_t words = 2 + random.below(2); words > 0; --words)
    query += (query.empty() ? "" : " ") + synthetic_word(1 + random.below(300));
  return query;
}

}  // namespace hedgerow::lab
