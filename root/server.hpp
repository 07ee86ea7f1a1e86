// A root, put together: statistics, cluster, query service and HTTP side, on one thread.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "index/manifest.hpp"
#include "index/statistics.hpp"
#include "root/canary_service.hpp"
#include "root/cluster.hpp"
#include "root/metrics.hpp"
#include "root/query_service.hpp"
#include "root/recording_file.hpp"
#include "root/search_parameters.hpp"
#include "wire/http_router.hpp"
#include "wire/http_server.hpp"

namespace hedgerow::root {

struct Settings {
  std::filesystem::path index;
  std::filesystem::path topology;
  std::filesystem::path synonyms;  // empty: none
  std::string address = "127.0.0.1";
  std::uint16_t port = 7080;
  std::filesystem::path address_file;
  SearchDefaults defaults;
  policy::AdmissionSettings admission;
  policy::CanariesSettings canaries;
  std::size_t cache_bytes = 64 << 20;
  double titles_with_hits = 0.1;
  std::size_t most_connections = 4096;
  Duration link_idle_time = std::chrono::seconds(1);
  Duration link_connect_time = std::chrono::milliseconds(500);
  Duration longest_reconnect_pause = std::chrono::milliseconds(500);
  std::size_t unanswered_bytes = 4 << 20;
  Duration drain_time = std::chrono::seconds(5);
  std::vector<std::string> hosts;
  policy::SearchPolicySettings policies;
  std::uint64_t seed = 0;  // 0: picked by main
  std::uint64_t tie_nonce = 0;  // picked by main: other than that of every other root, whatever their seeds
  std::string log_level = "info";
  std::filesystem::path record;  // of the search policies; empty: none
  std::uint64_t record_bytes = 256 << 20;
};

class Server {
 public:
  // Errors: those of manifest, statistics and topology.
  static result<std::unique_ptr<Server>> create(boost::asio::io_context& io, const Settings& settings);

  // Errors: io, invalid_argument.
  result<boost::asio::ip::tcp::endpoint> listen();
  // Reads topology and synonyms again; a broken file is logged, and changes nothing.
  void reload();
  // Lets the queries in progress be answered, then ends every connection and link.
  boost::asio::awaitable<void> drain();

 private:
  Server(boost::asio::io_context& io, const Settings& settings, Manifest manifest, CollectionStatistics statistics,
         const Topology& topology, std::unique_ptr<RecordingFile> recording);
  void reload_topology();
  void reload_synonyms();
  boost::asio::awaitable<void> run_control_timer();

  boost::asio::io_context& io_;
  Settings settings_;
  // Outlive whatever is recorded.
  std::unique_ptr<RecordingFile> recording_;
  std::unique_ptr<policy::SearchRecorder> recorder_;
  Metrics metrics_;
  Cluster cluster_;
  CanaryService canaries_;
  QueryService queries_;
  bool draining_ = false;
  wire::HttpRouter router_;
  wire::HttpServer http_;
  boost::asio::steady_timer control_timer_;
};

}  // namespace hedgerow::root
