// Xapian as a program that uses it directly would: one Xapian::Database over some databases, on this machine's disk or each
// behind a xapian-tcpsrv (its own remote backend), and QueryParser for words.
//
// Xapian is asked for the same as Hedgerow: words are joined by OR, stemmed, and scored by BM25 with Hedgerow's defaults; the
// best ten come with what is stored of them. A handle that has failed stays broken, so a client opens a new one after each failure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "tests/peers/engine.hpp"

namespace hedgerow::peers {

std::unique_ptr<Engine> make_xapian_local(std::vector<std::filesystem::path> databases);
// Of servers on this machine.
std::unique_ptr<Engine> make_xapian_remote(std::vector<std::uint16_t> ports);

}  // namespace hedgerow::peers
