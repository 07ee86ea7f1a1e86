#include "root/server.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.hpp"
#include "base/steady_clock.hpp"
#include "index/synonyms.hpp"
#include "root/hedging_api.hpp"
#include "root/routes.hpp"
#include "root/topology.hpp"

namespace hedgerow::root {

namespace asio = boost::asio;

namespace {

constexpr Duration control_period = std::chrono::milliseconds(20);

wire::HttpServerSettings http_settings(const Settings& settings) {
  wire::HttpServerSettings http;
  http.most_connections = settings.most_connections;
  if (settings.address != "0.0.0.0" && settings.address != "::") http.hosts.push_back(settings.address);
  http.hosts.insert(http.hosts.end(), settings.hosts.begin(), settings.hosts.end());
  return http;
}

LeafClientSettings client_settings(const Settings& settings) {
  LeafClientSettings client;
  client.link.idle_time = settings.link_idle_time;
  client.link.connect_time = settings.link_connect_time;
  client.longest_pause = settings.longest_reconnect_pause;
  client.unanswered_bytes = settings.unanswered_bytes;
  client.seed = settings.seed;
  return client;
}

policy::CanariesSettings canaries_settings(const Settings& settings) {
  auto canaries = settings.canaries;
  canaries.canary.silent_together = settings.link_idle_time * 3 / 2;
  return canaries;
}

}  // namespace

result<std::unique_ptr<Server>> Server::create(asio::io_context& io, const Settings& settings) {
  auto manifest = read_manifest(settings.index);
  if (manifest.has_error()) return manifest.error();
  auto statistics = CollectionStatistics::open(settings.index, *manifest);
  if (statistics.has_error()) return statistics.error();
  auto topology = read_topology(settings.topology, static_cast<std::uint32_t>(manifest->partitions.size()));
  if (topology.has_error()) return topology.error();
  std::optional<Synonyms> synonyms;
  if (!settings.synonyms.empty()) {
    auto loaded = Synonyms::load(settings.synonyms, manifest->stemmer);
    if (loaded.has_error()) return loaded.error();
    synonyms = std::move(*loaded);
  }
  std::unique_ptr<RecordingFile> recording;
  if (!settings.record.empty()) {
    auto created = RecordingFile::create(settings.record, settings.record_bytes);
    if (created.has_error()) return created.error();
    recording = std::move(*created);
  }
  auto server = std::unique_ptr<Server>(
      new Server(io, settings, std::move(*manifest), std::move(*statistics), *topology, std::move(recording)));
  server->queries_.use(std::move(synonyms));
  return server;
}

Server::Server(asio::io_context& io, const Settings& settings, Manifest manifest, CollectionStatistics statistics,
               const Topology& topology, std::unique_ptr<RecordingFile> recording)
    : io_(io),
      settings_(settings),
      recording_(std::move(recording)),
      cluster_(io.get_executor(), std::move(manifest), client_settings(settings), settings.policies, settings.seed, metrics_, settings.tie_nonce),
      canaries_(io.get_executor(), cluster_, metrics_, canaries_settings(settings), settings.seed + 2),
      queries_(io.get_executor(), std::move(statistics), cluster_, canaries_, metrics_, {settings.admission, settings.cache_bytes, settings.seed, settings.titles_with_hits}),
      router_(routes({io.get_executor(), queries_, cluster_, canaries_, metrics_, settings_.defaults, draining_})),
      http_(io.get_executor(), http_settings(settings),
            [this](wire::HttpRequest& request) { return router_.handle(request); }),
      control_timer_(io) {
  if (recording_) {
    recorder_ = std::make_unique<policy::SearchRecorder>([this](std::string_view line) { recording_->add(line); },
                                                         settings.policies, settings.seed);
    cluster_.policies().search.record_to(recorder_.get());
  }
  cluster_.apply(topology);
  log_vain_defaults(cluster_, settings_.defaults);
}

result<asio::ip::tcp::endpoint> Server::listen() {
  boost::system::error_code error;
  const auto address = asio::ip::make_address(settings_.address, error);
  if (error) return Error{Errc::invalid_argument, "'" + settings_.address + "' is not an IP address"};
  auto endpoint = http_.listen({address, settings_.port});
  if (endpoint.has_value()) asio::co_spawn(io_, run_control_timer(), asio::detached);
  return endpoint;
}

// Beside the queries runs a timer whose lateness tells what of a query's lateness is the machine's.
asio::awaitable<void> Server::run_control_timer() {
  while (!draining_) {
    control_timer_.expires_after(control_period);
    const auto due = control_timer_.expiry();
    const auto [error] = co_await control_timer_.async_wait(asio::as_tuple(asio::use_awaitable));
    if (error) co_return;
    metrics_.timer_lateness_seconds.Observe(to_seconds(clock_now() - due));
  }
}

void Server::reload() {
  reload_topology();
  reload_synonyms();
}

void Server::reload_synonyms() {
  if (settings_.synonyms.empty()) return;
  auto synonyms = Synonyms::load(settings_.synonyms, cluster_.manifest().stemmer);
  if (synonyms.has_error()) {
    log_event(LogLevel::error, "synonyms_unreadable", {{"error", to_string(synonyms.error())}});
    return;
  }
  log_event(LogLevel::info, "synonyms", {{"expressions", synonyms->size()}});
  queries_.use(std::move(*synonyms));
}

void Server::reload_topology() {
  const auto topology =
      read_topology(settings_.topology, static_cast<std::uint32_t>(cluster_.manifest().partitions.size()));
  if (topology.has_error()) {
    log_event(LogLevel::error, "topology_unreadable", {{"error", to_string(topology.error())}});
    return;
  }
  cluster_.apply(*topology);
  log_vain_defaults(cluster_, settings_.defaults);
  queries_.forget_answers();  // what is offered may have changed
}

asio::awaitable<void> Server::drain() {
  draining_ = true;
  control_timer_.cancel();
  co_await http_.drain(settings_.drain_time);
  canaries_.stop();  // before the links end: that is no crash
  co_await cluster_.stop();
  // Queries that outlast the drain time have lost their leaves now, and so end: none may outlive this server.
  co_await http_.drain(std::chrono::seconds(1));
}

}  // namespace hedgerow::root
