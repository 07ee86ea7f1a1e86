#include "lab/given_faults.hpp"

#include <fstream>
#include <iostream>
#include <iterator>
#include <utility>

namespace hedgerow::lab {

namespace {

// JSON of faults begins with a bracket, a file's name hardly ever does.
result<std::string> given_text(const std::string& given) {
  if (given.starts_with('[') || given.starts_with('{')) return given;
  if (given == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  std::ifstream file(given);
  if (!file) return Error{Errc::io, "cannot read '" + given + "'"};
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

result<nlohmann::json> read_given_faults(const std::string& given) {
  const auto text = given_text(given);
  if (text.has_error()) return text.error();
  auto faults = nlohmann::json::parse(*text, nullptr, false);
  if (faults.is_discarded()) return Error{Errc::invalid_argument, "the faults are not valid JSON"};
  return {boost::system::in_place_value, std::move(faults)};
}

}  // namespace hedgerow::lab
