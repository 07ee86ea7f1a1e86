// Building an index: a reader's documents into partitions, guards, statistics and a manifest, published at the end.
//
// build_index is called by one thread, which reads; it starts worker threads, each of which owns a set of partitions,
// and ends them before it returns.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "base/error.hpp"
#include "corpus/reader.hpp"
#include "index/manifest.hpp"

namespace hedgerow {

enum class OnReadError { skip, stop };

struct BuildSettings {
  std::filesystem::path directory;
  // The corpus as the user named it: for the manifest.
  std::string collection;
  // From 1 to most_partitions. More make smaller pieces of work for a leaf and cost a little space each.
  std::uint32_t partitions = 16;
  // A Xapian stemmer language, or "none".
  std::string stemmer = "english";
  // How often a word of the title counts, from 1 to Manifest::most_title_weight. The default is measured, as that of bm25
  // is: docs/quality.md.
  std::uint32_t title_weight = 3;
  // How documents are scored; goes into the manifest, so a change needs a new build.
  Bm25Parameters bm25;
  OnReadError on_read_error = OnReadError::skip;
  // Goal for the memory of the build, in bytes, at least smallest_memory. An eighth is for documents on their way to
  // the writers; the rest is shared evenly by the partitions, each of which writes out what it holds whenever that
  // exceeds its share. Less costs time. One document of many MB may exceed it by a few times its size.
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;
  // Worker threads; 0: one per core.
  unsigned threads = 0;

  static constexpr std::uint32_t most_partitions = 4096;
  static constexpr std::uint64_t smallest_memory = 16 << 20;
};

enum class BuildPhase { reading, finishing, statistics, spelling, publishing };

struct BuildProgress {
  BuildPhase phase = BuildPhase::reading;
  ReadProgress read;
  std::uint32_t partitions_finished = 0;
  std::uint32_t partitions = 0;
};

// Called from the thread that called build_index.
struct BuildObserver {
  // After every few documents, every finished partition and every change of phase.
  std::function<void(const BuildProgress&)> progress = [](const BuildProgress&) {};
  std::function<void(const ReadError&)> read_error = [](const ReadError&) {};
};

// Reads to the end and publishes the next generation in settings.directory; what is there stays as it is on any error.
// Errors: invalid_argument (settings), refused (another build is running there), input (a read error with
// OnReadError::stop, a fatal one, a collection without documents, or facets that an index cannot hold), io, internal.
result<Manifest> build_index(Reader& reader, const BuildSettings& settings, const BuildObserver& observer = {});

}  // namespace hedgerow
