// Gives the calling thread less of the processor than the others, as far as the system lets an ordinary process do so.
//
// Linux: nice 19 and the scheduling policy for batch work (SCHED_BATCH), both of the thread alone. Such a thread runs
// when nothing else wants its core; against one ordinary thread it keeps a share of 1.5 % (15 of 1,039), so it is slow and
// never starved, and what it holds (a lock) is released soon. Not SCHED_IDLE: with 0.3 % a thread that is put off
// while it holds a lock keeps it for long.
#pragma once

#include "base/error.hpp"

namespace hedgerow::leaf {

// Errors: unsupported, with the system's reason; the thread then goes on as it was.
result<void> lower_priority_of_this_thread();

}  // namespace hedgerow::leaf
