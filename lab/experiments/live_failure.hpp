// What ends a live experiment: a cluster that does not start, a load that cannot be sent. Thrown where it is found, caught
// where experiments are run; nothing can be measured any more.
#pragma once

#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "base/error.hpp"

namespace hedgerow::lab {

class LiveFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The value, or the end of the experiment.
template <class T>
T or_failure(result<T> value, const std::string& what) {
  if (value.has_error()) throw LiveFailure(what + ": " + to_string(value.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*value);
}

}  // namespace hedgerow::lab
