#include "index/snippets.hpp"

#include <algorithm>

#include "index/engine_error.hpp"
#include "index/guard.hpp"
#include "index/open_partition.hpp"
#include "index/passage.hpp"
#include "index/prepared_query.hpp"

namespace hedgerow {

namespace {

// Terms that a document may be found by; what is excluded is none of them.
void add_words(const QueryNode& node, const PreparedQuery::Implementation& prepared, QueryWords& words) {
  if (node.op == QueryOperator::term) {
    const auto idf = prepared.inverse_document_frequencies.find(node.term);
    if (idf != prepared.inverse_document_frequencies.end()) words.add(node.term, idf->second);
    return;
  }
  const std::size_t wanted = node.op == QueryOperator::and_not ? 1 : node.children.size();
  for (std::size_t i = 0; i < std::min(wanted, node.children.size()); ++i) {
    add_words(node.children[i], prepared, words);
  }
}

}  // namespace

result<std::vector<std::string>> make_snippets(const PartitionSearcher& partition, const PreparedQuery& query,
                                               const std::vector<DocumentNumber>& documents,
                                               const SnippetSettings& settings, const std::atomic<bool>* stop) {
  const PartitionSearcher::Implementation& self = partition.implementation();
  const std::size_t length =
      std::clamp(settings.length_bytes, SnippetSettings::shortest_length, SnippetSettings::longest_length);
  return translating_exceptions(self.name, [&]() -> result<std::vector<std::string>> {
    const Error cancelled{Errc::cancelled, self.name + ": making snippets was stopped"};
    QueryWords words(self.stemmer);
    add_words(query.implementation().root, query.implementation(), words);
    std::vector<std::string> snippets;
    snippets.reserve(documents.size());
    for (const DocumentNumber number : documents) {
      if (stop != nullptr && stop->load(std::memory_order_relaxed)) return cancelled;
      if (!self.may_hold(number)) return self.missing(number);
      std::string data;
      try {
        data = self.database.get_document(guard::docid_of(number)).get_data();
      } catch (const Xapian::DocNotFoundError&) {
        return self.missing(number);
      }
      const auto text = decode_stored_text(data);
      if (!text) return text.error();
      auto passage = best_passage(*text, words, length, stop);
      if (!passage) return cancelled;
      snippets.push_back(std::move(*passage));
    }
    return snippets;
  });
}

}  // namespace hedgerow
