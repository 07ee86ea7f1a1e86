// Ports on 127.0.0.1 that nothing listens on, for servers that cannot choose one themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hedgerow::peers {

// The first `count` free ones from `from` on. Choose it below the range from which the kernel takes ports for outgoing
// connections (32768 as a rule), or one of these may take what is free now. Fewer, where there are no more below 65536.
std::vector<std::uint16_t> free_ports(std::size_t count, std::uint16_t from);

}  // namespace hedgerow::peers
