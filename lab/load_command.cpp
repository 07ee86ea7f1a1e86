#include "lab/load_command.hpp"

#include <signal.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/signal_set.hpp>
#include <cstdio>
#include <exception>
#include <optional>

namespace hedgerow::lab {

namespace asio = boost::asio;

namespace {

void show_progress(const LoadProgress& progress) {
  std::fprintf(stderr, "\r%6.0f s  %llu sent, %llu answered, %llu failed, %zu under way   ", to_seconds(progress.elapsed),
               static_cast<unsigned long long>(progress.sent), static_cast<unsigned long long>(progress.answered),
               static_cast<unsigned long long>(progress.failed), progress.in_flight);
}

}  // namespace

int run_load(LoadSettings settings, bool as_json) {
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  asio::io_context context(1);
  Load load(context, std::move(settings), terminal ? show_progress : std::function<void(const LoadProgress&)>{});
  asio::signal_set signals(context, SIGINT, SIGTERM);
  signals.async_wait([&](boost::system::error_code error, int) {
    if (!error) load.break_off();
    // A second one ends the process as if there were no handler.
    boost::system::error_code ignored;
    signals.clear(ignored);
  });
  std::optional<result<LoadResult>> end;
  asio::co_spawn(context, load.run(), [&](std::exception_ptr problem, result<LoadResult> value) {
    boost::system::error_code ignored;
    signals.cancel(ignored);
    if (problem) std::rethrow_exception(problem);
    end = std::move(value);
  });
  context.run();
  if (terminal) std::fprintf(stderr, "\r\033[K");
  if (end->has_error()) {
    std::fprintf(stderr, "hedgerow-lab: %s\n", to_string(end->error()).c_str());
    return 2;
  }
  const auto& [frame, report] = **end;
  const auto summary = report.to_json(frame);
  const std::string text = as_json ? summary.dump(2) + "\n" : report.to_text(frame);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return summary["status"].contains("200") ? 0 : 1;
}

}  // namespace hedgerow::lab
