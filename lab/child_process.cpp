#include "lab/child_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "wire/as_result.hpp"

namespace hedgerow::lab {

namespace {

namespace asio = boost::asio;

using wire::as_result;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { reset(); }
  int get() const { return number_; }
  void reset() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

std::string reason_of(int error) { return std::strerror(error); }

// What the child does between fork and exec: system calls alone, since nothing else is safe there. Tells the parent
// through the pipe why it failed; a pipe that closes silently means that the program runs.
[[noreturn]] void become(const char* program, char* const* arguments, int log, int null, int pipe, pid_t parent) {
  const auto fail = [pipe] {
    const int error = errno;
    [[maybe_unused]] const auto written = ::write(pipe, &error, sizeof(error));
    ::_exit(127);
  };
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail();
  // The parent may have ended before the line above: then nobody would end us.
  if (::getppid() != parent) ::_exit(127);
  ::setpgid(0, 0);
  if (::dup2(null, 0) < 0 || ::dup2(log, 1) < 0 || ::dup2(log, 2) < 0) fail();
  // Asio's sockets are not marked close-on-exec: without this, a child would hold our listening port.
  if (::syscall(SYS_close_range, 3U, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */) != 0) {
    for (int descriptor = 3; descriptor < 4096; ++descriptor) ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::execv(program, arguments);
  fail();
  ::_exit(127);
}

class LinuxChild final : public ChildProcess {
 public:
  LinuxChild(asio::any_io_executor executor, pid_t pid, int descriptor) : pid_(pid), descriptor_(executor, descriptor) {}

  ~LinuxChild() override {
    if (reap(WNOHANG)) return;
    ::kill(pid_, SIGKILL);
    reap(0);
  }

  int pid() const override { return pid_; }

  bool send(int signal) override {
    // Not yet waited for, so the number cannot belong to another process.
    return !reap(WNOHANG) && ::kill(pid_, signal) == 0;
  }

  asio::awaitable<std::optional<ChildEnd>> wait_for_end(Duration time) override {
    using namespace asio::experimental::awaitable_operators;
    asio::steady_timer timer(descriptor_.get_executor(), time);
    // The descriptor becomes readable when the process ends, and stays so.
    co_await (descriptor_.async_wait(asio::posix::stream_descriptor::wait_read, as_result) ||
              timer.async_wait(as_result));
    co_return reap(WNOHANG);
  }

  std::optional<ChildEnd> end() const override { return end_; }

  bool stopped() const override {
    if (end_) return false;
    // "PID (name) STATE …"; the name may hold anything, but no line behind it has a ')'.
    std::ifstream file("/proc/" + std::to_string(pid_) + "/stat");
    std::string line;
    std::getline(file, line);
    const auto name_end = line.rfind(')');
    return name_end != std::string::npos && name_end + 2 < line.size() && line[name_end + 2] == 'T';
  }

  std::size_t resident_bytes() const override {
    if (end_) return 0;
    std::ifstream file("/proc/" + std::to_string(pid_) + "/statm");
    std::size_t total = 0, resident = 0;
    file >> total >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  }

 private:
  std::optional<ChildEnd> reap(int flags) {
    if (end_) return end_;
    int status = 0;
    pid_t reaped;
    do {
      reaped = ::waitpid(pid_, &status, flags);
    } while (reaped < 0 && errno == EINTR);
    if (reaped != pid_) return std::nullopt;
    end_ = WIFSIGNALED(status) ? ChildEnd{std::nullopt, WTERMSIG(status)} : ChildEnd{WEXITSTATUS(status), std::nullopt};
    return end_;
  }

  pid_t pid_;
  asio::posix::stream_descriptor descriptor_;
  std::optional<ChildEnd> end_;
};

}  // namespace

std::string to_string(const ChildEnd& end) {
  if (end.signal) return "killed by signal " + std::to_string(*end.signal) + " (" + ::strsignal(*end.signal) + ")";
  return "exit status " + std::to_string(end.status.value_or(0));
}

result<std::shared_ptr<ChildProcess>> ChildProcess::start(asio::any_io_executor executor, const ChildCommand& command) {
  const Descriptor log(::open(command.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (log.get() < 0) return Error{Errc::io, command.log.string() + ": " + reason_of(errno)};
  const Descriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  int ends[2];
  if (null.get() < 0 || ::pipe2(ends, O_CLOEXEC) != 0) return Error{Errc::io, "starting a process: " + reason_of(errno)};
  const Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);

  const std::string program = command.program.string();
  std::vector<char*> arguments{const_cast<char*>(program.c_str())};
  for (const auto& argument : command.arguments) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return Error{Errc::io, "starting a process: " + reason_of(errno)};
  if (pid == 0) become(program.c_str(), arguments.data(), log.get(), null.get(), writing.get(), parent);

  writing.reset();
  int error = 0;
  ssize_t size;
  do {
    size = ::read(reading.get(), &error, sizeof(error));
  } while (size < 0 && errno == EINTR);
  if (size == sizeof(error)) {
    ::waitpid(pid, nullptr, 0);
    return Error{Errc::io, program + " does not run: " + reason_of(error)};
  }
  const int descriptor = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (descriptor < 0) {
    const int reason = errno;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return Error{Errc::io, "watching a process: " + reason_of(reason)};
  }
  return std::make_shared<LinuxChild>(std::move(executor), pid, descriptor);
}

}  // namespace hedgerow::lab
