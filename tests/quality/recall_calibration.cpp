#include "recall_calibration.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "base/random.hpp"
#include "index/searcher.hpp"
#include "root/estimated_recall.hpp"
#include "root/merge.hpp"

namespace hedgerow::test {

namespace {

constexpr std::uint32_t k = 10;

}  // namespace

RecallCalibration calibrate_recall(const std::filesystem::path& index, const std::vector<std::string>& queries,
                                   std::size_t times, std::uint64_t seed) {
  const Manifest manifest = read_manifest(index).value();
  const auto statistics = CollectionStatistics::open(index, manifest);
  statistics.value();
  const auto partitions = static_cast<std::uint32_t>(manifest.partitions.size());
  std::vector<PartitionSearcher> searchers;
  for (std::uint32_t p = 0; p < partitions; ++p) {
    auto searcher = PartitionSearcher::open(index, manifest, PartitionId{p});
    searcher.value();
    searchers.push_back(std::move(*searcher));
  }

  Random random(seed);
  RecallCalibration calibration;
  for (const auto& text : queries) {
    const auto plan = plan_query(text, *statistics);
    if (plan.has_error()) continue;
    const auto query = PreparedQuery::prepare(*plan).value();
    std::vector<std::vector<ScoredDocument>> hits;
    root::Merge complete(k);
    for (std::uint32_t p = 0; p < partitions; ++p) {
      hits.push_back(searchers[p].search(query, k, 0, nullptr).value().hits);
      complete.add(PartitionId{p}, hits.back());
    }
    if (complete.hits().empty()) continue;

    for (std::size_t time = 0; time < times; ++time) {
      std::vector<std::uint32_t> order(partitions);
      std::iota(order.begin(), order.end(), 0U);
      for (std::uint32_t i = partitions - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
      order.resize(1 + random.below(partitions - 1));

      root::Completeness completeness;
      completeness.documents_total = completeness.documents_searched = manifest.documents;
      std::vector<bool> is_missing(partitions, false);
      for (const auto p : order) {
        is_missing[p] = true;
        completeness.missing.push_back({PartitionId{p}, root::MissingReason::late});
        completeness.documents_searched -= manifest.partitions[p].documents;
      }
      root::Merge partial(k);
      for (std::uint32_t p = 0; p < partitions; ++p) {
        if (!is_missing[p]) partial.add(PartitionId{p}, hits[p]);
      }
      const auto there = std::count_if(complete.hits().begin(), complete.hits().end(),
                                       [&](const auto& hit) { return !is_missing[hit.partition.value]; });
      const double measured = static_cast<double>(there) / static_cast<double>(complete.hits().size());

      const auto began = std::chrono::steady_clock::now();
      const double estimated =
          root::estimated_recall(root::recall_question(*plan, *statistics, manifest, completeness, partial.hits(), k));
      const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
      calibration.slowest_milliseconds = std::max(calibration.slowest_milliseconds, took.count());
      calibration.mean_milliseconds += took.count();

      ++calibration.answers;
      calibration.error += std::abs(estimated - measured);
      calibration.error_of_documents += std::abs(completeness.fraction() - measured);
      RecallBin& bin = calibration.bins[std::min<std::size_t>(4, static_cast<std::size_t>(estimated * 5))];
      ++bin.answers;
      bin.estimated += estimated;
      bin.measured += measured;
    }
  }
  const auto answers = static_cast<double>(std::max<std::size_t>(1, calibration.answers));
  calibration.error /= answers;
  calibration.error_of_documents /= answers;
  calibration.mean_milliseconds /= answers;
  for (RecallBin& bin : calibration.bins) {
    if (bin.answers == 0) continue;
    bin.estimated /= static_cast<double>(bin.answers);
    bin.measured /= static_cast<double>(bin.answers);
  }
  return calibration;
}

std::string to_text(const RecallCalibration& calibration) {
  char line[160];
  std::string text;
  const auto add = [&](const char* format, auto... values) {
    std::snprintf(line, sizeof line, format, values...);
    text += line;
  };
  add("%zu partial answers; an estimate takes %.3f ms, at most %.3f ms\n", calibration.answers, calibration.mean_milliseconds,
      calibration.slowest_milliseconds);
  for (std::size_t i = 0; i < calibration.bins.size(); ++i) {
    const RecallBin& bin = calibration.bins[i];
    add("estimates up to %.1f: %5zu answers, estimated %.3f, measured %.3f\n", 0.2 * static_cast<double>(i + 1), bin.answers,
        bin.estimated, bin.measured);
  }
  add("mean absolute error %.4f, of the share of documents %.4f, ratio %.3f\n", calibration.error, calibration.error_of_documents,
      calibration.error / calibration.error_of_documents);
  return text;
}

}  // namespace hedgerow::test
