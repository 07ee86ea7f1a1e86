// A leaf, put together: the index, the workers, the links, and a small HTTP side (health, metrics, faults).
//
// One I/O thread (whoever runs the io_context) and the pool's workers.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <filesystem>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "leaf/fault_injector.hpp"
#include "leaf/metrics.hpp"
#include "leaf/session.hpp"
#include "leaf/tie_book.hpp"
#include "leaf/twin_links.hpp"
#include "leaf/worker_pool.hpp"
#include "wire/http_router.hpp"
#include "wire/http_server.hpp"

namespace hedgerow::leaf {

struct Settings {
  std::filesystem::path index;
  std::string name = "leaf";
  std::vector<std::uint32_t> partitions;  // empty: all of the index
  bool no_partitions = false;             // with spelling: a leaf that serves nothing else
  bool spelling = false;
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: one that is free
  std::filesystem::path address_file;
  std::size_t workers = 2;
  std::size_t queue_capacity = 1024;
  std::optional<std::size_t> batch_workers;  // none: as many as workers; 0: the workers do batch work too
  Duration batch_gives_way = std::chrono::milliseconds(20);  // between two of its pieces, while interactive work is there
  bool light_work_here = true;  // on the I/O thread: see work_here
  bool allow_faults = false;
  std::filesystem::path fault_files;  // folder of measured delays that faults may name; empty: they may name none
  Duration idle_time = std::chrono::seconds(1);
  Duration drain_time = std::chrono::seconds(5);
  std::vector<std::string> hosts;
  std::string log_level = "info";
};

class Server {
 public:
  // Opens everything that it will serve once, so that a broken index is found at start.
  // Errors: those of the manifest, the partitions and the spelling dictionary; invalid_argument for a partition that the
  // index does not have, and for a leaf of nothing.
  static result<std::unique_ptr<Server>> create(boost::asio::io_context& io, const Settings& settings);
  ~Server();

  // Errors: io.
  result<boost::asio::ip::tcp::endpoint> listen();
  // Refuses new work, lets the work in progress be answered, closes, and stops the workers.
  boost::asio::awaitable<void> drain();

 private:
  Server(boost::asio::io_context& io, const Settings& settings, Serving serving);
  std::vector<wire::Route> routes();
  boost::asio::awaitable<void> serve_link(std::shared_ptr<wire::Link> link);

  boost::asio::io_context& io_;
  Settings settings_;
  Metrics metrics_;
  WorkerPool pool_;
  FaultInjector faults_;
  TieBook ties_;
  std::shared_ptr<TwinLinks> twins_;
  SessionSetting sessions_setting_;
  std::list<std::shared_ptr<Session>> sessions_;
  wire::HttpRouter router_;
  wire::HttpServer http_;
};

}  // namespace hedgerow::leaf
