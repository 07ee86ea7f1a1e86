#include "leaf/snippet_task.hpp"

#include <map>

#include "index/snippets.hpp"
#include "leaf/fetch_task.hpp"
#include "leaf/received_query.hpp"

namespace hedgerow::leaf {

namespace {

// Of one answer's snippets together; a text of nothing but characters to escape makes snippets several times as long as
// others. Snippets beyond it are left empty.
constexpr std::size_t most_bytes = 2 << 20;

}  // namespace

SnippetTask::SnippetTask(wire::SnippetCall&& c)
    : CallTask(WorkKind::snippets, c.call, c.time, c.generation),
      plan_(std::move(c.plan)),
      documents_(std::move(c.documents)),
      partitions_(partitions_of(documents_)) {
  service_class = c.service_class;
}

std::optional<Refusal> SnippetTask::prepare(const Serving& leaf) {
  if (auto refusal = check_documents(documents_, leaf)) return refusal;
  auto query = prepare_query(plan_, generation);
  if (query.has_error()) return Refusal{wire::FailureReason::bad_query, to_string(query.error())};
  query_.emplace(std::move(*query));
  return std::nullopt;
}

result<CallTask::Done> SnippetTask::execute(WorkerContext& worker, const CallPart& part) {
  // A partition's documents in one go.
  std::map<PartitionId, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < documents_.size(); ++i) places[documents_[i].partition].push_back(i);

  wire::SnippetAnswer answer;
  answer.snippets.resize(documents_.size());
  std::size_t bytes = 0;
  for (const auto& [partition, here] : places) {
    if (part.stop.load(std::memory_order_relaxed)) return Error{Errc::cancelled, ""};
    const auto searcher = worker.index.partition(partition);
    if (searcher.has_error()) return searcher.error();
    std::vector<DocumentNumber> numbers;
    for (const auto place : here) numbers.push_back(documents_[place].document);
    auto snippets = make_snippets(**searcher, *query_, numbers, SnippetSettings{}, &part.stop);
    if (snippets.has_error()) return snippets.error();
    for (std::size_t i = 0; i < here.size(); ++i) {
      std::string& snippet = (*snippets)[i];
      if (bytes + snippet.size() > most_bytes) continue;
      bytes += snippet.size();
      answer.snippets[here[i]] = std::move(snippet);
    }
  }
  return Done{std::move(answer), {}};
}

}  // namespace hedgerow::leaf
