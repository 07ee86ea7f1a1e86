// Sphinx, asked over its SQL port by MariaDB's client library, on a connection that is kept.
#pragma once

#include <cstdint>
#include <memory>

#include "tests/peers/engine.hpp"
#include "tests/peers/sphinx_query.hpp"

namespace hedgerow::peers {

// Errors: unsupported, where this was built without that library (sphinx_absent.cpp).
result<std::unique_ptr<Engine>> make_sphinx(std::uint16_t port, const SphinxAsking& asking);

}  // namespace hedgerow::peers
