#include <doctest/doctest.h>

#include <set>

#include "index/local_search.hpp"
#include "index/synonyms.hpp"
#include "odd_queries.hpp"
#include "small_collection.hpp"
#include "temporary_directory.hpp"

namespace hedgerow::test {

TEST_CASE("Every odd query leads to what was written down for it") {
  const TemporaryDirectory directory;
  const std::vector<Document> documents{
      {.id = "a", .title = "Vim", .url = "", .text = "an editor of text, 1000 edits",
       .facets = {{"section", {"editors"}}, {"year", {"2001"}}, {"date", {"2024-01-31"}}}},
      {.id = "b", .title = "Emacs", .url = "", .text = "the extensible editor; a C++ mode", .facets = {{"section", {"Editors", "web"}}}},
      {.id = "c", .title = "中文", .url = "", .text = "中文字处理 of text", .facets = {{"year", {"2010"}}, {"date", {"2024-02-01"}}}}};
  build_small(documents, directory.path(), 2);
  const Synonyms synonyms = Synonyms::parse("vim, emacs, \"text editor\"\n", "synonyms", "english").value();
  PlanSettings settings;
  settings.synonyms = &synonyms;
  auto search = LocalSearch::open(directory.path(), settings).value();

  std::set<std::string> distinct;
  for (const OddQuery& query : odd_queries()) {
    CAPTURE(query.text.substr(0, 60));
    CHECK(distinct.insert(query.text).second);
    const auto answer = search.search(query.text, 10);
    if (!answer) CAPTURE(to_string(answer.error()));
    const auto outcome = answer                                          ? OddOutcome::answer
                         : answer.error().code == Errc::invalid_argument ? OddOutcome::refused
                                                                         : OddOutcome::too_large;
    if (!answer) {
      const bool is_expected_kind =
          answer.error().code == Errc::invalid_argument || answer.error().code == Errc::too_large;
      CHECK(is_expected_kind);
      CHECK(!answer.error().context.empty());
    }
    CHECK(static_cast<int>(outcome) == static_cast<int>(query.outcome));
  }
  CHECK(distinct.size() >= 200);
}

}  // namespace hedgerow::test
