// Sphinx, asked over its SQL port by MariaDB's client library, on a connection that is kept.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tests/peers/engine.hpp"

namespace hedgerow::peers {

// index: the distributed one. Errors: unsupported, where this was built without that library (sphinx_absent.cpp).
result<std::unique_ptr<Engine>> make_sphinx(std::uint16_t port, const std::string& index);

}  // namespace hedgerow::peers
