#include "tests/places.hpp"

namespace hedgerow::test {

std::string source_path(const std::string& inside) { return HEDGEROW_SOURCE_DIR "/" + inside; }
std::filesystem::path binary_directory() { return HEDGEROW_BINARY_DIR; }
std::filesystem::path built_program(const std::string& name) { return binary_directory() / name; }

}  // namespace hedgerow::test
