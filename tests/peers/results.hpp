// The files that runs leave behind: one a run, all in one directory. Pure but for reading it.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace hedgerow::peers {

// What a load of one engine found: {"kind": "load", "engine": …, "part": …, "round": 1, "rate": 0, "figures": {…}}.
struct LoadRun {
  std::string engine, part;  // "sphinx", "throughput"
  unsigned round = 1;
  double rate = 0;           // of an open loop
  std::map<std::string, double> figures;
  std::string first_error;

  std::optional<double> figure(std::string_view name) const;
  // A figure as a share of all queries; nothing where there were none.
  std::optional<double> share(std::string_view name) const;
};

// What an engine answers: {"kind": "answers", "engine": …, "answers": [["id", …], null, …]}, null for an error.
struct FoundIds {
  std::string engine;
  std::vector<std::optional<std::vector<std::string>>> answers;
};

struct Results {
  std::vector<LoadRun> loads;
  std::vector<FoundIds> answers;
};

nlohmann::ordered_json to_json(const LoadRun& run, nlohmann::ordered_json figures);
nlohmann::ordered_json to_json(const FoundIds& found);

// Adds what a file's text says. Errors: invalid_argument, where it is none of the above.
result<void> add_result(const std::string& text, Results& results);
// Every *.json of the directory, by name. Errors: io, and as above with the file's name.
result<Results> read_results(const std::filesystem::path& directory);

}  // namespace hedgerow::peers
