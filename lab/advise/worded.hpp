// A sentence or a line of a table with figures in it, in printf's forms. What is longer than a line of 600 bytes is cut.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <string>

namespace hedgerow::lab {

__attribute__((format(printf, 1, 2))) inline std::string worded(const char* form, ...) {
  char line[600];
  va_list arguments;
  va_start(arguments, form);
  std::vsnprintf(line, sizeof line, form, arguments);
  va_end(arguments);
  return line;
}

}  // namespace hedgerow::lab
