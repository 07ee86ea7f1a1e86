// In place of sphinx.cpp where there is no libmariadb-dev.
#include "tests/peers/sphinx.hpp"

namespace hedgerow::peers {

result<std::unique_ptr<Engine>> make_sphinx(std::uint16_t, const SphinxAsking&) {
  return Error{Errc::unsupported, "Sphinx is asked by MariaDB's client library (libmariadb-dev), which was missing when this was built"};
}

}  // namespace hedgerow::peers
