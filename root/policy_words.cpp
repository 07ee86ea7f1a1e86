#include "root/policy_words.hpp"

#include <charconv>
#include <cmath>

#include "base/clock.hpp"

namespace hedgerow::root {

using policy::HedgeChoice;
using policy::ReplicaChoiceSettings;

namespace {

constexpr Duration longest_delay = std::chrono::seconds(60);

Error takes(const char* words) { return {Errc::invalid_argument, std::string("takes ") + words}; }

}  // namespace

result<double> parse_decimal(std::string_view text) {
  double number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (text.empty() || problem != std::errc{} || end != text.data() + text.size() || !std::isfinite(number)) {
    return takes("a decimal number");
  }
  return number;
}

result<HedgeChoice> parse_hedge(std::string_view text) {
  const auto wrong = [] { return takes("'auto', 'off', a quantile such as p95, or a delay above 0 and up to 60s such as 10ms"); };
  HedgeChoice choice;
  if (text == "auto") return choice;
  if (text == "off") {
    choice.mode = HedgeChoice::Mode::off;
    return choice;
  }
  if (text.starts_with('p')) {
    const auto percent = parse_decimal(text.substr(1));
    if (percent.has_error() || *percent <= 0 || *percent >= 100) return wrong();
    choice.mode = HedgeChoice::Mode::quantile;
    choice.quantile = *percent / 100;
    return choice;
  }
  const auto delay = parse_duration(text);
  if (delay.has_error() || *delay <= Duration::zero() || *delay > longest_delay) return wrong();
  choice.mode = HedgeChoice::Mode::fixed;
  choice.delay = *delay;
  return choice;
}

std::string to_text(const HedgeChoice& choice) {
  switch (choice.mode) {
    case HedgeChoice::Mode::automatic: return "auto";
    case HedgeChoice::Mode::off: return "off";
    case HedgeChoice::Mode::fixed: return format_duration(choice.delay);
    case HedgeChoice::Mode::quantile: {
      // Six significant digits are more than anybody writes, and hide what a division by 100 leaves behind.
      char text[32];
      const auto [end, problem] = std::to_chars(text, text + sizeof text, choice.quantile * 100, std::chars_format::general, 6);
      return "p" + std::string(text, problem == std::errc{} ? end : text);
    }
  }
  return "auto";
}

result<CanaryUse> parse_canary(std::string_view text) {
  for (const auto use : {CanaryUse::automatic, CanaryUse::always, CanaryUse::off}) {
    if (text == to_string(use)) return use;
  }
  return takes("'auto', 'always' or 'off'");
}

std::string_view to_string(CanaryUse use) {
  switch (use) {
    case CanaryUse::automatic: return "auto";
    case CanaryUse::always: return "always";
    case CanaryUse::off: return "off";
  }
  return "auto";
}

result<ReplicaChoiceSettings::Mode> parse_replica_choice(std::string_view text) {
  using Mode = ReplicaChoiceSettings::Mode;
  for (const auto mode : {Mode::prequal, Mode::least_in_flight, Mode::random}) {
    if (text == policy::to_string(mode)) return mode;
  }
  return takes("'prequal', 'least-in-flight' or 'random'");
}

result<bool> parse_switch(std::string_view text) {
  if (text != "on" && text != "off") return takes("'on' or 'off'");
  return text == "on";
}

result<policy::HedgeBrakes> parse_hedge_brakes(std::string_view text) {
  const auto on = parse_switch(text);
  if (on.has_error()) return on.error();
  return *on ? policy::HedgeBrakes::on : policy::HedgeBrakes::off;
}

}  // namespace hedgerow::root
