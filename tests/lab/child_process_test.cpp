#include "lab/child_process.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_future.hpp>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

using namespace hedgerow;
using namespace hedgerow::lab;
using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

class Children {
 public:
  Children() {
    std::string name = (fs::temp_directory_path() / "hedgerow-test-XXXXXX").string();
    directory = ::mkdtemp(name.data());
  }
  ~Children() { fs::remove_all(directory); }

  result<std::shared_ptr<ChildProcess>> start(std::string program, std::vector<std::string> arguments) {
    return ChildProcess::start(context.get_executor(), {std::move(program), std::move(arguments), directory / "log"});
  }
  std::shared_ptr<ChildProcess> shell(const std::string& script) {
    auto child = start("/bin/sh", {"-c", script});
    REQUIRE(child.has_value());
    return *child;
  }
  std::optional<ChildEnd> wait(ChildProcess& child, Duration time) {
    auto future = asio::co_spawn(context, child.wait_for_end(time), asio::use_future);
    context.restart();
    context.run();
    return future.get();
  }
  std::string log() const {
    std::stringstream text;
    text << std::ifstream(directory / "log").rdbuf();
    return text.str();
  }
  // The file appears when a child says that it has come so far.
  void wait_for(const fs::path& file) const {
    const auto give_up = std::chrono::steady_clock::now() + 20s;
    while (!fs::exists(file) && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
    REQUIRE(fs::exists(file));
  }

  asio::io_context context{1};
  fs::path directory;
};

// "T", "Z", … ; empty when there is no such process.
std::string state_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const auto name_end = line.rfind(')');
  return name_end == std::string::npos ? "" : line.substr(name_end + 2, 1);
}

bool gone_within(int pid, Duration time) {
  const auto give_up = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < give_up) {
    const auto state = state_of(pid);
    if (state.empty() || state == "Z") return true;
    std::this_thread::yield();
  }
  return false;
}

}  // namespace

TEST_CASE("a child's output goes to its log, and its exit status is told") {
  Children children;
  const auto child = children.shell("echo out; echo err >&2; exit 7");
  const auto end = children.wait(*child, 20s);
  REQUIRE(end);
  CHECK(end->status == 7);
  CHECK(!end->signal);
  CHECK(to_string(*end) == "exit status 7");
  CHECK(children.log() == "out\nerr\n");
  CHECK(!child->send(SIGTERM));
  CHECK(child->end());
  // Asked again, it answers again.
  CHECK(children.wait(*child, 20s)->status == 7);
}

TEST_CASE("a program that is not there, or is no program, is an error that names it") {
  Children children;
  const auto missing = children.start("/nowhere/hedgerow-leaf", {});
  REQUIRE(missing.has_error());
  CHECK(missing.error().context.find("/nowhere/hedgerow-leaf") != std::string::npos);
  CHECK(missing.error().context.find("No such file") != std::string::npos);
  CHECK(children.start(children.directory.string(), {}).has_error());
}

TEST_CASE("a running child is waited for no longer than asked, and a signal's end is told as such") {
  Children children;
  const auto child = children.start("/bin/sleep", {"1000"});
  REQUIRE(child.has_value());
  CHECK(!children.wait(**child, 1ms));
  CHECK(!(*child)->stopped());
  CHECK((*child)->resident_bytes() > 0);
  REQUIRE((*child)->send(SIGKILL));
  const auto end = children.wait(**child, 20s);
  REQUIRE(end);
  CHECK(end->signal == SIGKILL);
  CHECK(to_string(*end) == "killed by signal 9 (Killed)");
  CHECK((*child)->resident_bytes() == 0);
}

TEST_CASE("a stopped child is seen to be stopped, and goes on") {
  Children children;
  const auto child = children.start("/bin/sleep", {"1000"});
  REQUIRE(child.has_value());
  (*child)->send(SIGSTOP);
  const auto give_up = std::chrono::steady_clock::now() + 20s;
  while (!(*child)->stopped() && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
  CHECK((*child)->stopped());
  (*child)->send(SIGCONT);
  while ((*child)->stopped() && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
  CHECK(!(*child)->stopped());
}

TEST_CASE("a child that is let go of is killed, stopped or not") {
  Children children;
  int pid = 0;
  {
    const auto child = children.start("/bin/sleep", {"1000"});
    REQUIRE(child.has_value());
    pid = (*child)->pid();
    (*child)->send(SIGSTOP);
  }
  CHECK(state_of(pid).empty());
}

TEST_CASE("a child holds none of the parent's sockets") {
  Children children;
  asio::ip::tcp::acceptor acceptor(children.context, {asio::ip::address_v4::loopback(), 0});
  const auto child = children.shell("ls -l /proc/self/fd; exit 0");
  REQUIRE(children.wait(*child, 20s));
  CHECK(children.log().find("socket:") == std::string::npos);
  CHECK(children.log().find("/dev/null") != std::string::npos);
}

TEST_CASE("when the parent is killed, its children end, the stopped one too") {
  Children children;
  int pipe_ends[2];
  REQUIRE(::pipe(pipe_ends) == 0);
  const pid_t parent = ::fork();
  REQUIRE(parent >= 0);
  if (parent == 0) {
    asio::io_context context(1);
    const fs::path log = children.directory / "log";
    const auto running = ChildProcess::start(context.get_executor(), {"/bin/sleep", {"1000"}, log});
    const auto stopped = ChildProcess::start(context.get_executor(), {"/bin/sleep", {"1000"}, log});
    (*stopped)->send(SIGSTOP);
    const int pids[2] = {(*running)->pid(), (*stopped)->pid()};
    [[maybe_unused]] const auto written = ::write(pipe_ends[1], pids, sizeof(pids));
    ::pause();
    ::_exit(0);
  }
  int pids[2] = {0, 0};
  REQUIRE(::read(pipe_ends[0], pids, sizeof(pids)) == sizeof(pids));
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  CHECK(gone_within(pids[0], 20s));
  CHECK(gone_within(pids[1], 20s));
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}
