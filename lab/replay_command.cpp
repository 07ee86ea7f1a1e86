#include "lab/replay_command.hpp"

#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "root/policy/replay.hpp"

namespace hedgerow::lab {

namespace {

nlohmann::ordered_json as_json(const policy::Replay& replay, bool cut) {
  nlohmann::ordered_json differences = nlohmann::json::array();
  for (const auto& difference : replay.differences()) {
    differences.push_back({{"line", difference.line},
                           {"event", difference.event},
                           {"recorded", difference.recorded},
                           {"replayed", difference.replayed}});
  }
  return {{"lines", replay.lines()},         {"queries", replay.queries()},
          {"attempts", replay.attempts()},   {"decisions", replay.decisions()},
          {"differing", replay.differing()}, {"cut_off", cut},
          {"differences", differences}};
}

void print(const policy::Replay& replay, bool cut) {
  std::cout << replay.lines() << " lines, " << replay.queries() << " queries, " << replay.attempts() << " attempts, "
            << replay.decisions() << " decisions: " << replay.differing() << " differ\n";
  if (cut) std::cout << "the last line was cut off, and left out\n";
  for (const auto& difference : replay.differences()) {
    std::cout << "line " << difference.line << ": " << difference.event << "\n  recorded: " << difference.recorded
              << "\n  replayed: " << difference.replayed << "\n";
  }
}

}  // namespace

int run_replay(const ReplaySettings& settings) {
  std::ifstream file(settings.file, std::ios::binary);
  if (!file) {
    std::cerr << "hedgerow-lab: cannot read " << settings.file.string() << "\n";
    return 2;
  }
  policy::Replay replay;
  bool cut = false;
  for (std::string line; std::getline(file, line);) {
    cut = file.eof();  // a root that was killed may have written half a line
    if (cut) break;
    if (const auto fed = replay.feed(line); fed.has_error()) {
      std::cerr << "hedgerow-lab: " << to_string(fed.error()) << "\n";
      return 2;
    }
  }
  if (replay.lines() < 2) {
    std::cerr << "hedgerow-lab: " << settings.file.string() << " is no recording\n";
    return 2;
  }
  if (settings.json) {
    std::cout << as_json(replay, cut).dump(2) << "\n";
  } else {
    print(replay, cut);
  }
  return replay.differing() == 0 ? 0 : 1;
}

}  // namespace hedgerow::lab
