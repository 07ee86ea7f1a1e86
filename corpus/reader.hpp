// The one face of every corpus format: documents come one at a time, in a fixed order, in bounded memory.
//
// A reader is owned and called by one thread. Bad records are errors that name file and line; the caller decides
// whether to go on (call next() again) or to stop. To add a format, write one file like jsonl.cpp and one line in the
// table of reader.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

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

// "lists/Packages:120: duplicate id 'vim'"; without ":120" where the line is 0, without the file where there is none.
std::string to_string(const ReadError& error);

struct EndOfCorpus {};

using ReadOutcome = std::variant<Document, ReadError, EndOfCorpus>;

// How far a reader is.
struct ReadProgress {
  std::uint64_t documents = 0;
  std::uint64_t errors = 0;
  // Documents of which some text was not valid UTF-8: each bad sequence became U+FFFD, the rest is as it was.
  std::uint64_t repaired = 0;
  // In [0, 1], never falling: of the input's bytes as they lie on the disk (compressed, where they are), or of its
  // records; nothing where the input's size is unknown (a pipe).
  std::optional<double> fraction;
};

// Where a record begins: the file, and its line from 1 (0 where lines make no sense).
struct RecordPosition {
  std::string_view file;
  std::uint64_t line = 0;
};

class Reader {
 public:
  virtual ~Reader() = default;
  // The next document, an error in its place, or the end (again and again, once reached).
  virtual ReadOutcome next() = 0;
  virtual ReadProgress progress() const = 0;
  // Of the last document that next() gave; the file's name lives as long as the reader.
  virtual RecordPosition position() const { return {}; }
  // What the caller should tell the user once, at the end: what was left out, or is missing. One sentence each.
  virtual std::vector<std::string> notes() const { return {}; }
};

struct CorpusSettings {
  // Where the debian reader looks for Packages and Translation-en files (any compression), in this order; the first
  // folder that has a Packages file wins, and long descriptions may come from any. Defaults are the private list
  // folder of scripts/fetch-apt-lists (data/apt-lists) and the system's.
  std::vector<std::string> apt_list_folders{"data/apt-lists", "/var/lib/apt/lists"};
  // A longer line or record is an error of its own and is skipped in bounded memory (a few times this much).
  std::uint64_t longest_record_bytes = 64 << 20;
  // Seed of the synthetic collection.
  std::uint64_t seed = 1;
};

// Opens a corpus by the name the command line uses: "debian", "debian:FOLDER", "jsonl:FILE", "trec:PATH", …
// (corpus_names() has them all).
//
// Held for every format alike (see Document): an id that is missing, unfit or was there before, and an empty document,
// become ReadErrors, which are not fatal; ill-formed UTF-8 is replaced and counted; control characters become spaces;
// facets that are none are left out and noted. To know duplicates, 8 bytes of hash are kept per document (16 to 32 with
// the free space of the table); that a new id is taken for an old one happens once in some 10^6 collections of 10^7.
//
// Errors: invalid_argument for an unknown name (the message lists the known ones) or a folder in a file's place,
// not_found for a missing file, io for one that may not be read.
result<std::unique_ptr<Reader>> open_corpus(const std::string& name, const CorpusSettings& settings);

// The formats that open_corpus knows, one a line with its purpose, for help texts.
std::string corpus_names();

}  // namespace hedgerow
