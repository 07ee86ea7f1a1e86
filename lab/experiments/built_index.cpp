#include "lab/experiments/built_index.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <optional>

#include "lab/child_process.hpp"
#include "lab/cluster_file.hpp"
#include "lab/experiments/live_failure.hpp"

namespace hedgerow::lab {

namespace fs = std::filesystem;

namespace {

constexpr Duration longest_build = std::chrono::minutes(5);

}  // namespace

BuiltIndex::BuiltIndex(const fs::path& bin_dir, const std::string& corpus, std::size_t partitions)
    : folder_(or_failure(TemporaryDirectory::make("index"), "an index")) {
  const auto log = folder_.path() / "log";
  boost::asio::io_context context(1);
  const auto build = or_failure(ChildProcess::start(context.get_executor(), {bin_dir / "hedgerow-index",
                                                                             {"build", "--corpus", corpus, "--partitions", std::to_string(partitions),
                                                                              "--threads", "2", "--out", directory().string()},
                                                                             log}),
                                "hedgerow-index");
  std::optional<ChildEnd> end;
  bool done = false;
  boost::asio::co_spawn(context, build->wait_for_end(longest_build), [&](std::exception_ptr, std::optional<ChildEnd> found) {
    end = found;
    done = true;
  });
  while (!done && context.run_one() > 0) {
  }
  if (end && end->status == 0) return;
  throw LiveFailure("the index of " + corpus + " was not built: " + (end ? to_string(*end) : "it takes too long") + "\n" + last_lines(log, 8));
}

}  // namespace hedgerow::lab
