#include "index/commands.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "base/steady_clock.hpp"
#include "corpus/reader.hpp"
#include "index/build_progress.hpp"
#include "index/builder.hpp"
#include "index/local_search.hpp"
#include "index/reports.hpp"
#include "index/synonyms.hpp"
#include "index/verify.hpp"

namespace hedgerow {

namespace {

constexpr int exit_well = 0;
constexpr int exit_failure = 1;
constexpr int exit_bad_arguments = 2;

// The host: the only place of this program that reads the clock.

int fail(const Error& error) {
  std::fprintf(stderr, "hedgerow-index: %s\n", to_string(error).c_str());
  return error.code == Errc::invalid_argument ? exit_bad_arguments : exit_failure;
}

struct Output {
  bool json = false;

  bool as_json() const { return json || ::isatty(STDOUT_FILENO) == 0; }
  void print(const ordered_json& value, std::string (*table)(const ordered_json&)) const {
    const std::string text =
        as_json() ? value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n" : table(value);
    std::fputs(text.c_str(), stdout);
  }
};

struct BuildArguments {
  std::string corpus;
  CorpusSettings corpus_settings;
  BuildSettings settings;
};

int build(const BuildArguments& arguments, const Output& output) {
  auto reader = open_corpus(arguments.corpus, arguments.corpus_settings);
  if (!reader) return fail(reader.error());
  const Instant start = clock_now();
  BuildProgressPrinter printer(start, ::isatty(STDERR_FILENO) != 0);
  BuildObserver observer;
  observer.progress = [&](const BuildProgress& progress) { printer.progress(progress, clock_now()); };
  if (arguments.settings.on_read_error == OnReadError::skip) {
    observer.read_error = [&](const ReadError& error) { printer.read_error(error); };
  }
  BuildSettings settings = arguments.settings;
  settings.collection = arguments.corpus;
  const auto manifest = build_index(**reader, settings, observer);
  printer.end();
  if (!manifest) return fail(manifest.error());

  const ReadProgress read = (*reader)->progress();
  const double seconds = to_seconds(clock_now() - start);
  for (const std::string& note : (*reader)->notes()) std::fprintf(stderr, "note: %s\n", note.c_str());
  std::fprintf(stderr, "built generation %llu: %s documents in %.1f s (%s/s), %s skipped\n",
               static_cast<unsigned long long>(manifest->generation.value), with_thousands(manifest->documents).c_str(),
               seconds, with_thousands(static_cast<std::uint64_t>(static_cast<double>(manifest->documents) / seconds)).c_str(),
               with_thousands(read.errors).c_str());
  ordered_json summary = manifest_summary_json(settings.directory, *manifest);
  summary["skipped"] = read.errors;
  summary["took_seconds"] = seconds;
  output.print(summary, manifest_summary_table);
  return exit_well;
}

struct SearchArguments {
  std::filesystem::path directory;
  std::string query;
  std::string like;  // an id; empty: the query is searched for
  std::string synonyms_file;
  std::uint32_t k = 10;
  std::uint32_t offset = 0;
  bool snippets = false;
  std::vector<std::string> facets;  // {"auto"}: those of categories
};

std::vector<std::string> facets_asked(const SearchArguments& arguments, const Manifest& manifest) {
  if (arguments.facets != std::vector<std::string>{"auto"}) return arguments.facets;
  std::vector<std::string> names;
  for (const FacetField& field : manifest.facets) {
    if (field.kind == fields::ValueKind::category) names.push_back(field.name);
  }
  return names;
}

int search(const SearchArguments& arguments, const Output& output) {
  PlanSettings settings;
  std::optional<Synonyms> synonyms;
  if (!arguments.synonyms_file.empty()) {
    const auto manifest = read_manifest(arguments.directory);
    if (!manifest) return fail(manifest.error());
    auto loaded = Synonyms::load(arguments.synonyms_file, manifest->stemmer);
    if (!loaded) return fail(loaded.error());
    settings.synonyms = &synonyms.emplace(std::move(*loaded));
  }
  auto index = LocalSearch::open(arguments.directory, settings);
  if (!index) return fail(index.error());
  const Instant start = clock_now();
  const auto answer = arguments.like.empty() ? index->search(arguments.query, arguments.k, arguments.offset)
                                             : index->search_similar(arguments.like, arguments.k, arguments.offset);
  if (!answer) return fail(answer.error());
  const Duration took = clock_now() - start;
  const auto documents = index->fetch(answer->hits);
  if (!documents) return fail(documents.error());
  for (const auto& note : answer->notes) std::fprintf(stderr, "note: %s\n", note.c_str());
  auto report = search_answer_json(*answer, *documents, arguments.offset, index->manifest(), took);
  if (arguments.snippets) {
    auto snippets = index->snippets(*answer);
    if (!snippets) return fail(snippets.error());
    add_snippets(report, std::move(*snippets));
  }
  if (!arguments.facets.empty()) {
    const auto names = facets_asked(arguments, index->manifest());
    const auto facets = index->facets(*answer, names);
    if (!facets) return fail(facets.error());
    add_facets(report, names, *facets);
  }
  output.print(report, search_answer_table);
  return exit_well;
}

int verify(const std::filesystem::path& directory, const Output& output) {
  const auto report = verify_index(directory);
  if (!report) return fail(report.error());
  output.print(verify_json(*report), verify_table);
  if (report->problems.empty()) return exit_well;
  std::fprintf(stderr, "hedgerow-index: %s: %s\n", directory.c_str(), report->problems.front().c_str());
  return exit_failure;
}

int stats(const std::filesystem::path& directory, const Output& output) {
  const auto manifest = read_manifest(directory);
  if (!manifest) return fail(manifest.error());
  output.print(manifest_summary_json(directory, *manifest), manifest_summary_table);
  return exit_well;
}

CLI::App* add_command(CLI::App& app, const char* name, const char* what, Output& output) {
  CLI::App* command = app.add_subcommand(name, what);
  command->add_flag("--json", output.json, "JSON also on a terminal (a pipe gets it in any case)");
  return command;
}

}  // namespace

int run_index_command(int argc, char** argv) {
  CLI::App app{"Builds, searches, checks and describes a Hedgerow index."};
  app.require_subcommand(1);
  Output output;
  std::filesystem::path directory;

  BuildArguments arguments;
  CLI::App* build_command = add_command(app, "build", "Build an index, or the next generation of one", output);
  build_command->add_option("--corpus", arguments.corpus, "What to index:\n" + corpus_names())->required();
  build_command->add_option("--out", arguments.settings.directory, "The index directory")->required();
  build_command->add_option("--partitions", arguments.settings.partitions, "How many pieces to cut it into")
      ->check(CLI::Range(1u, BuildSettings::most_partitions))
      ->capture_default_str();
  build_command->add_option("--on-error", arguments.settings.on_read_error, "A record that cannot be read: skip or stop")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, OnReadError>{{"skip", OnReadError::skip}, {"stop", OnReadError::stop}}))
      ->default_str("skip");
  build_command->add_option("--memory", arguments.settings.memory_bytes, "Goal for the memory used, 1GiB")
      ->transform(CLI::AsSizeValue(false));
  build_command->add_option("--stemmer", arguments.settings.stemmer, "A Xapian stemmer language, or none")
      ->capture_default_str();
  build_command->add_option("--title-weight", arguments.settings.title_weight, "How often a word of the title counts")
      ->check(CLI::Range(1u, Manifest::most_title_weight))
      ->capture_default_str();
  build_command->add_option("--k1", arguments.settings.bm25.k1, "BM25: how slowly further occurrences stop counting")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str();
  build_command->add_option("--b", arguments.settings.bm25.b, "BM25: how much a document's length counts")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  build_command->add_option("--threads", arguments.settings.threads, "Worker threads (0: one per core)")
      ->check(CLI::Range(0u, 1024u))
      ->capture_default_str();
  build_command->add_option("--seed", arguments.corpus_settings.seed, "Seed of a synthetic collection")
      ->capture_default_str();
  std::vector<std::string> apt_lists;
  build_command->add_option("--apt-lists", apt_lists, "Folder with apt lists, for debian (repeatable)");

  SearchArguments search_arguments;
  CLI::App* search_command = add_command(app, "search", "Search the whole index in this process", output);
  search_command->add_option("directory", search_arguments.directory, "The index directory")->required();
  auto* query_option = search_command->add_option(
      "query", search_arguments.query,
      "Words, \"phrases\", begin*, +must, -not, AND, OR, NOT, title:word, facet:value, facet:1..2");
  auto* like_option = search_command->add_option("--like", search_arguments.like,
                                                 "Instead of a query: what is like the document with this id");
  query_option->excludes(like_option);
  search_command->add_option("--synonyms", search_arguments.synonyms_file, "A file of synonyms (docs/operations.md)");
  search_command->add_option("-k", search_arguments.k, "How many hits")
      ->check(CLI::Range(0u, 10'000u))
      ->capture_default_str();
  search_command->add_option("--offset", search_arguments.offset, "Skip so many hits first")
      ->check(CLI::Range(0u, LocalSearch::deepest_rank - 10'000))
      ->capture_default_str();
  search_command->add_flag("--snippets", search_arguments.snippets, "Show the passages that the hits match by");
  search_command
      ->add_option("--facets", search_arguments.facets, "Count facet values: names with commas, or auto (categories)")
      ->delimiter(',')
      ->allow_extra_args(false);

  CLI::App* verify_command = add_command(app, "verify", "Check every checksum and count", output);
  verify_command->add_option("directory", directory, "The index directory")->required();
  CLI::App* stats_command = add_command(app, "stats", "Describe the index", output);
  stats_command->add_option("directory", directory, "The index directory")->required();

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_well : exit_bad_arguments;
  }

  if (!apt_lists.empty()) arguments.corpus_settings.apt_list_folders = apt_lists;
  if (build_command->parsed()) return build(arguments, output);
  if (search_command->parsed()) {
    if (query_option->count() == 0 && like_option->count() == 0) {
      return fail({Errc::invalid_argument, "search needs a query, or --like with the id of a document"});
    }
    return search(search_arguments, output);
  }
  if (verify_command->parsed()) return verify(directory, output);
  return stats(directory, output);
}

}  // namespace hedgerow
