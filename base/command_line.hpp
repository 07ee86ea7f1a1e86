// Durations on a command line, for CLI11. Header only, so that base does not depend on CLI11: include it in mains.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/clock.hpp"

namespace hedgerow {

// An option whose value is a duration with its unit, checked when the command line is read.
inline CLI::Option* add_duration_option(CLI::App& app, const std::string& name, Duration& target,
                                        const std::string& help) {
  return app
      .add_option_function<std::string>(
          name,
          [&target](const std::string& text) {
            const auto parsed = parse_duration(text);
            if (parsed.has_error()) throw CLI::ValidationError(parsed.error().context);
            target = *parsed;
          },
          help)
      ->default_str(format_duration(target))
      ->type_name("DURATION");
}

}  // namespace hedgerow
