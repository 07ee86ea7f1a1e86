// hedgerow-leaf: serves some partitions of an index to roots. A wiring diagram.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <iostream>

#include "base/address_file.hpp"
#include "base/command_line.hpp"
#include "base/log.hpp"
#include "leaf/server.hpp"

namespace {

namespace asio = boost::asio;
using hedgerow::leaf::Server;
using hedgerow::leaf::Settings;

int run(const Settings& settings) {
  asio::io_context io(1);
  auto server = Server::create(io, settings);
  if (server.has_error()) {
    std::cerr << "hedgerow-leaf: " << to_string(server.error()) << "\n";
    return 1;
  }
  const auto endpoint = (*server)->listen();
  if (endpoint.has_error()) {
    std::cerr << "hedgerow-leaf: " << to_string(endpoint.error()) << "\n";
    return 1;
  }
  hedgerow::log_event(hedgerow::LogLevel::info, "listening",
                      {{"name", settings.name}, {"address", settings.address}, {"port", endpoint->port()}});
  if (const auto written = hedgerow::write_address_file(settings.address_file, settings.address, endpoint->port());
      written.has_error()) {
    std::cerr << "hedgerow-leaf: " << to_string(written.error()) << "\n";
    return 1;
  }

  asio::signal_set signals(io, SIGINT, SIGTERM);
  signals.async_wait([&](boost::system::error_code error, int) {
    if (error) return;
    hedgerow::log_event(hedgerow::LogLevel::info, "stopping");
    // Whatever hangs, the process ends: SIGALRM, some seconds after draining should have.
    ::alarm(static_cast<unsigned>(hedgerow::to_seconds(settings.drain_time)) + 5);
    asio::co_spawn(io, (*server)->drain(), [&](std::exception_ptr) { io.stop(); });
  });
  io.run();
  hedgerow::log_event(hedgerow::LogLevel::info, "stopped");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app{"Serves some partitions of an index to roots."};
  app.option_defaults()->always_capture_default();
  app.set_config("--config", "", "Read settings from a TOML file; unknown keys are errors")->check(CLI::ExistingFile);
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.add_option("--index", settings.index, "Directory of the index")->required();
  app.add_option("--name", settings.name, "This leaf's name, as the topology writes it");
  auto* partitions = app.add_option("--partitions", settings.partitions,
                                    "Numbers of the partitions to serve, with commas; all when left out");
  partitions->delimiter(',');
  app.add_flag("--spelling", settings.spelling, "Serve spelling: tell what mistyped words may have meant");
  app.add_flag("--no-partitions", settings.no_partitions, "Serve no partition, with --spelling: a leaf that only spells")
      ->excludes(partitions);
  app.add_option("--address", settings.address, "IP address to listen on");
  app.add_option("--port", settings.port, "Port to listen on; 0: one that is free");
  app.add_option("--address-file", settings.address_file, "File into which address:port is written once the leaf listens");
  app.add_option("--workers", settings.workers, "Threads that search, each with its own handles; all but one do side work too (of one, a second one)")->check(CLI::Range(1, 256));
  app.add_option("--batch-workers", settings.batch_workers,
                 "Threads for batch queries alone, which give way to all others; as many as --workers when left out; 0: the "
                 "workers do batch work too, after the rest")->check(CLI::Range(0, 256));
  hedgerow::add_duration_option(app, "--batch-gives-way", settings.batch_gives_way,
                                "How long they leave between two pieces of batch work while interactive work waits or runs",
                                hedgerow::Duration::zero());
  app.add_option("--queue-capacity", settings.queue_capacity, "Attempts of each service class that may wait; beyond it the leaf refuses")
      ->check(CLI::Range(1, 1'000'000));
  app.add_flag("!--workers-only", settings.light_work_here,
               "Leave light searches to the workers too, in place of doing them on the thread that reads and sends");
  app.add_flag("--allow-faults", settings.allow_faults, "Let faults be injected over HTTP; for laboratories");
  app.add_option("--fault-files", settings.fault_files,
                 "Folder of files with measured delays that faults may name (empirical:FILE); without it they carry them along");
  hedgerow::add_duration_option(app, "--idle-time", settings.idle_time, "A link on which nothing came for this long is given up",
                                std::chrono::milliseconds(10));
  hedgerow::add_duration_option(app, "--drain-time", settings.drain_time, "How long work in progress may take when stopping");
  app.add_option("--allow-host", settings.hosts, "A further host name that requests may be addressed to");
  app.add_option("--log-level", settings.log_level, "debug, info, warning, error, or off")
      ->check(CLI::IsMember({"debug", "info", "warning", "error", "off"}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  hedgerow::start_logging("hedgerow-leaf", settings.log_level);
  try {
    return run(settings);
  } catch (const std::exception& error) {
    std::cerr << "hedgerow-leaf: " << error.what() << "\n";
    return 1;
  }
}
