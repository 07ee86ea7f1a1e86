// Structured logs: one JSON object a line on standard error, with time, level, program, event, and the fields given.
//
// Thread-safe. An event's name is a fixed snake_case word; everything that varies goes into the fields.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace hedgerow {

enum class LogLevel { debug, info, warning, error };

// Called once by main, before any thread starts. level is one of debug, info, warning, error, off.
// Returns false for any other word.
bool start_logging(std::string_view program, std::string_view level);

void log_event(LogLevel level, std::string_view event, const nlohmann::json& fields = nlohmann::json::object());

}  // namespace hedgerow
