// Checksums of files, for the manifest.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace hedgerow {

// The SHA-256 of a file's bytes as 64 lower-case hexadecimal digits. Errors: io.
result<std::string> sha256_of_file(const std::filesystem::path& path);
// The same of some bytes in memory.
std::string sha256_of(std::string_view bytes);

}  // namespace hedgerow
