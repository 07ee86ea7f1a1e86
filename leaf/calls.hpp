// Which task carries out which call.
#pragma once

#include <memory>

#include "leaf/call_task.hpp"
#include "wire/messages.hpp"

namespace hedgerow::leaf {

// Null for a message that is no call.
std::shared_ptr<CallTask> task_of(wire::Message&& message);

}  // namespace hedgerow::leaf
