#include "leaf/thread_priority.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace hedgerow::leaf {

result<void> lower_priority_of_this_thread() {
  const auto failed = [](const char* what) { return Error{Errc::unsupported, std::string(what) + ": " + std::strerror(errno)}; };
  const sched_param no_parameter{};
  if (::sched_setscheduler(0, SCHED_BATCH, &no_parameter) != 0) return failed("SCHED_BATCH");
  // On Linux the process id 0 or a thread's own id names the thread alone.
  if (::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), 19) != 0) return failed("nice 19");
  return {};
}

}  // namespace hedgerow::leaf
