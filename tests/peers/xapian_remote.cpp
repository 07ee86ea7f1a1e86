// Xapian's own remote backend as a peer: the same documents and terms in as many databases as Hedgerow has partitions,
// one xapian-tcpsrv each, asked by some clients, each with one Xapian::Database over all of them.
//
//   xapian-remote-peer build --corpus NAME --databases N --out DIR
//   xapian-remote-peer load --ports P,P,… --queries FILE --clients C --count N
//
// Every query is answered as Hedgerow answers it: the best 10, with their stored documents. Prints JSON.

#include <xapian.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/histogram.hpp"
#include "base/random.hpp"
#include "corpus/reader.hpp"
#include "index/document_indexer.hpp"
#include "index/stored_document.hpp"

namespace {

using namespace hedgerow;

int build(const std::string& corpus, std::size_t count, const std::filesystem::path& out) {
  auto reader = open_corpus(corpus, {}).value();
  std::vector<Xapian::WritableDatabase> databases;
  for (std::size_t i = 0; i < count; ++i) {
    databases.emplace_back((out / ("database-" + std::to_string(i) + ".parts")).string(), Xapian::DB_CREATE_OR_OVERWRITE);
  }
  DocumentIndexer indexer("english");
  for (;;) {
    const auto next = reader->next();
    if (std::holds_alternative<EndOfCorpus>(next)) break;
    const auto* document = std::get_if<Document>(&next);
    if (!document) continue;
    Xapian::Document indexed = indexer.index(*document);
    indexed.set_data(encode_shown_document(*document));
    databases[stable_hash(document->id) % count].add_document(indexed);
  }
  for (std::size_t i = 0; i < count; ++i) {
    databases[i].commit();
    databases[i].compact((out / ("database-" + std::to_string(i))).string(), Xapian::DBCOMPACT_SINGLE_FILE);
    databases[i].close();
    std::filesystem::remove_all(out / ("database-" + std::to_string(i) + ".parts"));
  }
  return 0;
}

std::vector<std::string> queries_of(const std::string& file) {
  std::ifstream stream(file);
  std::vector<std::string> queries;
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) queries.push_back(line);
  }
  return queries;
}

int load(const std::vector<unsigned>& ports, const std::string& file, std::size_t clients, std::size_t count) {
  const auto queries = queries_of(file);
  std::atomic<std::size_t> next = 0, hits = 0;
  std::vector<Histogram> latencies(clients, Histogram(60'000'000));
  const auto started = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (std::size_t client = 0; client < clients; ++client) {
    threads.emplace_back([&, client] {
      Xapian::Database all;
      for (const unsigned port : ports) all.add_database(Xapian::Remote::open("127.0.0.1", port, 0, 10'000));
      Xapian::QueryParser parser;
      parser.set_stemmer(Xapian::Stem("english"));
      parser.set_stemming_strategy(Xapian::QueryParser::STEM_SOME);
      for (std::size_t i = next++; i < count; i = next++) {
        const auto before = std::chrono::steady_clock::now();
        Xapian::Enquire enquire(all);
        enquire.set_query(parser.parse_query(queries[i % queries.size()]));
        const Xapian::MSet matches = enquire.get_mset(0, 10);
        matches.fetch();
        for (auto match = matches.begin(); match != matches.end(); ++match) {
          const auto stored = decode_shown_document(match.get_document().get_data());
          if (stored.has_value()) ++hits;
        }
        const auto took = std::chrono::steady_clock::now() - before;
        latencies[client].record(
            static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(took).count()));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
  for (std::size_t i = 1; i < clients; ++i) latencies[0].merge(latencies[i]);
  const auto milliseconds = [&](double quantile) {
    return static_cast<double>(latencies[0].value_at_quantile(quantile)) / 1000;
  };
  std::cout << nlohmann::json{{"queries", count},
                              {"hits", hits.load()},
                              {"queries_per_second", static_cast<double>(count) / seconds.count()},
                              {"p50_ms", milliseconds(0.5)},
                              {"p99_ms", milliseconds(0.99)}}
            << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Xapian's remote backend, asked as Hedgerow is"};
  app.require_subcommand(1);
  std::string corpus, out, file;
  std::size_t databases = 16, clients = 1, count = 1000;
  std::vector<unsigned> ports;
  auto& building = *app.add_subcommand("build", "Build the databases");
  building.add_option("--corpus", corpus)->required();
  building.add_option("--databases", databases);
  building.add_option("--out", out)->required();
  auto& loading = *app.add_subcommand("load", "Ask");
  loading.add_option("--ports", ports)->delimiter(',')->required();
  loading.add_option("--queries", file)->required();
  loading.add_option("--clients", clients);
  loading.add_option("--count", count);
  CLI11_PARSE(app, argc, argv);
  try {
    return building.parsed() ? build(corpus, databases, out) : load(ports, file, clients, count);
  } catch (const Xapian::Error& error) {
    std::cerr << "xapian-remote-peer: " << error.get_description() << "\n";
  } catch (const std::exception& error) {
    std::cerr << "xapian-remote-peer: " << error.what() << "\n";
  }
  return 1;
}
