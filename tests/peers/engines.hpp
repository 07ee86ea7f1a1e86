// The engines by the names that the command line uses.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/peers/engine.hpp"
#include "tests/peers/sphinx_query.hpp"

namespace hedgerow::peers {

struct EngineSettings {
  // in-process, xapian, xapian-remote, sphinx or hedgerow.
  std::string kind;
  std::filesystem::path index;                   // in-process: the directory that hedgerow-index wrote
  std::vector<std::filesystem::path> databases;  // xapian: searched as one
  std::vector<std::uint16_t> ports;              // xapian-remote: of the servers, one a shard; sphinx: of the one that is asked
  SphinxAsking sphinx;                           // sphinx
  std::string target;                            // hedgerow: 127.0.0.1:7080
  std::vector<std::pair<std::string, std::string>> parameters;  // hedgerow: of each query
};

// The kinds, for help texts.
std::vector<std::string> engine_kinds();

// Errors: invalid_argument (a kind without what it needs), unsupported (Sphinx, where this was built without MariaDB's client).
result<std::unique_ptr<Engine>> make_engine(const EngineSettings& settings);

}  // namespace hedgerow::peers
