// The closed forms that experiments are held against, against the paper, hand calculation, or a sum that is worked out
// another way.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "base/random.hpp"
#include "lab/experiments/amplification.hpp"
#include "lab/experiments/background.hpp"
#include "lab/experiments/classes.hpp"
#include "lab/experiments/good_enough.hpp"
#include "lab/experiments/nelder_mead.hpp"
#include "lab/experiments/percentile_model.hpp"
#include "lab/experiments/subsystems.hpp"

namespace hedgerow::lab {

using namespace std::chrono_literals;

TEST_CASE("rare slowness is amplified as the paper's figure has it: 63 % of 100 leaves, 18 % of 2,000 at 1 in 10,000") {
  CHECK(slow_queries_percent(0.01, 1) == doctest::Approx(1));
  CHECK(slow_queries_percent(0.01, 100) == doctest::Approx(63.4).epsilon(0.001));
  CHECK(slow_queries_percent(0.0001, 2000) == doctest::Approx(18.1).epsilon(0.002));
  CHECK(slow_queries_percent(0, 50) == 0);
}

TEST_CASE("waits for upkeep: by counting instants of a period one after another") {
  struct Row {
    Duration period, length;
    std::size_t phases;
  };
  for (const Row& row : {Row{10s, 50ms, 1}, Row{10s, 50ms, 100}, Row{1s, 300ms, 4}, Row{1s, 300ms, 2}}) {
    const UpkeepModel model{row.period, row.length, row.phases};
    for (const double part : {0.0, 0.25, 0.5, 0.9}) {
      const Duration wait{static_cast<Duration::rep>(part * static_cast<double>(row.length.count()))};
      // At each of 100,000 instants: the longest rest of upkeep on any leaf.
      std::size_t longer = 0;
      constexpr std::size_t instants = 100'000;
      for (std::size_t i = 0; i < instants; ++i) {
        const double at = (static_cast<double>(i) + 0.5) / instants * to_seconds(row.period);
        double rest = 0;
        for (std::size_t leaf = 0; leaf < row.phases; ++leaf) {
          double since = at - to_seconds(row.period) * static_cast<double>(leaf) / static_cast<double>(row.phases);
          if (since < 0) since += to_seconds(row.period);
          rest = std::max(rest, to_seconds(row.length) - since);
        }
        longer += rest > to_seconds(wait) ? 1 : 0;
      }
      CHECK(waits_longer(model, wait) == doctest::Approx(static_cast<double>(longer) / instants).epsilon(0.002));
    }
    CHECK(waits_longer(model, row.length) == 0);
  }
  CHECK(waits_longer({10s, 50ms, 1}, 25ms) == doctest::Approx(0.0025).scale(0));
  // And back.
  const UpkeepModel model{10s, 50ms, 100};
  CHECK(to_milliseconds(upkeep_wait(model, 0.99)) == doctest::Approx(49));
  CHECK(upkeep_wait(model, 0.4) == 0ms);
  CHECK(waits_longer(model, upkeep_wait(model, 0.8)) == doctest::Approx(0.2));
}

TEST_CASE("waits of interactive queries, by hand") {
  // Partitions of 2 ms, calls of 16: 0.2 * 2 / 2 = 0.2 and 0.5 * 32 / 2 = 8 ms of what is left of the work that runs.
  const ClassesModel model{2, 16, 0.2, 0.5};
  CHECK(wait_alone_ms(model) == doctest::Approx(0.25));
  CHECK(wait_in_one_class_ms(model) == doctest::Approx(8.2 / 0.3));
  CHECK(wait_by_class_ms(model) == doctest::Approx(8.2 / 0.8));
  CHECK(wait_interleaved_ms(model) == doctest::Approx(0.7 / 0.8));
}

TEST_CASE("expected nDCG of answers that miss some of the best: all, none, and half of two") {
  CHECK(expected_ndcg(1, 10) == doctest::Approx(1));
  CHECK(expected_ndcg(0, 10) == 0);
  // Of two hits, each there with one half: both 1/4, one 1/2 (then it is the first), none 1/4.
  const double second = 1 / std::log2(3);
  CHECK(expected_ndcg(0.5, 2) == doctest::Approx(0.25 + 0.5 / (1 + second)));
  // What is left moves up, so half of the best are worth more than half.
  CHECK(expected_ndcg(0.5, 10) > 0.5);
}

TEST_CASE("waits in vain are a quarter of a per cent, one in twenty seconds, and two at once") {
  CHECK(waits_in_vain(100'000, 100) == doctest::Approx(0.0025 + 7e-5));
  CHECK(waits_in_vain(0, 100) == 1);
}

TEST_CASE("a simplex finds the bottom of a curved valley") {
  // Rosenbrock's.
  const auto found = nelder_mead([](const std::vector<double>& at) { return std::pow(1 - at[0], 2) + 100 * std::pow(at[1] - at[0] * at[0], 2); }, {-1.2, 1},
                                 {0.5, 0.5}, 400);
  CHECK(found.at[0] == doctest::Approx(1).epsilon(0.001));
  CHECK(found.at[1] == doctest::Approx(1).epsilon(0.001));
}

TEST_CASE("the percentile model's closed form is what drawing queries leaf by leaf gives") {
  PercentileModel model;
  model.leaf_median_ms = 2;
  model.leaf_sigma = 0.8;
  model.shared_median = 5;
  model.shared_sigma = 0.6;
  model.leaves = 60;
  const auto table = closed_form(model);
  Random random(5);
  constexpr std::size_t queries = 40'000;
  std::vector<double> most, all;
  for (std::size_t query = 0; query < queries; ++query) {
    const double shared = 5 * std::exp(0.6 * random.normal());
    std::vector<double> leaves;
    for (int leaf = 0; leaf < 60; ++leaf) leaves.push_back(shared + 2 * std::exp(0.8 * random.normal()));
    std::sort(leaves.begin(), leaves.end());
    most.push_back(leaves[56]);  // 57 of 60 are 95 %
    all.push_back(leaves[59]);
  }
  std::sort(most.begin(), most.end());
  std::sort(all.begin(), all.end());
  for (std::size_t i = 0; i < 3; ++i) {
    const auto place = static_cast<std::size_t>(percentile_shares[i] * queries);
    CHECK(table[1][i] == doctest::Approx(most[place]).epsilon(0.03));
    CHECK(table[2][i] == doctest::Approx(all[place]).epsilon(0.04));
  }
  // One leaf alone is log-normal: 2 ms times e^(0.8 * 1.645) at p95.
  CHECK(table[0][0] == doctest::Approx(2).epsilon(0.001));
  CHECK(table[0][1] == doctest::Approx(2 * std::exp(0.8 * 1.6449)).epsilon(0.001));
}

// Calculated for the issue by another program (a simplex in Python over the same sums): an error of 7.7 % with shared time,
// of 51 % with a shared factor.
TEST_CASE("the paper's Table 1 is met within 15 % by leaves that share time, and by none that share a factor") {
  const auto time = fit_percentiles(PercentileModel::Kind::shared_time, paper_percentiles);
  CHECK(time.root_mean_square == doctest::Approx(0.0767).epsilon(0.03).scale(0));
  CHECK(time.worst < 0.15);
  CHECK(time.model.leaf_median_ms == doctest::Approx(0.955).epsilon(0.03).scale(0));
  CHECK(time.model.leaves > 2000);
  CHECK(time.model.leaves < 4500);
  const auto factor = fit_percentiles(PercentileModel::Kind::shared_factor, paper_percentiles);
  CHECK(factor.root_mean_square > 0.4);
  // Half of the queries lack a twentieth of their leaves after 12 ms, but only one leaf in a hundred takes more than 10.
  CHECK(least_share_beyond_median() == doctest::Approx(0.025));
  CHECK(least_share_beyond_median() > 0.01);
}

}  // namespace hedgerow::lab
