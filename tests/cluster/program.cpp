#include "program.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

extern char** environ;

namespace hedgerow::test {

namespace fs = std::filesystem;

ProgramRun run_program(const fs::path& program, std::vector<std::string> arguments) {
  ProgramRun run;
  int ends[2];
  if (::pipe(ends) != 0) return run;
  std::string name = program.string();
  std::vector<char*> words{name.data()};
  for (auto& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  pid_t pid = 0;
  const int problem = ::posix_spawn(&pid, name.c_str(), &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (problem == 0) {
    char chunk[16384];
    for (ssize_t size; (size = ::read(ends[0], chunk, sizeof chunk)) > 0 || (size < 0 && errno == EINTR);) {
      if (size > 0) run.output.append(chunk, static_cast<std::size_t>(size));
    }
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    if (WIFEXITED(status)) run.status = WEXITSTATUS(status);
  }
  ::close(ends[0]);
  return run;
}

std::size_t resident_bytes(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmRSS:")) return std::stoul(line.substr(6)) * 1024;  // given in kB
  }
  return 0;
}

std::size_t open_descriptors(int pid) {
  std::size_t count = 0;
  std::error_code error;
  for (fs::directory_iterator entry("/proc/" + std::to_string(pid) + "/fd", error), end; !error && entry != end;
       entry.increment(error)) {
    ++count;
  }
  return count;
}

bool runs(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  // "PID (name) STATE …"; a zombie has ended.
  const auto name_end = line.rfind(')');
  return name_end != std::string::npos && line[name_end + 2] != 'Z';
}

}  // namespace hedgerow::test
