// How distributions are written in JSON.
#include "base/distribution.hpp"

namespace hedgerow {

using nlohmann::json;

namespace {

// One entry of {"empirical": […]}: "1ms", or ["2ms", 3].
result<Distribution::Sample> sample_from(const json& entry) {
  const json* time = &entry;
  Distribution::Sample sample;
  if (entry.is_array()) {
    if (entry.size() != 2 || !entry[1].is_number()) return Error{Errc::invalid_argument, "write [DURATION, WEIGHT]"};
    time = &entry[0];
    sample.weight = entry[1].get<double>();
  }
  if (!time->is_string()) return Error{Errc::invalid_argument, "durations are strings with a unit, such as \"1ms\""};
  const auto parsed = parse_duration(time->get_ref<const std::string&>());
  if (parsed.has_error()) return parsed.error();
  sample.time = *parsed;
  return sample;
}

}  // namespace

result<Distribution> Distribution::from_json(const json& value, const ReadFile& read) {
  if (value.is_string()) return parse(value.get_ref<const std::string&>(), read);
  const auto no = [](const std::string& why) { return Error{Errc::invalid_argument, why}; };
  if (!value.is_object() || value.size() != 1) {
    return no("a distribution is a string such as \"5ms\" or \"uniform:3ms..10ms\", {\"empirical\": […]} or {\"mix\": […]}");
  }
  const std::string& name = value.begin().key();
  const json& entries = value.begin().value();
  if (!entries.is_array() || (name != "empirical" && name != "mix")) {
    return no("'" + name.substr(0, 80) + "' is none of 'empirical' and 'mix', with a list");
  }
  if (name == "empirical") {
    std::vector<Sample> samples;
    samples.reserve(entries.size());
    for (const json& entry : entries) {
      const auto sample = sample_from(entry);
      if (sample.has_error()) return no("duration " + std::to_string(samples.size() + 1) + ": " + sample.error().context);
      samples.push_back(*sample);
    }
    return empirical(std::move(samples));
  }
  std::vector<Share> shares;
  for (const json& entry : entries) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_number()) return no("a mix is a list of [SHARE, DISTRIBUTION]");
    if (entry[1].is_object() && entry[1].contains("mix")) return no("a mix of mixes is written as one");
    auto of = from_json(entry[1], read);
    if (of.has_error()) return of.error();
    shares.push_back({entry[0].get<double>(), std::move(*of)});
  }
  return mix(std::move(shares));
}

json Distribution::to_json() const {
  if (kind_ == Kind::empirical) {
    json list = json::array();
    for (const Measured& entry : *measured_) {
      const auto time = format_duration(Duration{static_cast<Duration::rep>(entry.nanoseconds)});
      list.push_back(entry.weight == 1 ? json(time) : json::array({time, entry.weight}));
    }
    return {{"empirical", std::move(list)}};
  }
  if (kind_ == Kind::mix) {
    json list = json::array();
    for (const Part& part : parts_) list.push_back(json::array({part.share, part.of->to_json()}));
    return {{"mix", std::move(list)}};
  }
  return text_;
}

}  // namespace hedgerow
