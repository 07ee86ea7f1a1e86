#include "lab/load_command.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/signal_set.hpp>
#include <cstdio>
#include <exception>
#include <optional>

namespace hedgerow::lab {

namespace asio = boost::asio;

namespace {

int nothing_asked(const Error& error) {
  std::fprintf(stderr, "hedgerow-lab: %s\n", to_string(error).c_str());
  return 2;
}

void show_progress(const LoadProgress& progress) {
  char of_all[32] = "";
  if (progress.total > Duration::zero()) {
    std::snprintf(of_all, sizeof of_all, " of %.0f s", to_seconds(progress.total));
  } else {
    std::snprintf(of_all, sizeof of_all, " s, %.0f %%",
                  100 * static_cast<double>(progress.answered + progress.failed) / static_cast<double>(std::max<std::uint64_t>(1, progress.wanted)));
  }
  std::fprintf(stderr, "\r%.0f%s  %llu sent, %llu failed, %zu under way; last second: %llu ended, ms p50 %.2f p99 %.2f max %.2f\033[K",
               to_seconds(progress.elapsed), of_all, static_cast<unsigned long long>(progress.sent),
               static_cast<unsigned long long>(progress.failed), progress.in_flight, static_cast<unsigned long long>(progress.recent),
               to_milliseconds(progress.recent_p50), to_milliseconds(progress.recent_p99), to_milliseconds(progress.recent_max));
}

// Each connection is a descriptor, and the limit that a shell gives is for people's programs. Errors: invalid_argument
// where the system allows no more.
result<void> make_room_for(std::size_t connections) {
  constexpr rlim_t others = 64;  // files, timers, the terminal
  const rlim_t needed = static_cast<rlim_t>(connections) + others;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return {};
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? needed : std::min(needed, limit.rlim_max);
  if (limit.rlim_cur == needed && ::setrlimit(RLIMIT_NOFILE, &limit) == 0) return {};
  return Error{Errc::invalid_argument, std::to_string(connections) + " connections need " + std::to_string(needed) +
                                           " descriptors, and the system allows this user " + std::to_string(limit.rlim_max) + " (ulimit -Hn)"};
}

// Runs to the end, or to the first Ctrl-C and what was under way then.
result<LoadResult> run_to_the_end(const LoadSettings& settings, LoadFiles* files, bool terminal) {
  asio::io_context context(1);
  Load load(context, settings, terminal ? show_progress : std::function<void(const LoadProgress&)>{});
  if (files) load.observe([files](const LoadOutcome& outcome) { files->record(outcome); });
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
  return std::move(*end);
}

}  // namespace

int run_load(const LoadCommand& command) {
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  const LoadSettings& asked = command.plan.load;
  if (auto room = make_room_for(std::max(asked.clients, asked.clients > 0 ? 0 : asked.connections)); !room) return nothing_asked(room.error());
  if (terminal && !command.plan.reference.empty()) std::fprintf(stderr, "asking %s for complete answers …", command.plan.reference.c_str());
  auto prepared = prepare_load(command.plan);
  if (terminal) std::fprintf(stderr, "\r\033[K");
  if (!prepared) return nothing_asked(prepared.error());
  for (const auto& note : prepared->notes) std::fprintf(stderr, "hedgerow-lab: %s\n", note.c_str());
  prepared->settings.traced = !command.files.attempts.empty();

  std::optional<LoadFiles> files;
  if (command.files.any()) {
    auto created = LoadFiles::create(command.files, std::chrono::system_clock::now());
    if (!created) return nothing_asked(created.error());
    files = std::move(*created);
  }
  const auto result = run_to_the_end(prepared->settings, files ? &*files : nullptr, terminal);
  if (!result) return nothing_asked(result.error());

  const auto& [frame, report] = *result;
  const auto summary = report.to_json(frame);
  const std::string text = command.json ? summary.dump(2) + "\n" : report.to_text(frame);
  std::fwrite(text.data(), 1, text.size(), stdout);
  // The text ends with it; a program that reads JSON may not look.
  if (const auto behind = report.could_not_keep_up(frame); behind && command.json) std::fprintf(stderr, "hedgerow-lab: %s\n", behind->c_str());
  bool written = true;
  if (files) {
    if (const auto finished = files->finish(*result); !finished) {
      std::fprintf(stderr, "hedgerow-lab: %s\n", to_string(finished.error()).c_str());
      written = false;
    }
  }
  return written && summary["status"].contains("200") ? 0 : 1;
}

}  // namespace hedgerow::lab
