#include "leaf/spell_task.hpp"

namespace hedgerow::leaf {

namespace {

constexpr std::size_t most_words = 128;

}  // namespace

SpellTask::SpellTask(wire::SpellCall&& c)
    : CallTask(WorkKind::spelling, c.call, c.time, c.generation), words_(std::move(c.words)) {}

std::optional<Refusal> SpellTask::prepare(const Serving& leaf) {
  if (!leaf.spelling) return Refusal{wire::FailureReason::not_served, "this leaf does not serve spelling"};
  if (words_.size() > most_words) {
    return Refusal{wire::FailureReason::bad_query, "more than " + std::to_string(most_words) + " words"};
  }
  return std::nullopt;
}

result<CallTask::Done> SpellTask::execute(WorkerContext& worker, const CallPart& part) {
  const auto dictionary = worker.index.spelling();
  if (dictionary.has_error()) return dictionary.error();
  wire::SpellAnswer answer;
  for (const auto& word : words_) {
    if (part.stop.load(std::memory_order_relaxed)) return Error{Errc::cancelled, ""};
    auto suggestion = (*dictionary)->suggest(word);
    if (suggestion.has_error()) return suggestion.error();
    answer.suggestions.push_back(*suggestion ? std::move((*suggestion)->word) : std::string());
    answer.document_frequencies.push_back(*suggestion ? (*suggestion)->document_frequency : 0);
  }
  return Done{std::move(answer), {}};
}

}  // namespace hedgerow::leaf
