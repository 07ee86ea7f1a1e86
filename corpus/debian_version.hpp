// The order of Debian's version numbers, as deb-version(7) defines it.
#pragma once

#include <compare>
#include <string_view>

namespace hedgerow {

// "1.0~rc1" < "1.0" < "1.0-1" < "1.0+b1" < "1:0.1". Anything may be compared; what is no version has some order too.
std::weak_ordering compare_debian_versions(std::string_view a, std::string_view b);

}  // namespace hedgerow
