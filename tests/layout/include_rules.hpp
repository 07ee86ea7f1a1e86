// The house's order as rules over its files: who may include whom, where clocks may be read, what no file is called.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace hedgerow::layout {

// Paths from the repository's root, with the files' texts.
using Files = std::map<std::string, std::string>;

// The sources of the product's folders, and of tests/.
Files read_sources(const std::filesystem::path& repository);

// One sentence for each break of a rule, naming the file.
std::vector<std::string> violations(const Files& files);

}  // namespace hedgerow::layout
