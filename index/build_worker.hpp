// A worker of a build: a thread that owns a set of partitions, from their first document to their finished files.
#pragma once

#include <xapian.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "base/error.hpp"
#include "index/document_queue.hpp"
#include "index/facet_tally.hpp"
#include "index/manifest.hpp"
#include "index/partition_writer.hpp"

namespace hedgerow {

struct BuildWorkerSettings {
  std::filesystem::path folder;  // of the generation
  std::string stemmer;
  std::uint32_t title_weight = 1;
  Generation generation;
  std::uint32_t partitions = 0;  // of the whole index
  std::uint64_t queue_bytes = 0;
  std::uint64_t batch_bytes = 0;  // of documents that wait for others of their partition, per partition
  std::uint64_t partition_bytes = 0;
};

// What a worker has to show at its end.
struct BuiltPartitions {
  std::map<PartitionId, PartitionInfo> partitions;
  FacetTally facets;
};

// What the workers of a build tell the building thread while it waits for them.
struct BuildWorkerNews {
  std::atomic<std::uint32_t> partitions_finished{0};
  std::atomic<std::uint32_t> workers_ended{0};
  std::atomic<std::uint32_t> changes{0};  // raised after each change of the others; to wait on
};

// Created, driven and destroyed by the building thread. The destructor ends the thread, abandoning its work.
class BuildWorker {
 public:
  // news outlives the worker.
  BuildWorker(const BuildWorkerSettings& settings, std::vector<PartitionId> own, BuildWorkerNews& news);
  ~BuildWorker();

  // False once the worker has failed.
  bool add(NumberedDocument document);
  // Nothing more comes: the collection holds so many documents. The partitions are finished now.
  void finish(std::uint64_t collection_documents);
  // Waits for the end, and gives the finished partitions or the reason why there are none.
  result<BuiltPartitions> wait();

 private:
  void run();
  result<void> work();
  void announce(std::atomic<std::uint32_t>& count);

  const BuildWorkerSettings settings_;
  const std::vector<PartitionId> own_;
  BuildWorkerNews& news_;
  DocumentQueue queue_;
  std::uint64_t collection_documents_ = 0;  // written before the queue is closed, read after
  BuiltPartitions finished_;
  std::optional<Error> failure_;  // written by the thread, read after it has ended
  std::thread thread_;
};

// The file of a partition inside its generation's folder: "partition-0003".
std::string partition_file_name(PartitionId partition);

}  // namespace hedgerow
