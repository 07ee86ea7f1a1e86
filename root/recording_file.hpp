// The file of `--record`: what the search policies were told and answered, for `hedgerow-lab replay`.
//
// On the root's thread, owned by the server, and there before the first leaf is up: a recording has to begin at the
// beginning. Lines are collected and written 64 kB at a time, on that thread: recording is for finding out, not for every
// day. The file is bounded: when the bound is reached it ends, between two lines, and the root goes on without; what it
// has replays. A disk that is full ends it too. Both are logged.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace hedgerow::root {

class RecordingFile {
 public:
  // A file that is there is replaced. Errors: io.
  static result<std::unique_ptr<RecordingFile>> create(const std::filesystem::path& path, std::uint64_t most_bytes);
  ~RecordingFile();

  void add(std::string_view line);

 private:
  RecordingFile(std::ofstream file, std::string name, std::uint64_t most_bytes);
  void write();
  void end(std::string_view why);

  std::ofstream file_;
  std::string name_;
  std::uint64_t room_;
  std::string lines_;  // not written yet
  bool ended_ = false;
};

}  // namespace hedgerow::root
