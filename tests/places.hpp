// Where tests find the project's files and the programs of the same build. Known to one source alone, so that what is compiled
// does not depend on where the project lies, and a compiler cache serves every clone of it.
#pragma once

#include <filesystem>
#include <string>

namespace hedgerow::test {

// "tests/corpus/data" -> where it is on this machine.
std::string source_path(const std::string& inside);
// The folder of this build's programs; and one of them.
std::filesystem::path binary_directory();
std::filesystem::path built_program(const std::string& name);

}  // namespace hedgerow::test
