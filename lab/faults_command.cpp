#include "lab/faults_command.hpp"

#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <cstdio>

#include "lab/cluster_file.hpp"
#include "lab/given_faults.hpp"
#include "lab/leaf_faults.hpp"

namespace hedgerow::lab {

namespace asio = boost::asio;

namespace {

int fail_with(int status, const std::string& why) {
  std::fprintf(stderr, "hedgerow-lab: %s\n", why.c_str());
  return status;
}

asio::awaitable<result<LeafListings>> change_and_list(std::vector<LeafAddress> leaves, const FaultsSettings& settings,
                                                      nlohmann::json faults) {
  if (settings.clear) co_return co_await clear_leaf_faults(std::move(leaves));
  if (settings.set.empty()) co_return co_await list_leaf_faults(std::move(leaves));
  co_return co_await set_leaf_faults(std::move(leaves), std::move(faults), read_sample_file);
}

void print_listings(const nlohmann::ordered_json& leaves) {
  std::printf("%-10s %-8s %9s  %s\n", "LEAF", "STATE", "APPLIED", "FAULT");
  for (const auto& [name, listing] : leaves.items()) {
    const auto faults = listing.value("faults", nlohmann::ordered_json::array());
    if (faults.empty()) std::printf("%-10s %-8s %9s  %s\n", name.c_str(), "-", "-", listing.value("allowed", false) ? "none" : "none allowed");
    for (auto fault : faults) {
      const auto state = fault.value("state", "");
      const auto applied = fault.value("applied", std::uint64_t{0});
      for (const char* told : {"state", "applied"}) fault.erase(told);
      std::printf("%-10s %-8s %9llu  %s\n", name.c_str(), state.c_str(), static_cast<unsigned long long>(applied), fault.dump().c_str());
    }
  }
}

}  // namespace

int run_faults(const FaultsSettings& settings) {
  const auto cluster = read_cluster_file(settings.cluster);
  if (cluster.has_error()) return fail_with(1, to_string(cluster.error()));
  nlohmann::json faults;
  if (!settings.set.empty()) {
    auto given = read_given_faults(settings.set);
    if (given.has_error()) return fail_with(2, given.error().context);
    faults = std::move(*given);
  }
  std::vector<LeafAddress> leaves;
  for (const auto& leaf : cluster->leaves) leaves.push_back({leaf.name, leaf.address});

  asio::io_context context(1);
  auto future = asio::co_spawn(context, change_and_list(std::move(leaves), settings, std::move(faults)), asio::use_future);
  context.run();
  const auto listings = future.get();
  if (listings.has_error()) {
    const auto code = listings.error().code;
    return fail_with(code == Errc::refused || code == Errc::unavailable ? 1 : 2, listings.error().context);
  }
  if (!settings.json && ::isatty(STDOUT_FILENO) == 1) {
    print_listings(listings->leaves);
  } else {
    std::printf("%s\n", listings->leaves.dump(2).c_str());
  }
  return 0;
}

}  // namespace hedgerow::lab
