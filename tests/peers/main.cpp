// hedgerow-peers: what scripts/bench measures Hedgerow, the engine below it and other search servers with. This file is the
// command line alone.
//
//   queries       draw queries from a collection
//   build-xapian  build Xapian's databases of it            sphinx-shard  write what Sphinx's indexer reads of a shard
//   load          put load on an engine, print JSON         answers       which documents an engine finds, as JSON
//   table         the results of all rounds as Markdown
//   delay-proxy   make a server slow on demand              ports         name some that are free

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "base/command_line.hpp"
#include "corpus/reader.hpp"
#include "lab/load.hpp"
#include "tests/peers/building.hpp"
#include "tests/peers/delay_proxy.hpp"
#include "tests/peers/engines.hpp"
#include "tests/peers/free_ports.hpp"
#include "tests/peers/load.hpp"
#include "tests/peers/queries.hpp"
#include "tests/peers/table.hpp"

namespace {

using namespace hedgerow;
using namespace hedgerow::peers;

struct Arguments {
  std::string corpus, label, command;
  std::filesystem::path directory, queries;
  std::size_t count = 2000, shard = 0, shards = 16;
  std::uint64_t seed = 1;
  std::uint16_t first_port = 21000;
  EngineSettings engine;
  std::vector<std::string> parameters, facts;
  LoadSettings load;
  LoadRun run;
  DelayProxySettings proxy;
};

std::unique_ptr<Reader> corpus_of(const Arguments& arguments) { return open_corpus(arguments.corpus, {}).value(); }

result<std::unique_ptr<Engine>> engine_of(Arguments& arguments) {
  for (const auto& parameter : arguments.parameters) {
    const auto equals = parameter.find('=');
    if (equals == std::string::npos) throw std::runtime_error("'" + parameter + "' is no name=value");
    arguments.engine.parameters.emplace_back(parameter.substr(0, equals), parameter.substr(equals + 1));
  }
  return make_engine(arguments.engine);
}

int draw_queries(const Arguments& arguments) {
  QuerySample sample(arguments.count, arguments.seed);
  for_each_document(*corpus_of(arguments), [&](const Document& document) { sample.see(document); });
  for (const auto& query : sample.queries()) std::cout << query << "\n";
  return 0;
}

int load(Arguments& arguments) {
  auto& settings = arguments.load;
  settings.queries = lab::read_queries(arguments.queries).value();
  if (!arguments.command.empty()) {
    settings.after_warm_up = [&] {
      if (const int status = std::system(arguments.command.c_str()); status != 0) {
        std::cerr << "hedgerow-peers: '" << arguments.command << "' ended with status " << status << "\n";
      }
    };
  }
  arguments.run.rate = settings.rate;
  arguments.run.engine = arguments.label.empty() ? arguments.engine.kind : arguments.label;
  const auto engine = engine_of(arguments);
  // An engine that cannot be had has failed like one that answers nothing.
  LoadResult result;
  if (engine) {
    result = run_load(**engine, settings).value();
  } else {
    result.measured.record(engine.error(), {});
  }
  std::cout << to_json(arguments.run, result.json()).dump(1) << "\n";
  return 0;
}

int find_answers(Arguments& arguments) {
  const auto queries = lab::read_queries(arguments.queries).value();
  const auto engine = engine_of(arguments).value();
  const auto client = engine->client();
  FoundIds found{arguments.label.empty() ? arguments.engine.kind : arguments.label, {}};
  for (std::size_t i = 0; i < std::min(arguments.count, queries.size()); ++i) {
    auto answer = client->ask(queries[i], Want::ids);
    found.answers.push_back(answer ? std::optional(std::move(answer->ids)) : std::nullopt);
  }
  std::cout << to_json(found).dump() << "\n";
  return 0;
}

int name_ports(const Arguments& arguments) {
  const auto ports = free_ports(arguments.count, arguments.first_port);
  if (ports.size() < arguments.count) throw std::runtime_error("there are not so many free ports");
  for (const auto port : ports) std::cout << port << "\n";
  return 0;
}

void add_engine_options(CLI::App& command, Arguments& arguments) {
  auto& engine = arguments.engine;
  command.add_option("--engine", engine.kind, "Which one")->required()->check(CLI::IsMember(engine_kinds()));
  command.add_option("--label", arguments.label, "Its name in the results (default: the same)");
  command.add_option("--index", engine.index, "in-process: the directory that hedgerow-index wrote");
  command.add_option("--database", engine.databases, "xapian: a database (may be repeated)");
  command.add_option("--port", engine.ports, "xapian-remote: the servers' ports; sphinx: that of the one to ask")->delimiter(',');
  command.add_option("--sphinx-index", engine.sphinx.index, "sphinx: the distributed index")->capture_default_str();
  command.add_option("--max-matches", engine.sphinx.most_matches, "sphinx: so many hits every agent sends")->capture_default_str();
  command.add_option("--target", engine.target, "hedgerow: the root's address");
  command.add_option("--param", arguments.parameters, "hedgerow: of each query, name=value (may be repeated)");
  command.add_option("--queries", arguments.queries, "A file of queries, one a line")->required();
}

void add_load(CLI::App& app, Arguments& arguments, int& status) {
  auto& command = *app.add_subcommand("load", "Put load on an engine, and print what came of it as JSON");
  add_engine_options(command, arguments);
  auto& settings = arguments.load;
  command.add_option("--clients", settings.clients, "Threads, with a client each")->check(CLI::Range(1, 1000))->capture_default_str();
  add_duration_option(command, "--warm-up", settings.warm_up, "Not measured");
  add_duration_option(command, "--duration", settings.duration, "How long is measured");
  command.add_option("--count", settings.count, "Closed loop: no more queries than that; 0: as many as there is time for")->capture_default_str();
  command.add_option("--rate", settings.rate, "Open loop: queries a second; 0: closed loop")->check(CLI::Range(0.0, 1e6))->capture_default_str();
  add_duration_option(command, "--settling", settings.settling, "Open loop: told apart, between warm-up and what is measured");
  command.add_option("--after-warm-up", arguments.command, "Open loop: a shell command for that moment");
  command.add_option("--seed", settings.seed, "Of the arrivals")->capture_default_str();
  command.add_option("--part", arguments.run.part, "The part of the benchmark, for the results");
  command.add_option("--round", arguments.run.round, "The round, for the results")->capture_default_str();
  command.callback([&] { status = load(arguments); });
}

void add_building(CLI::App& app, Arguments& arguments, int& status) {
  auto& queries = *app.add_subcommand("queries", "Draw queries from the documents of a collection, one a line");
  queries.add_option("--count", arguments.count, "So many")->capture_default_str();
  queries.add_option("--seed", arguments.seed, "Of chance")->capture_default_str();
  queries.callback([&] { status = draw_queries(arguments); });
  auto& xapian = *app.add_subcommand("build-xapian", "Build Xapian's databases of a collection: DIR/database-0 and on");
  xapian.add_option("--databases", arguments.shards, "So many")->check(CLI::Range(1, 10'000))->capture_default_str();
  xapian.add_option("--out", arguments.directory, "An existing directory")->required();
  xapian.callback([&] { build_xapian(*corpus_of(arguments), arguments.shards, arguments.directory); });
  auto& sphinx = *app.add_subcommand("sphinx-shard", "Write what Sphinx's indexer reads of one shard of a collection (xmlpipe2)");
  sphinx.add_option("--shard", arguments.shard, "Which, from 0")->required();
  sphinx.add_option("--shards", arguments.shards, "Of so many")->check(CLI::Range(1, 10'000))->capture_default_str();
  sphinx.callback([&] { write_sphinx_shard(*corpus_of(arguments), arguments.shard, arguments.shards, std::cout); });
  for (auto* command : {&queries, &xapian, &sphinx}) command->add_option("--corpus", arguments.corpus, "As hedgerow-index takes it")->required();
}

void add_rest(CLI::App& app, Arguments& arguments, int& status) {
  auto& answers = *app.add_subcommand("answers", "Print the ids that an engine finds for the first queries, as JSON");
  add_engine_options(answers, arguments);
  answers.add_option("--count", arguments.count, "How many queries")->capture_default_str();
  answers.callback([&] { status = find_answers(arguments); });
  auto& table = *app.add_subcommand("table", "The results of all rounds as Markdown");
  table.add_option("--results", arguments.directory, "The directory with what load and answers printed, *.json")->required();
  table.add_option("--fact", arguments.facts, "What the reader should know: the machine, versions (may be repeated)");
  table.callback([&] { std::cout << comparison_markdown(read_results(arguments.directory).value(), arguments.facts); });
  auto& proxy = *app.add_subcommand("delay-proxy", "A server's answers, later by so much after SIGUSR1, and at once again after SIGUSR2");
  proxy.add_option("--listen", arguments.proxy.listen, "The port on 127.0.0.1")->required();
  proxy.add_option("--server", arguments.proxy.server, "The server's port on 127.0.0.1")->required();
  add_duration_option(proxy, "--delay", arguments.proxy.delay, "How much later");
  proxy.callback([&] { status = run_delay_proxy(arguments.proxy); });
  auto& ports = *app.add_subcommand("ports", "Name ports on 127.0.0.1 that are free");
  ports.add_option("count", arguments.count, "How many")->required();
  ports.add_option("--from", arguments.first_port, "The first to try")->capture_default_str();
  ports.callback([&] { status = name_ports(arguments); });
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app("Hedgerow beside the engine below it and other search servers.", "hedgerow-peers");
  app.require_subcommand(1);
  Arguments arguments;
  int status = 0;
  add_load(app, arguments, status);
  add_building(app, arguments, status);
  add_rest(app, arguments, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::cerr << "hedgerow-peers: " << error.what() << "\n";
    return 1;
  }
  return status;
}
