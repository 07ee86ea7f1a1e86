#include "index/build_worker.hpp"

#include <cstdio>

#include "index/builder.hpp"
#include "index/document_indexer.hpp"
#include "index/engine_error.hpp"
#include "index/lookup.hpp"

namespace hedgerow {

namespace {

// Documents of one partition, written together: a writer's changes are spread over memory, and going round the
// partitions document by document takes three times as long.
struct Batch {
  std::vector<NumberedDocument> documents;
  std::uint64_t bytes = 0;
};

}  // namespace

BuildWorker::BuildWorker(const BuildWorkerSettings& settings, std::vector<PartitionId> own, BuildWorkerNews& news)
    : settings_(settings), own_(std::move(own)), news_(news), queue_(settings.queue_bytes) {
  thread_ = std::thread([this] { run(); });
}

BuildWorker::~BuildWorker() {
  queue_.abandon();
  if (thread_.joinable()) thread_.join();
}

bool BuildWorker::add(NumberedDocument document) { return queue_.push(std::move(document)); }

void BuildWorker::finish(std::uint64_t collection_documents) {
  collection_documents_ = collection_documents;
  queue_.close();
}

result<BuiltPartitions> BuildWorker::wait() {
  thread_.join();
  if (failure_) return *failure_;
  return std::move(finished_);
}

void BuildWorker::run() {
  if (const auto done = translating_exceptions("build", [this] { return work(); }); !done) failure_ = done.error();
  // Whoever pushes learns that nobody reads any more.
  if (failure_) queue_.abandon();
  announce(news_.workers_ended);
}

void BuildWorker::announce(std::atomic<std::uint32_t>& count) {
  count.fetch_add(1);
  news_.changes.fetch_add(1);
  news_.changes.notify_all();
}

result<void> BuildWorker::work() {
  DocumentIndexer indexer(settings_.stemmer, settings_.title_weight);
  std::map<PartitionId, PartitionWriter> writers;
  for (const PartitionId partition : own_) {
    writers.try_emplace(partition, settings_.folder / ("scratch-" + partition_file_name(partition)),
                        settings_.partition_bytes);
  }
  std::map<PartitionId, Batch> batches;
  const auto write = [&](PartitionId partition, Batch& batch) {
    PartitionWriter& writer = writers.at(partition);
    for (const auto& [number, document] : batch.documents) writer.add(number, indexer.index(document));
    batch = {};
  };
  while (auto next = queue_.pop()) {
    const PartitionId partition = partition_of(next->document.id, settings_.partitions);
    if (const auto counted = finished_.facets.add(next->document); !counted) return counted;
    Batch& batch = batches[partition];
    batch.bytes += bytes_of(next->document);
    batch.documents.push_back(std::move(*next));
    if (batch.bytes >= settings_.batch_bytes) write(partition, batch);
  }
  for (auto& [partition, batch] : batches) write(partition, batch);
  for (auto& [partition, writer] : writers) {
    PartitionInfo info = writer.finish(settings_.folder / partition_file_name(partition),
                                       {.kind = "partition",
                                        .generation = settings_.generation,
                                        .number = partition.value,
                                        .documents = collection_documents_});
    info.file = settings_.folder.filename() / partition_file_name(partition);
    finished_.partitions.emplace(partition, std::move(info));
    announce(news_.partitions_finished);
  }
  return {};
}

std::string partition_file_name(PartitionId partition) {
  char name[32];
  std::snprintf(name, sizeof name, "partition-%04u", partition.value);
  return name;
}

}  // namespace hedgerow
