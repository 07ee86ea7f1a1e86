// A slow shard, for engines that cannot be made slow from within: a proxy in front of one server, whose answers it can hold
// back. What a client sends goes on at once; each piece of an answer goes on so much later than it came, in order, and
// nothing waits for anything else, as if the way back were long.
//
// It begins without any delay; SIGUSR1 turns it on and SIGUSR2 off, SIGTERM and SIGINT end it, with all connections.
#pragma once

#include <cstdint>

#include "base/clock.hpp"

namespace hedgerow::peers {

struct DelayProxySettings {
  std::uint16_t listen = 0, server = 0;  // ports on 127.0.0.1
  Duration delay = std::chrono::milliseconds(200);
};

// Returns the exit status.
int run_delay_proxy(const DelayProxySettings& settings);

}  // namespace hedgerow::peers
