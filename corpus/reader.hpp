// The one face of every corpus format: documents come one at a time, in a fixed order, in bounded memory.
//
// A reader is owned and called by one thread. Bad records are errors that name file and line; the caller decides
// whether to go on (call next() again) or to stop.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "base/error.hpp"
#include "corpus/document.hpp"

namespace hedgerow {

// A record that could not be read: what, where, and whether the rest can be.
struct ReadError {
  std::string file;
  std::uint64_t line = 0;  // from 1; 0 where lines make no sense
  std::string what;
  bool fatal = false;  // true: nothing more can be read (a truncated archive, say); the next call gives the end
};

// "debian: Packages:120: duplicate id 'vim'".
std::string to_string(const ReadError& error);

struct EndOfCorpus {};

using ReadOutcome = std::variant<Document, ReadError, EndOfCorpus>;

// How far a reader is. fraction is of the input's bytes (or records) in [0, 1], where it is known.
struct ReadProgress {
  std::uint64_t documents = 0;
  std::uint64_t errors = 0;
  std::optional<double> fraction;
};

class Reader {
 public:
  virtual ~Reader() = default;
  // The next document, an error in its place, or the end (again and again, once reached).
  virtual ReadOutcome next() = 0;
  virtual ReadProgress progress() const = 0;
};

struct CorpusSettings {
  // Where the debian reader looks for Packages and Translation-en files (any compression), in this order; the first
  // folder that has a Packages file wins, and long descriptions may come from either. Defaults are the private list
  // folder of scripts/setup (data/apt-lists) and the system's.
  std::vector<std::string> apt_list_folders{"data/apt-lists", "/var/lib/apt/lists"};
  // A longer line or record is an error of its own and is skipped in bounded memory.
  std::uint64_t longest_record_bytes = 64 << 20;
  // Seed of the synthetic collection.
  std::uint64_t seed = 1;
};

// Opens a corpus by the name the command line uses: "debian", "jsonl:FILE", "synthetic:N".
// Duplicate ids and empty documents are turned into ReadErrors here, for every format alike.
// Errors: invalid_argument for an unknown name (the message lists the known ones), not_found or io for a missing file.
result<std::unique_ptr<Reader>> open_corpus(const std::string& name, const CorpusSettings& settings);

}  // namespace hedgerow
