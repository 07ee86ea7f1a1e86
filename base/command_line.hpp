// Durations on a command line, for CLI11. Header only, so that base does not depend on CLI11: include it in mains.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/clock.hpp"

namespace hedgerow {

// An option whose value is a duration with its unit, and of at least `least`; checked when the command line is read.
inline CLI::Option* add_duration_option(CLI::App& app, const std::string& name, Duration& target,
                                        const std::string& help, Duration least = Duration::zero()) {
  return app
      .add_option_function<std::string>(
          name,
          [&target, name, least](const std::string& text) {
            const auto parsed = parse_duration(text);
            if (parsed.has_error()) throw CLI::ValidationError(name, parsed.error().context);
            if (*parsed < least) throw CLI::ValidationError(name, "takes at least " + format_duration(least));
            target = *parsed;
          },
          help)
      ->default_str(format_duration(target))
      ->type_name("DURATION");
}

}  // namespace hedgerow
