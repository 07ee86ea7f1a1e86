// How a server tells whoever started it where it listens.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/error.hpp"

namespace hedgerow {

// Writes "address:port\n" so that a reader sees all of it or nothing. Does nothing for an empty path. Errors: io.
result<void> write_address_file(const std::filesystem::path& path, const std::string& address, std::uint16_t port);

}  // namespace hedgerow
