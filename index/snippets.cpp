#include "index/snippets.hpp"

namespace hedgerow {

result<std::vector<std::string>> make_snippets(const PartitionSearcher&, const PreparedQuery&,
                                               const std::vector<DocumentNumber>&, const SnippetSettings&,
                                               const std::atomic<bool>*) {
  return Error{Errc::unsupported, "not built yet"};
}

}  // namespace hedgerow
