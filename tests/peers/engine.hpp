// What every engine of the comparison is to whoever measures it: something that makes clients, each of which asks one query
// at a time and is told the best ten documents with titles and addresses.
//
// An engine is shared by the threads of a load; each thread makes a client of its own, and is the only one to use it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace hedgerow::peers {

// How many documents every engine is asked for.
inline constexpr std::uint32_t wanted_hits = 10;
// The longest that a client waits for any answer, whatever the engine promises.
inline constexpr int longest_wait_ms = 10'000;

enum class Want {
  counts,  // how many hits there are: what a load asks for
  ids,     // the documents' ids as well, best first: to see whether engines agree
};

struct Answer {
  std::uint32_t hits = 0;
  // False where the engine says that not all of the collection was looked at.
  bool complete = true;
  std::vector<std::string> ids;  // empty unless wanted
};

class Client {
 public:
  virtual ~Client() = default;
  // Connects where it is not connected, and again after a failure. Errors: whatever kept the engine from answering.
  virtual result<Answer> ask(const std::string& query, Want want) = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::unique_ptr<Client> client() = 0;
};

}  // namespace hedgerow::peers
