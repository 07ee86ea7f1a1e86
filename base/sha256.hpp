// Checksums of files, for the manifest.
#pragma once

#include <filesystem>
#include <string>

#include "base/error.hpp"

namespace hedgerow {

// The SHA-256 of a file's bytes as 64 lower-case hexadecimal digits. Errors: io.
result<std::string> sha256_of_file(const std::filesystem::path& path);

}  // namespace hedgerow
