// hedgerow-root: takes queries over HTTP and answers them from its leaves. A wiring diagram.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <iostream>
#include <random>

#include "base/address_file.hpp"
#include "base/command_line.hpp"
#include "base/log.hpp"
#include "root/policy_words.hpp"
#include "root/server.hpp"

namespace {

namespace asio = boost::asio;
using hedgerow::add_duration_option;
using hedgerow::log_event;
using hedgerow::LogLevel;
using hedgerow::root::Server;
using hedgerow::root::Settings;

int fail(const hedgerow::Error& error) {
  std::cerr << "hedgerow-root: " << to_string(error) << "\n";
  return 1;
}

void reload_on_hangup(asio::signal_set& hangup, Server& server) {
  hangup.async_wait([&](boost::system::error_code error, int) {
    if (error) return;
    server.reload();
    reload_on_hangup(hangup, server);
  });
}

// An option for a choice among policies, by its words; checked when the command line is read.
template <class Choice>
void add_choice(CLI::App& app, const std::string& name, Choice& target, hedgerow::result<Choice> (*parse)(std::string_view),
                const std::string& shown, const std::string& help) {
  app.add_option_function<std::string>(
         name,
         [&target, name, parse](const std::string& text) {
           auto parsed = parse(text);
           if (parsed.has_error()) throw CLI::ValidationError(name, parsed.error().context);
           target = *parsed;
         },
         help)
      ->default_str(shown);
}

void add_policy_options(CLI::App& app, Settings& settings) {
  namespace root = hedgerow::root;
  auto& hedge = settings.policies.hedge;
  auto& replica_choice = settings.policies.replica_choice;
  add_choice(app, "--default-hedge", settings.defaults.hedge, root::parse_hedge, root::to_text(settings.defaults.hedge),
             "Hedging of queries that do not say: auto, off, a quantile such as p95, or a delay such as 10ms");
  add_choice(app, "--default-tied", settings.defaults.tied, root::parse_switch, "off",
             "Tied requests for queries that do not say: on or off");
  add_choice(app, "--default-canary", settings.defaults.canary, root::parse_canary,
             std::string(root::to_string(settings.defaults.canary)), "Canaries of queries that do not say: auto, always or off");
  app.add_option("--hedge-budget-fill", hedge.budget_fill, "Hedges in the long run, as a share of the primary attempts")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--hedge-budget-depth", hedge.budget_depth, "Hedges that can be saved up for a burst")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--most-hedges", hedge.most_hedges, "Hedges of one partition of a query, at most")->check(CLI::Range(0, 16));
  app.add_option("--hedge-target-quantile", hedge.target_quantile, "The quantile of queries' latencies that automatic hedging makes small")
      ->check(CLI::Range(0.5, 0.99999));
  add_duration_option(app, "--shortest-hedge-delay", hedge.shortest_delay, "No automatic hedge sooner than this",
                      std::chrono::microseconds(1));
  add_choice(app, "--hedge-brakes", hedge.brakes, root::parse_hedge_brakes, "on",
             "Whether shared slowness, refusals and busy leaves stop hedging: on or off (for comparison)");
  add_choice(app, "--replica-choice", replica_choice.mode, root::parse_replica_choice,
             std::string(to_string(replica_choice.mode)), "How a partition's replica is chosen: prequal, least-in-flight or random");
}

void add_canary_options(CLI::App& app, hedgerow::policy::CanariesSettings& canaries) {
  add_duration_option(app, "--quarantine-time", canaries.quarantine.time,
                      "For how long a query is refused that took leaves down; each further time twice as long",
                      std::chrono::milliseconds(1));
  add_duration_option(app, "--longest-quarantine-time", canaries.quarantine.longest_time, "And never longer than this",
                      std::chrono::milliseconds(1));
  add_duration_option(app, "--canary-hang-time", canaries.canary.hang_time,
                      "A canary whose leaf says nothing for so long after its time was over counts as hanging",
                      std::chrono::milliseconds(10));
  app.add_option("--most-safe-queries", canaries.quarantine.most_safe, "Queries that are remembered as safe, and need no canary")
      ->check(CLI::Range(1, 100'000'000));
}

int run(const Settings& settings) {
  asio::io_context io(1);
  auto server = Server::create(io, settings);
  if (server.has_error()) return fail(server.error());
  const auto endpoint = (*server)->listen();
  if (endpoint.has_error()) return fail(endpoint.error());
  log_event(LogLevel::info, "listening",
            {{"address", settings.address}, {"port", endpoint->port()}, {"seed", settings.seed}});
  if (const auto written = hedgerow::write_address_file(settings.address_file, settings.address, endpoint->port());
      written.has_error()) {
    return fail(written.error());
  }

  asio::signal_set hangup(io, SIGHUP);
  reload_on_hangup(hangup, **server);
  asio::signal_set stop(io, SIGINT, SIGTERM);
  stop.async_wait([&](boost::system::error_code error, int) {
    if (error) return;
    log_event(LogLevel::info, "stopping");
    // Whatever hangs, the process ends: SIGALRM, some seconds after draining should have.
    ::alarm(static_cast<unsigned>(hedgerow::to_seconds(settings.drain_time)) + 5);
    hangup.cancel();
    asio::co_spawn(io, (*server)->drain(), [&](std::exception_ptr) { io.stop(); });
  });
  io.run();
  log_event(LogLevel::info, "stopped");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app{"Takes queries over HTTP and answers them from its leaves."};
  app.option_defaults()->always_capture_default();
  app.set_config("--config", "", "Read settings from a TOML file; unknown keys are errors")->check(CLI::ExistingFile);
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.add_option("--index", settings.index, "Directory of the index; the root reads manifest and statistics")->required();
  app.add_option("--topology", settings.topology, "JSON file that names the leaves; read again on SIGHUP")->required();
  app.add_option("--synonyms", settings.synonyms, "File with synonyms; read again on SIGHUP");
  app.add_option("--address", settings.address, "IP address to listen on");
  app.add_option("--port", settings.port, "Port to listen on; 0: one that is free");
  app.add_option("--address-file", settings.address_file, "File into which address:port is written once the root listens");
  add_duration_option(app, "--default-deadline", settings.defaults.deadline, "Deadline of queries that name none",
                      std::chrono::milliseconds(1));
  add_policy_options(app, settings);
  add_canary_options(app, settings.canaries);
  auto& admission = settings.admission;
  app.add_option("--admission", [&](const CLI::results_t& words) {
       admission.limit.adaptive = words.front() == "adaptive";
       return words.front() == "adaptive" || words.front() == "fixed";
     }, "Whether the limit of interactive queries in flight is felt for (adaptive), or always the most (fixed)")
      ->default_str("adaptive");
  app.add_option("--most-queries", admission.limit.most, "Interactive queries in flight, at most; beyond the limit they wait, or are refused with 503")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--least-queries", admission.limit.least, "What the limit of interactive queries in flight never falls below")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--most-batch-queries", admission.most_batch, "Batch queries in flight, at most")->check(CLI::Range(1, 1'000'000));
  app.add_option("--most-waiting", admission.most_waiting, "Queries of each class that may wait to be let in; 0: none waits")
      ->check(CLI::Range(0, 1'000'000));
  app.add_option("--narrowest-fanout", admission.narrowest,
                 "Share of the partitions asked for that is still asked under overload, before queries are refused; 1: all")
      ->check(CLI::Range(0.01, 1.0));
  app.add_option("--cache-bytes", settings.cache_bytes, "Bytes of complete answers that are kept for who asks the same; 0: none");
  app.add_option("--titles-with-hits", settings.titles_with_hits,
                 "A hit brings its title whose chance to be one of the answer's is at least this; above 1: all titles are fetched afterwards")
      ->check(CLI::Range(0.0, 2.0));
  app.add_option("--most-connections", settings.most_connections, "Open connections; beyond it the root refuses with 503")
      ->check(CLI::Range(1, 1'000'000));
  add_duration_option(app, "--link-idle-time", settings.link_idle_time,
                      "A leaf from which nothing came for this long, not even a pong, is given up",
                      std::chrono::milliseconds(10));
  add_duration_option(app, "--link-connect-time", settings.link_connect_time, "How long connecting to a leaf may take",
                      std::chrono::milliseconds(10));
  add_duration_option(app, "--longest-reconnect-pause", settings.longest_reconnect_pause,
                      "Between two tries to connect to a leaf, at most", std::chrono::milliseconds(10));
  app.add_option("--unanswered-bytes", settings.unanswered_bytes,
                 "Bytes of calls that one leaf may leave unanswered; beyond it the link is closed");
  add_duration_option(app, "--drain-time", settings.drain_time, "How long queries in progress may take when stopping");
  app.add_option("--allow-host", settings.hosts, "A further host name that requests may be addressed to");
  app.add_option("--seed", settings.seed, "Seed of every choice by chance; 0: picked at start, and logged");
  app.add_option("--record", settings.record, "Write what the search policies are told and decide into this file (hedgerow-lab replay)");
  app.add_option("--record-bytes", settings.record_bytes, "The recording ends at this size")->check(CLI::Range(std::uint64_t{1} << 10, std::uint64_t{1} << 40));
  app.add_option("--log-level", settings.log_level, "debug, info, warning, error, or off")
      ->check(CLI::IsMember({"debug", "info", "warning", "error", "off"}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  hedgerow::start_logging("hedgerow-root", settings.log_level);
  settings.tie_nonce = std::random_device{}() + (std::uint64_t{std::random_device{}()} << 32);
  if (settings.seed == 0) settings.seed = std::random_device{}() + std::uint64_t{1};
  try {
    return run(settings);
  } catch (const std::exception& error) {
    std::cerr << "hedgerow-root: " << error.what() << "\n";
    return 1;
  }
}
