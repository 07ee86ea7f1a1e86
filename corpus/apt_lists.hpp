// Where apt keeps the package catalogue: which files of a list folder hold what.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace hedgerow {

struct AptLists {
  std::vector<std::filesystem::path> packages;      // Packages, *_Packages, plain or compressed; by name
  std::vector<std::filesystem::path> translations;  // *Translation-en, plain or compressed; by folder, then name
};

// Packages of the first folder that has any, English long descriptions of all folders. A list that lies there both
// plain and compressed is taken once. Folders that do not exist are passed over.
// Errors: not_found if no folder has a package list (the message says how to get them), io for an unreadable folder.
result<AptLists> find_apt_lists(const std::vector<std::string>& folders);

}  // namespace hedgerow
