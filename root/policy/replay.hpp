// Plays a recording (see search_recorder.hpp) through the policies again, and says where they decide otherwise. Pure.
//
// Once one decision differs, those after it may differ because of it: the first difference is the one to look at.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "root/policy/cluster/search_policies.hpp"
#include "root/policy/query/fanout.hpp"

namespace hedgerow::policy {

class Replay {
 public:
  struct Difference {
    std::uint64_t line;  // from 1
    std::string event;   // as recorded, without its actions
    std::string recorded, replayed;
  };

  // Every line in order, the two of the head first. Error: the line is none of a recording's (corrupt, naming it).
  result<void> feed(std::string_view line);

  std::uint64_t lines() const { return lines_; }
  std::uint64_t queries() const { return queries_; }
  // Events with an outcome: actions, or a choice.
  std::uint64_t decisions() const { return decisions_; }
  std::uint64_t attempts() const { return attempts_; }
  std::uint64_t differing() const { return differing_; }
  // The first ones.
  const std::vector<Difference>& differences() const { return differences_; }

 private:
  static constexpr std::size_t most_differences_kept = 10;

  result<void> read_settings(std::string_view line);
  // What the event leads to now; nullopt: it cannot be understood.
  std::optional<std::string> outcome_of(std::string_view event);
  void compare(std::string_view event, std::string_view recorded, std::string replayed);

  std::unique_ptr<SearchPolicies> policies_;  // outlives the queries
  std::map<std::uint64_t, std::unique_ptr<Fanout>> queries_by_number_;
  std::uint64_t lines_ = 0, queries_ = 0, decisions_ = 0, attempts_ = 0, differing_ = 0;
  std::vector<Difference> differences_;
};

}  // namespace hedgerow::policy
