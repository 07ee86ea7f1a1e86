#include "lab/placement.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace hedgerow::lab {

namespace {

using Pair = std::pair<std::size_t, std::size_t>;

// Every pair of an even number of leaves once, in the order of a round-robin tournament (the circle method: one leaf
// stays, the others rotate). Each round meets every leaf once, so the load is level wherever the sequence is cut.
std::vector<Pair> pairs_of_even(std::size_t leaves) {
  std::vector<Pair> pairs;
  const std::size_t circle = leaves - 1;
  for (std::size_t round = 0; round < circle; ++round) {
    pairs.emplace_back(round, leaves - 1);
    for (std::size_t step = 1; step < leaves / 2; ++step) {
      pairs.emplace_back((round + step) % circle, (round + circle - step) % circle);
    }
  }
  return pairs;
}

// Every pair of an odd number of leaves once. A tournament would leave one leaf out of each round; instead the complete
// graph is taken apart into Hamiltonian cycles (Walecki's zigzag around a hub), and of each cycle every second edge is
// taken, twice around, which meets every leaf once before any leaf is met twice.
std::vector<Pair> pairs_of_odd(std::size_t leaves) {
  std::vector<Pair> pairs;
  const std::size_t hub = leaves - 1;
  for (std::size_t turn = 0; turn < hub / 2; ++turn) {
    std::vector<std::size_t> cycle{hub, turn};
    for (std::size_t step = 1; cycle.size() < leaves; ++step) {
      cycle.push_back((turn + step) % hub);
      if (cycle.size() < leaves) cycle.push_back((turn + hub - step) % hub);
    }
    for (std::size_t edge = 0; edge < 2 * leaves; edge += 2) {
      pairs.emplace_back(cycle[edge % leaves], cycle[(edge + 1) % leaves]);
    }
  }
  return pairs;
}

// For three replicas and more: the least loaded leaves, and of those the ones that have shared the least so far. Always
// level; spread well, if not provably best.
std::vector<std::vector<std::size_t>> spread_greedily(std::size_t partitions, std::size_t replicas, std::size_t leaves) {
  std::vector<std::size_t> load(leaves, 0);
  std::vector<std::vector<std::size_t>> shared(leaves, std::vector<std::size_t>(leaves, 0));
  std::vector<std::vector<std::size_t>> holders(partitions);
  for (auto& chosen : holders) {
    const auto cost = [&](std::size_t leaf) {
      std::size_t most = 0, sum = 0;
      for (const auto other : chosen) {
        most = std::max(most, shared[leaf][other]);
        sum += shared[leaf][other];
      }
      return std::tuple(load[leaf], most, sum, leaf);
    };
    while (chosen.size() < replicas) {
      std::size_t best = leaves;
      for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
        if (std::find(chosen.begin(), chosen.end(), leaf) != chosen.end()) continue;
        if (best == leaves || cost(leaf) < cost(best)) best = leaf;
      }
      chosen.push_back(best);
    }
    for (const auto leaf : chosen) {
      ++load[leaf];
      for (const auto other : chosen) ++shared[leaf][other];
    }
  }
  return holders;
}

std::vector<std::vector<std::size_t>> holders_of(std::size_t partitions, std::size_t replicas, std::size_t leaves) {
  if (replicas > 2) return spread_greedily(partitions, replicas, leaves);
  std::vector<std::vector<std::size_t>> holders(partitions);
  if (replicas == 1) {
    for (std::size_t partition = 0; partition < partitions; ++partition) holders[partition] = {partition % leaves};
    return holders;
  }
  const auto pairs = leaves % 2 == 0 ? pairs_of_even(leaves) : pairs_of_odd(leaves);
  for (std::size_t partition = 0; partition < partitions; ++partition) {
    const auto [one, other] = pairs[partition % pairs.size()];
    holders[partition] = {one, other};
  }
  return holders;
}

}  // namespace

result<Placement> place_partitions(std::size_t partitions, std::size_t replicas, std::size_t leaves) {
  if (leaves == 0) return Error{Errc::invalid_argument, "at least one leaf is needed"};
  if (replicas == 0) return Error{Errc::invalid_argument, "at least one replica is needed"};
  if (replicas > leaves) {
    return Error{Errc::invalid_argument, std::to_string(replicas) + " replicas of a partition need as many leaves, and " +
                                             std::to_string(leaves) + " are asked for"};
  }
  if (leaves > partitions * replicas) {
    return Error{Errc::invalid_argument, std::to_string(leaves) + " leaves are too many: " + std::to_string(partitions) +
                                             " partitions with " + std::to_string(replicas) +
                                             " replicas would leave some with nothing to hold"};
  }
  Placement placement(leaves);
  const auto holders = holders_of(partitions, replicas, leaves);
  for (std::size_t partition = 0; partition < partitions; ++partition) {
    for (const auto leaf : holders[partition]) {
      placement[leaf].push_back(PartitionId{static_cast<std::uint32_t>(partition)});
    }
  }
  return placement;
}

}  // namespace hedgerow::lab
