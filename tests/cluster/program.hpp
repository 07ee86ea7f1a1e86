// Running a program to its end, and what /proc says of a process.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/places.hpp"

namespace hedgerow::test {

struct ProgramRun {
  int status = -1;  // -1: it did not end by itself
  std::string output;
};

// Standard error goes where the test's goes.
ProgramRun run_program(const std::filesystem::path& program, std::vector<std::string> arguments);

// Of a process that runs; 0 for one that does not.
std::size_t resident_bytes(int pid);
std::size_t open_descriptors(int pid);
bool runs(int pid);

}  // namespace hedgerow::test
