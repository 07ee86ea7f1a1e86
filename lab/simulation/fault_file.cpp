#include "lab/simulation/fault_file.hpp"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace hedgerow::lab::simulation {

namespace {

std::optional<FaultKind> kind_of(std::string_view word) {
  for (int i = 0; i <= static_cast<int>(FaultKind::cut_silently); ++i) {
    if (to_string(static_cast<FaultKind>(i)) == word) return static_cast<FaultKind>(i);
  }
  return std::nullopt;
}

}  // namespace

result<std::vector<Fault>> parse_faults(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_array()) return Error{Errc::invalid_argument, "faults are a JSON list"};
  std::vector<Fault> faults;
  for (const auto& entry : json) {
    const auto wrong = [&](const std::string& what) {
      return Error{Errc::invalid_argument, "fault " + std::to_string(faults.size() + 1) + ": " + what};
    };
    if (!entry.is_object()) return wrong("is no object");
    Fault fault;
    bool has_kind = false;
    for (const auto& [name, value] : entry.items()) {
      if (name == "kind") {
        const auto kind = value.is_string() ? kind_of(value.get<std::string>()) : std::nullopt;
        if (!kind) return wrong("its kind is unknown");
        fault.kind = *kind;
        has_kind = true;
      } else if (name == "leaf") {
        if (!value.is_number_unsigned()) return wrong("a leaf is its number");
        fault.leaf = LeafId{value.get<std::uint32_t>()};
      } else if (name == "delay") {
        auto delay = Distribution::from_json(value, read_sample_file);
        if (delay.has_error()) return wrong("delay: " + delay.error().context);
        fault.delay = std::move(*delay);
      } else if (name == "from" || name == "until") {
        const auto time = parse_duration(value.is_string() ? value.get<std::string>() : "");
        if (time.has_error()) return wrong(name + ": " + time.error().context);
        if (name == "from") fault.from = *time;
        if (name == "until") fault.until = *time;
      } else if (name == "factor" || name == "probability") {
        if (!value.is_number() || value.get<double>() < 0) return wrong(name + " is a number of at least 0");
        (name == "factor" ? fault.factor : fault.probability) = value.get<double>();
      } else {
        return wrong("'" + name + "' is unknown");
      }
    }
    if (!has_kind) return wrong("has no kind");
    faults.push_back(fault);
  }
  return faults;
}

}  // namespace hedgerow::lab::simulation
