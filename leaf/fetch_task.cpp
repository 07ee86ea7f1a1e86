#include "leaf/fetch_task.hpp"

#include <algorithm>

namespace hedgerow::leaf {

namespace {

constexpr std::size_t most_documents = 1'000;

}  // namespace

std::optional<Refusal> check_documents(const std::vector<wire::DocumentAddress>& documents, const Serving& leaf) {
  if (documents.size() > most_documents) {
    return Refusal{wire::FailureReason::bad_query, "more than " + std::to_string(most_documents) + " documents"};
  }
  for (const auto& address : documents) {
    if (!leaf.has(address.partition)) {
      return Refusal{wire::FailureReason::not_served,
                     "this leaf does not hold partition " + std::to_string(address.partition.value)};
    }
  }
  return std::nullopt;
}

std::vector<PartitionId> partitions_of(const std::vector<wire::DocumentAddress>& documents) {
  std::vector<PartitionId> partitions;
  for (const auto& address : documents) partitions.push_back(address.partition);
  std::sort(partitions.begin(), partitions.end());
  partitions.erase(std::unique(partitions.begin(), partitions.end()), partitions.end());
  return partitions;
}

FetchTask::FetchTask(wire::FetchCall&& c)
    : CallTask(WorkKind::fetch, c.call, c.time, c.generation),
      documents_(std::move(c.documents)),
      partitions_(partitions_of(documents_)) {
  service_class = c.service_class;
}

std::optional<Refusal> FetchTask::prepare(const Serving& leaf) { return check_documents(documents_, leaf); }

result<CallTask::Done> FetchTask::execute(WorkerContext& worker, const CallPart& part) {
  wire::FetchAnswer answer;
  answer.documents.reserve(documents_.size());
  for (const auto& address : documents_) {
    if (part.stop.load(std::memory_order_relaxed)) return Error{Errc::cancelled, ""};
    const auto searcher = worker.index.partition(address.partition);
    if (searcher.has_error()) return searcher.error();
    auto shown = (*searcher)->fetch_shown(address.document);
    if (shown.has_error()) return shown.error();
    answer.documents.push_back({std::move(shown->id), std::move(shown->title), std::move(shown->url)});
  }
  return Done{std::move(answer), {}};
}

}  // namespace hedgerow::leaf
