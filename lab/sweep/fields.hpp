// The members of a JSON object, read one by one: what is missing keeps its default, what is wrong or unknown is the reader's
// first error, named by its path ("load.rate"). Pure.
//
//   Fields fields(json, "load");
//   fields.read("rate", rate);
//   if (auto error = fields.error()) return *error;
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace hedgerow::lab::sweep {

class Fields {
 public:
  // path: of the object, for errors; empty at the root. The JSON outlives the reader.
  Fields(const nlohmann::ordered_json& object, std::string path);

  // The member, or null where there is none; known from now on.
  const nlohmann::ordered_json* find(const char* name);

  void read(const char* name, std::string& value);
  void read(const char* name, bool& value);
  void read(const char* name, Duration& value);  // "250ms"
  void read(const char* name, std::vector<std::string>& value);
  // Within [least, most].
  void read(const char* name, double& value, double least, double most);
  void read(const char* name, std::optional<double>& value, double least, double most);
  void read(const char* name, std::uint64_t& value, std::uint64_t least, std::uint64_t most);

  // What is wrong with a member, where that is found out elsewhere.
  void fail(const std::string& name, const std::string& what);
  std::string path_of(const std::string& name) const;
  // The first error; members that nobody asked for are errors too. Asked last.
  std::optional<Error> error();

 private:
  const nlohmann::ordered_json& object_;
  std::string path_;
  std::set<std::string> known_;
  std::optional<Error> error_;
};

}  // namespace hedgerow::lab::sweep
