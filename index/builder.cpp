#include "index/builder.hpp"

#include <xapian.h>

#include <algorithm>
#include <thread>

#include "index/build_worker.hpp"
#include "index/engine_error.hpp"
#include "index/generation.hpp"
#include "index/guard.hpp"
#include "index/lookup.hpp"
#include "index/spelling_writer.hpp"
#include "index/statistics_writer.hpp"

namespace hedgerow {

namespace {

constexpr std::uint64_t documents_between_reports = 256;

result<void> check(const BuildSettings& settings) {
  if (settings.partitions < 1 || settings.partitions > BuildSettings::most_partitions) {
    return Error{Errc::invalid_argument, "partitions: from 1 to " + std::to_string(BuildSettings::most_partitions)};
  }
  if (settings.memory_bytes < BuildSettings::smallest_memory) {
    return Error{Errc::invalid_argument,
                 "memory: at least " + std::to_string(BuildSettings::smallest_memory >> 20) + " MiB"};
  }
  if (settings.title_weight < 1 || settings.title_weight > Manifest::most_title_weight) {
    return Error{Errc::invalid_argument,
                 "title weight: from 1 to " + std::to_string(Manifest::most_title_weight)};
  }
  if (const char* wrong = what_is_wrong_with(settings.bm25)) return Error{Errc::invalid_argument, wrong};
  try {
    Xapian::Stem{settings.stemmer};
  } catch (const Xapian::Error&) {
    return Error{Errc::invalid_argument, "stemmer: '" + settings.stemmer + "' is none of: none " +
                                             Xapian::Stem::get_available_languages()};
  }
  return {};
}

using Workers = std::vector<std::unique_ptr<BuildWorker>>;

Workers start_workers(const BuildSettings& settings, const GenerationBuild& build, BuildWorkerNews& news) {
  const unsigned cores = settings.threads > 0 ? settings.threads : std::max(1u, std::thread::hardware_concurrency());
  const std::uint32_t count = std::min<std::uint32_t>(cores, settings.partitions);
  constexpr std::uint64_t most_batch_bytes = 256 << 10;
  const std::uint64_t for_documents = settings.memory_bytes / 8;
  const BuildWorkerSettings worker_settings{.folder = build.folder(),
                                            .stemmer = settings.stemmer,
                                            .title_weight = settings.title_weight,
                                            .generation = build.generation(),
                                            .partitions = settings.partitions,
                                            .queue_bytes = for_documents / 2 / count,
                                            .batch_bytes = std::min(for_documents / 2 / settings.partitions,
                                                                    most_batch_bytes),
                                            .partition_bytes = (settings.memory_bytes - for_documents) /
                                                               settings.partitions};
  Workers workers;
  for (std::uint32_t worker = 0; worker < count; ++worker) {
    std::vector<PartitionId> own;
    for (std::uint32_t p = worker; p < settings.partitions; p += count) own.emplace_back(p);
    workers.push_back(std::make_unique<BuildWorker>(worker_settings, std::move(own), news));
  }
  return workers;
}

// Hands every document to the worker of its partition. Returns how many there were, or the reason of a worker that has
// failed meanwhile.
result<std::uint64_t> read_all(Reader& reader, const BuildSettings& settings, const BuildObserver& observer,
                               Workers& workers) {
  std::uint64_t documents = 0;
  for (;;) {
    ReadOutcome outcome = reader.next();
    if (std::holds_alternative<EndOfCorpus>(outcome)) break;
    if (const auto* error = std::get_if<ReadError>(&outcome)) {
      observer.read_error(*error);
      if (error->fatal || settings.on_read_error == OnReadError::stop) return Error{Errc::input, to_string(*error)};
      continue;
    }
    if (documents == guard::most_documents) return Error{Errc::too_large, "more documents than an index can number"};
    ++documents;
    NumberedDocument next{DocumentNumber{static_cast<std::uint32_t>(documents)},
                          std::move(std::get<Document>(outcome))};
    const PartitionId partition = partition_of(next.document.id, settings.partitions);
    BuildWorker& worker = *workers[partition.value % workers.size()];
    if (!worker.add(std::move(next))) return worker.wait().error();
    if (documents % documents_between_reports == 0) {
      observer.progress({.phase = BuildPhase::reading, .read = reader.progress()});
    }
  }
  return documents;
}

result<BuiltPartitions> wait_for(Workers& workers, BuildWorkerNews& news, const BuildObserver& observer,
                                 BuildProgress progress) {
  for (;;) {
    const std::uint32_t seen = news.changes.load();
    progress.partitions_finished = news.partitions_finished.load();
    observer.progress(progress);
    if (news.workers_ended.load() == workers.size()) break;
    news.changes.wait(seen);
  }
  BuiltPartitions built;
  for (auto& worker : workers) {
    auto finished = worker->wait();
    if (!finished) return finished.error();
    built.partitions.merge(finished->partitions);
    if (const auto merged = built.facets.merge(finished->facets); !merged) return merged.error();
  }
  return built;
}

result<Manifest> build(Reader& reader, const BuildSettings& settings, const BuildObserver& observer) {
  auto build = GenerationBuild::begin(settings.directory);
  if (!build) return build.error();

  BuildWorkerNews news;
  Workers workers = start_workers(settings, *build, news);
  const auto documents = read_all(reader, settings, observer, workers);
  if (!documents) return documents.error();
  if (*documents == 0) return Error{Errc::input, settings.collection + ": no documents"};

  BuildProgress progress{.phase = BuildPhase::finishing, .read = reader.progress()};
  progress.partitions = settings.partitions;
  for (auto& worker : workers) worker->finish(*documents);
  auto built = wait_for(workers, news, observer, progress);
  if (!built) return built.error();
  auto facets = built->facets.fields();
  if (!facets) return facets.error();

  Manifest manifest;
  manifest.collection = settings.collection;
  manifest.generation = build->generation();
  manifest.stemmer = settings.stemmer;
  manifest.title_weight = settings.title_weight;
  manifest.bm25 = settings.bm25;
  manifest.facets = std::move(*facets);
  std::vector<std::filesystem::path> files;
  for (auto& [partition, info] : built->partitions) {
    files.push_back(settings.directory / info.file);
    manifest.documents += info.documents;
    manifest.total_length += info.total_length;
    manifest.partitions.push_back(std::move(info));
  }

  progress.phase = BuildPhase::statistics;
  progress.partitions_finished = settings.partitions;
  observer.progress(progress);
  DatabaseLabel label{.kind = "statistics",
                      .generation = manifest.generation,
                      .number = settings.partitions,
                      .documents = manifest.documents};
  manifest.statistics_file = build->folder_name() + "/statistics";
  const auto statistics = settings.directory / manifest.statistics_file;
  manifest.statistics_sha256 =
      write_statistics(files, statistics, build->folder() / "scratch-statistics", label, settings.memory_bytes);

  progress.phase = BuildPhase::spelling;
  observer.progress(progress);
  label.kind = "spelling";
  manifest.spelling_file = build->folder_name() + "/spelling";
  manifest.spelling_sha256 = write_spelling(statistics, settings.directory / manifest.spelling_file,
                                            build->folder() / "scratch-spelling", label, settings.memory_bytes);

  progress.phase = BuildPhase::publishing;
  observer.progress(progress);
  if (auto published = build->publish(manifest); !published) return published.error();
  return manifest;
}

}  // namespace

result<Manifest> build_index(Reader& reader, const BuildSettings& settings, const BuildObserver& observer) {
  if (auto checked = check(settings); !checked) return checked.error();
  return translating_exceptions("build", [&] { return build(reader, settings, observer); });
}

}  // namespace hedgerow
