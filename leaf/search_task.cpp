#include "leaf/search_task.hpp"

#include <algorithm>
#include <unordered_map>

#include "leaf/received_query.hpp"

namespace hedgerow::leaf {

namespace {

constexpr std::uint32_t largest_k = 10'000;

void raise_threshold(std::atomic<double>& threshold, double score) {
  double seen = threshold.load(std::memory_order_relaxed);
  while (seen < score && !threshold.compare_exchange_weak(seen, score, std::memory_order_relaxed)) {
  }
}

}  // namespace

SearchTask::SearchTask(wire::SearchCall&& c)
    : CallTask(WorkKind::search, c.call, c.time, c.generation, c.partitions),
      plan_(std::move(c.plan)),
      k_(c.k),
      titles_(c.titles),
      score_threshold_(std::max(0.0, c.score_threshold)) {
  service_class = c.service_class;
  attempt_kind = c.kind;
  if (c.ties.empty()) return;
  std::unordered_map<PartitionId, wire::Tie*> by_partition;
  for (auto& tie : c.ties) by_partition.emplace(tie.partition, &tie);
  for (const auto& part : parts) {
    const auto found = by_partition.find(part->partition);
    if (found == by_partition.end()) continue;
    part->tied = {found->second->tie, std::move(found->second->twin_address)};
    by_partition.erase(found);
  }
}

std::optional<Refusal> SearchTask::prepare(const Serving& leaf) {
  if (k_ == 0 || k_ > largest_k) {
    return Refusal{wire::FailureReason::bad_query, "k is not from 1 to " + std::to_string(largest_k)};
  }
  auto query = prepare_query(plan_, generation);
  if (query.has_error()) return Refusal{wire::FailureReason::bad_query, to_string(query.error())};
  query_.emplace(std::move(*query));
  double documents = 0;
  for (const auto& part : parts) {
    if (leaf.has(part->partition)) documents += leaf.manifest->partitions[part->partition.value].documents;
  }
  if (plan_.collection_documents > 0) share_ = documents / static_cast<double>(plan_.collection_documents);
  return std::nullopt;
}

double SearchTask::postings() const { return query_->postings(share_); }

std::vector<wire::FetchedDocument> SearchTask::shown(PartitionSearcher& searcher, const std::vector<ScoredDocument>& hits,
                                                     double threshold, const std::atomic<bool>& stop) const {
  std::vector<wire::FetchedDocument> documents;
  for (const auto& hit : hits) {
    if (documents.size() >= titles_ || hit.score < threshold || stop.load(std::memory_order_relaxed)) break;
    auto document = searcher.fetch_shown(hit.document);
    if (document.has_error()) break;  // whoever fetches it is told, and turns to a replica
    documents.push_back({std::move(document->id), std::move(document->title), std::move(document->url)});
  }
  return documents;
}

result<CallTask::Done> SearchTask::execute(WorkerContext& worker, const CallPart& part) {
  const auto searcher = worker.index.partition(part.partition);
  if (searcher.has_error()) return searcher.error();
  const double threshold = score_threshold_.load(std::memory_order_relaxed);
  const auto found = (*searcher)->search(*query_, k_, threshold, &part.stop);
  if (found.has_error()) return found.error();

  wire::PartitionAnswer answer;
  answer.documents.reserve(found->hits.size());
  answer.scores.reserve(found->hits.size());
  for (const auto& hit : found->hits) {
    answer.documents.push_back(hit.document.value);
    answer.scores.push_back(hit.score);
  }
  answer.shown = shown(**searcher, found->hits, threshold, part.stop);
  answer.matches = found->matches;
  answer.matches_exact = found->matches_exact;

  // Only behind the answer, and not when it is held back: whoever got what was cut by this score must have got the hits
  // that it was cut for, or a partial answer would lack hits of a partition that it calls searched.
  std::function<void()> and_then;
  if (found->hits.size() >= k_ && part.fault.late == Duration::zero()) {
    and_then = [this, score = found->hits[k_ - 1].score] { raise_threshold(score_threshold_, score); };
  }
  return Done{std::move(answer), std::move(and_then)};
}

}  // namespace hedgerow::leaf
