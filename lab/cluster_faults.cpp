#include "lab/cluster_faults.hpp"

#include <algorithm>
#include <numeric>

#include "leaf/background_schedule.hpp"
#include "leaf/fault.hpp"

namespace hedgerow::lab {

namespace {

using nlohmann::json;

Error wrong_fault(std::size_t number, const std::string& what) {
  return {Errc::invalid_argument, "fault " + std::to_string(number) + ": " + what};
}

// The leaves' numbers that an entry is for; what says so is taken out of it.
result<std::vector<std::size_t>> leaves_of(json& entry, std::size_t number, const std::vector<std::string>& leaves) {
  std::vector<std::size_t> places;
  if (entry.contains("leaf")) {
    const json leaf = entry["leaf"];
    if (entry.contains("leaves")) return wrong_fault(number, "'leaf' and 'leaves' are one too many");
    if (!leaf.is_number_unsigned() || leaf.get<std::uint64_t>() >= leaves.size()) {
      return wrong_fault(number, "'leaf' is not a leaf's number, from 0 to " + std::to_string(leaves.size() - 1));
    }
    entry.erase("leaf");
    return std::vector<std::size_t>{leaf.get<std::size_t>()};
  }
  if (!entry.contains("leaves")) {
    places.resize(leaves.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    return places;
  }
  const json names = entry["leaves"];
  if (!names.is_array() || names.empty()) return wrong_fault(number, "'leaves' is not a list of leaves' names");
  for (const json& name : names) {
    const auto found = name.is_string() ? std::find(leaves.begin(), leaves.end(), name.get<std::string>()) : leaves.end();
    if (found == leaves.end()) {
      return wrong_fault(number, "'leaves': there is no leaf " + name.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, 80));
    }
    const auto place = static_cast<std::size_t>(found - leaves.begin());
    if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
  }
  entry.erase("leaves");
  return places;
}

const json& list_in(const json& faults) {
  return faults.is_object() && faults.size() == 1 && faults.contains("faults") ? faults["faults"] : faults;
}

}  // namespace

result<std::vector<json>> faults_by_leaf(const json& faults, const std::vector<std::string>& leaves,
                                         const Distribution::ReadFile& read) {
  json list = list_in(faults);
  std::vector<std::vector<std::size_t>> places;  // by fault
  if (list.is_array() && !leaves.empty()) {
    for (json& entry : list) {
      auto& of_entry = places.emplace_back();
      if (!entry.is_object()) continue;  // parse_faults will say so
      auto of = leaves_of(entry, places.size(), leaves);
      if (of.has_error()) return of.error();
      of_entry = std::move(*of);
    }
  }
  const auto parsed = leaf::parse_faults(list, read);
  if (parsed.has_error()) return parsed.error();

  std::vector<json> by_leaf(leaves.size(), json::array());
  for (std::size_t i = 0; i < places.size(); ++i) {
    leaf::Fault fault = (*parsed)[i];
    const bool staggered = fault.kind == leaf::FaultKind::background && fault.background.phase == leaf::BackgroundWork::Phase::staggered;
    for (std::size_t turn = 0; turn < places[i].size(); ++turn) {
      if (staggered) {
        fault.background.phase = leaf::BackgroundWork::Phase::given;
        fault.background.given_phase = leaf::staggered_phase(fault.background.period, turn, places[i].size());
      }
      by_leaf[places[i][turn]].push_back(to_json(fault));
    }
  }
  return by_leaf;
}

}  // namespace hedgerow::lab
