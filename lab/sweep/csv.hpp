// Comma-separated values as RFC 4180 has them: lines end in CR LF or LF, quotes hold commas, quotes and line ends. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace hedgerow::lab::sweep {

using CsvRow = std::vector<std::string>;

// With its line end.
std::string csv_line(const CsvRow& row);
// Errors: input (a quote that does not close, or text behind a closing quote), with the line.
result<std::vector<CsvRow>> parse_csv(std::string_view text);

}  // namespace hedgerow::lab::sweep
