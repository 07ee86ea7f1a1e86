#include "leaf/lookup_task.hpp"

#include <algorithm>

#include "index/lookup.hpp"

namespace hedgerow::leaf {

namespace {

constexpr std::uint32_t largest_most_terms = 2'000;
// So that one answer does not fill a link's queue. The index bounds titles and texts; facets it does not.
constexpr std::size_t longest_facets = 1 << 20;

}  // namespace

LookupTask::LookupTask(wire::LookupCall&& c)
    : CallTask(WorkKind::lookup, c.call, c.time, c.generation),
      partition_(c.partition),
      id_(std::move(c.id)),
      most_terms_(std::min(c.most_terms, largest_most_terms)) {}

std::optional<Refusal> LookupTask::prepare(const Serving& leaf) {
  if (!leaf.has(partition_)) return Refusal{wire::FailureReason::not_served, "this leaf does not hold the partition"};
  return std::nullopt;
}

result<CallTask::Done> LookupTask::execute(WorkerContext& worker, const CallPart&) {
  const auto searcher = worker.index.partition(partition_);
  if (searcher.has_error()) return searcher.error();
  const auto document = find_document(**searcher, id_);
  if (document.has_error()) return document.error();

  wire::LookupAnswer answer;
  answer.found = document->has_value();
  if (!answer.found) return Done{std::move(answer), {}};
  answer.document = **document;
  if (most_terms_ > 0) {
    auto terms = counted_terms(**searcher, **document, most_terms_);
    if (terms.has_error()) return terms.error();
    for (auto& term : *terms) {
      answer.terms.push_back(std::move(term.term));
      answer.counts.push_back(term.count);
    }
    return Done{std::move(answer), {}};
  }
  auto stored = (*searcher)->fetch({**document});
  if (stored.has_error()) return stored.error();
  auto& shown = stored->front();
  if (shown.facets_json.size() > longest_facets) {
    return Error{Errc::too_large, "the facets of document " + std::to_string((*document)->value)};
  }
  answer.shown = {std::move(shown.id), std::move(shown.title), std::move(shown.url)};
  answer.text = std::move(shown.text);
  answer.facets_json = std::move(shown.facets_json);
  return Done{std::move(answer), {}};
}

}  // namespace hedgerow::leaf
