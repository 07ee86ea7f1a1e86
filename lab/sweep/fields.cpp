#include "lab/sweep/fields.hpp"

namespace hedgerow::lab::sweep {

using nlohmann::ordered_json;

Fields::Fields(const ordered_json& object, std::string path) : object_(object), path_(std::move(path)) {
  if (!object.is_object()) error_ = Error{Errc::invalid_argument, (path_.empty() ? "the plan" : path_) + " is no JSON object"};
}

const ordered_json* Fields::find(const char* name) {
  known_.insert(name);
  if (!object_.is_object()) return nullptr;
  const auto member = object_.find(name);
  return member == object_.end() ? nullptr : &*member;
}

void Fields::read(const char* name, std::string& value) {
  const ordered_json* member = find(name);
  if (!member) return;
  if (!member->is_string()) return fail(name, "is a text");
  value = member->get<std::string>();
}

void Fields::read(const char* name, bool& value) {
  const ordered_json* member = find(name);
  if (!member) return;
  if (!member->is_boolean()) return fail(name, "is true or false");
  value = member->get<bool>();
}

void Fields::read(const char* name, Duration& value) {
  const ordered_json* member = find(name);
  if (!member) return;
  const auto duration = parse_duration(member->is_string() ? member->get<std::string>() : "");
  if (duration.has_error()) return fail(name, "is a duration such as \"250ms\"");
  value = *duration;
}

void Fields::read(const char* name, std::vector<std::string>& value) {
  const ordered_json* member = find(name);
  if (!member) return;
  if (!member->is_array()) return fail(name, "is a list of texts");
  value.clear();
  for (const auto& entry : *member) {
    if (!entry.is_string()) return fail(name, "is a list of texts");
    value.push_back(entry.get<std::string>());
  }
}

void Fields::read(const char* name, double& value, double least, double most) {
  std::optional<double> read_value;
  read(name, read_value, least, most);
  if (read_value) value = *read_value;
}

void Fields::read(const char* name, std::optional<double>& value, double least, double most) {
  const ordered_json* member = find(name);
  if (!member) return;
  const double number = member->is_number() ? member->get<double>() : least - 1;
  if (!(number >= least && number <= most)) {
    return fail(name, "is a number from " + ordered_json(least).dump() + " to " + ordered_json(most).dump());
  }
  value = number;
}

void Fields::read(const char* name, std::uint64_t& value, std::uint64_t least, std::uint64_t most) {
  const ordered_json* member = find(name);
  if (!member) return;
  // A number made by a program may have a sign where one that was parsed has none.
  const bool whole = member->is_number_unsigned() || (member->is_number_integer() && member->get<std::int64_t>() >= 0);
  if (!whole || member->get<std::uint64_t>() < least || member->get<std::uint64_t>() > most) {
    return fail(name, "is a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  value = member->get<std::uint64_t>();
}

void Fields::fail(const std::string& name, const std::string& what) {
  if (!error_) error_ = Error{Errc::invalid_argument, path_of(name) + " " + what};
}

std::string Fields::path_of(const std::string& name) const { return path_.empty() ? name : path_ + "." + name; }

std::optional<Error> Fields::error() {
  if (!error_) {
    for (const auto& [name, value] : object_.items()) {
      if (!known_.contains(name)) fail(name, "is unknown");
    }
  }
  return error_;
}

}  // namespace hedgerow::lab::sweep
