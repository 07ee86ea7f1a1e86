#include "index/build_progress.hpp"

#include <cmath>
#include <cstdio>

namespace hedgerow {

namespace {

constexpr Duration on_terminal = std::chrono::milliseconds(100);
constexpr Duration elsewhere = std::chrono::seconds(3);
constexpr std::uint64_t most_errors_printed = 10;

}  // namespace

BuildProgressPrinter::BuildProgressPrinter(Instant start, bool terminal)
    : start_(start), terminal_(terminal), printed_(start) {}

void BuildProgressPrinter::progress(const BuildProgress& progress, Instant now) {
  const bool new_phase = progress.phase != phase_;
  if (!new_phase && now - printed_ < (terminal_ ? on_terminal : elsewhere)) return;
  phase_ = progress.phase;
  printed_ = now;
  print(describe(progress, now - start_));
}

void BuildProgressPrinter::read_error(const ReadError& error) {
  if (++read_errors_ > most_errors_printed) return;
  end();
  std::fprintf(stderr, "skipped: %s\n", to_string(error).c_str());
  if (read_errors_ == most_errors_printed) std::fprintf(stderr, "skipped: further ones are only counted\n");
}

void BuildProgressPrinter::end() {
  if (line_open_) std::fputc('\n', stderr);
  line_open_ = false;
}

void BuildProgressPrinter::print(const std::string& line) {
  std::fprintf(stderr, terminal_ ? "\r\033[K%s" : "%s\n", line.c_str());
  std::fflush(stderr);
  line_open_ = terminal_;
}

std::string describe(const BuildProgress& progress, Duration elapsed) {
  const std::string documents = with_thousands(progress.read.documents) + " documents";
  switch (progress.phase) {
    case BuildPhase::reading: {
      const double seconds = to_seconds(elapsed);
      std::string line = "reading: " + documents;
      if (seconds > 0) {
        const double rate = static_cast<double>(progress.read.documents) / seconds;
        line += ", " + with_thousands(static_cast<std::uint64_t>(rate)) + "/s";
      }
      if (progress.read.fraction && *progress.read.fraction > 0) {
        const double fraction = std::min(*progress.read.fraction, 1.0);
        line += ", " + std::to_string(static_cast<int>(fraction * 100)) + " %";
        line += ", " + with_thousands(static_cast<std::uint64_t>(std::ceil(seconds * (1 - fraction) / fraction))) +
                " s left";
      }
      return line;
    }
    case BuildPhase::finishing:
      return "writing partitions: " + documents + ", " + std::to_string(progress.partitions_finished) + " of " +
             std::to_string(progress.partitions) + " finished";
    case BuildPhase::statistics: return "writing statistics: " + documents;
    case BuildPhase::spelling: return "writing the spelling dictionary: " + documents;
    case BuildPhase::publishing: return "publishing: " + documents;
  }
  return documents;
}

std::string with_thousands(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::ptrdiff_t place = std::ssize(digits) - 3; place > 0; place -= 3) {
    digits.insert(static_cast<std::size_t>(place), 1, ',');
  }
  return digits;
}

}  // namespace hedgerow
