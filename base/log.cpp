#include "base/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace hedgerow {

namespace {

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return spdlog::level::debug;
    case LogLevel::info: return spdlog::level::info;
    case LogLevel::warning: return spdlog::level::warn;
    case LogLevel::error: return spdlog::level::err;
  }
  return spdlog::level::err;
}

}  // namespace

bool start_logging(std::string_view program, std::string_view level) {
  const auto threshold = spdlog::level::from_str(std::string(level));
  if (threshold == spdlog::level::off && level != "off") return false;
  auto logger = std::make_shared<spdlog::logger>(std::string(program), std::make_shared<spdlog::sinks::stderr_sink_mt>());
  // The fields come as the inside of a JSON object, already escaped.
  logger->set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%fZ","level":"%l","program":"%n",%v})", spdlog::pattern_time_type::utc);
  logger->set_level(threshold);
  spdlog::set_default_logger(std::move(logger));
  return true;
}

void log_event(LogLevel level, std::string_view event, const nlohmann::json& fields) {
  if (!spdlog::default_logger_raw()->should_log(level_of(level))) return;
  nlohmann::ordered_json line{{"event", event}};
  for (const auto& [name, value] : fields.items()) line[name] = value;
  const std::string text = line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  spdlog::log(level_of(level), "{}", std::string_view(text).substr(1, text.size() - 2));
}

}  // namespace hedgerow
