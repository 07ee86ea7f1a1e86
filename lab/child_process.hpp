// A process that this one started, and that never outlives it.
//
// Owned by the cluster; used on one thread, the one that starts it, which must be the one that lives longest: the
// kernel ends the child when that *thread* ends. Whatever happens to the parent (SIGKILL too), the kernel sends the
// child SIGKILL, which also ends one that is stopped. The child is in a process group of its own, so that Ctrl-C in a
// terminal reaches the parent alone, which then ends its children in order.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace hedgerow::lab {

struct ChildCommand {
  std::filesystem::path program;
  std::vector<std::string> arguments;  // without the program's name
  std::filesystem::path log;           // standard output and error are appended to it; standard input is empty
};

// How a process ended: exactly one of the two.
struct ChildEnd {
  std::optional<int> status;
  std::optional<int> signal;
};

// "exit status 3", "killed by signal 9 (Killed)".
std::string to_string(const ChildEnd& end);

class ChildProcess {
 public:
  // Errors: io (which names the program and why it does not run).
  static result<std::shared_ptr<ChildProcess>> start(boost::asio::any_io_executor executor, const ChildCommand& command);
  // Kills the process if it still runs, and waits for its end.
  virtual ~ChildProcess() = default;

  virtual int pid() const = 0;
  // False when the process has ended.
  virtual bool send(int signal) = 0;
  // Waits until it has ended, at most so long; nullopt when the time is over first. May be awaited by several at once.
  virtual boost::asio::awaitable<std::optional<ChildEnd>> wait_for_end(Duration time) = 0;
  virtual std::optional<ChildEnd> end() const = 0;
  // Whether it is stopped (SIGSTOP) now, by whomever.
  virtual bool stopped() const = 0;
  // What it holds in memory now, in bytes; 0 when it has ended.
  virtual std::size_t resident_bytes() const = 0;
};

}  // namespace hedgerow::lab
