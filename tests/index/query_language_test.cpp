// What the query language means, on documents small enough to tell the answers by hand.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "index/fields.hpp"
#include "index/local_search.hpp"
#include "index/query_tree.hpp"
#include "index/similar_query.hpp"
#include "index/synonyms.hpp"
#include "small_collection.hpp"
#include "temporary_directory.hpp"

namespace hedgerow::test {

namespace {

Document document(std::string id, std::string title, std::string text,
                  std::map<std::string, std::vector<std::string>> facets = {}) {
  return {.id = std::move(id), .title = std::move(title), .url = "", .text = std::move(text), .facets = std::move(facets)};
}

std::vector<Document> library() {
  return {
      document("vim", "Vim", "a powerful editor of text",
               {{"section", {"Editors"}}, {"year", {"2001"}}, {"date", {"2020-02-29"}}, {"front-end", {"tty"}}}),
      document("emacs", "Emacs editor", "extensible, of C++ fame",
               {{"section", {"editors", "Web Stuff"}}, {"year", {"2005"}}, {"date", {"2020-03-01"}}}),
      document("firefox", "Firefox", "a web browser of the web 中文字",
               {{"section", {"web"}}, {"year", {"2010.5"}}, {"date", {"2021-12-31T23:59:59"}}}),
      document("nano", "Nano", "edits small files of the U.S.A.", {{"section", {"a..b"}}, {"date", {"2021-01"}}}),
      document("ed", "ed", "editing lines"),
  };
}

// Asks one index in 1 and one in 4 partitions, which must agree.
struct Library {
  explicit Library(const std::vector<Document>& documents = library(), const PlanSettings& settings = {}) {
    build_small(documents, whole.path(), 1);
    build_small(documents, cut.path(), 4);
    searches.push_back(LocalSearch::open(whole.path(), settings).value());
    searches.push_back(LocalSearch::open(cut.path(), settings).value());
  }

  // The ids of the hits in their order, with blanks between; or the error.
  std::string ask(const std::string& query, std::uint32_t k = 10) {
    std::vector<std::string> answers;
    for (auto& search : searches) {
      const auto answer = search.search(query, k);
      answers.push_back(answer ? ids(search, *answer) : to_string(answer.error()));
      if (answer) notes = answer->notes;
    }
    CHECK(answers[0] == answers[1]);
    return answers[0];
  }
  // The same as a set.
  std::set<std::string> set(const std::string& query) {
    std::istringstream stream(ask(query));
    std::set<std::string> ids;
    for (std::string id; stream >> id;) ids.insert(id);
    return ids;
  }
  double score(const std::string& query, const std::string& id) {
    const auto answer = searches[0].search(query, 10).value();
    const auto documents = searches[0].fetch(answer.hits).value();
    for (std::size_t i = 0; i < documents.size(); ++i) {
      if (documents[i].id == id) return answer.hits[i].scored.score;
    }
    return -1;
  }
  static std::string ids(LocalSearch& search, const LocalAnswer& answer) {
    std::string ids;
    for (const auto& document : search.fetch(answer.hits).value()) ids += (ids.empty() ? "" : " ") + document.id;
    return ids;
  }

  TemporaryDirectory whole;
  TemporaryDirectory cut;
  std::vector<LocalSearch> searches;
  std::vector<std::string> notes;
};

using Set = std::set<std::string>;

bool told(const std::vector<std::string>& notes, const std::string& part) {
  return std::any_of(notes.begin(), notes.end(), [&](const auto& note) { return note.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("A query finds what the table says") {
  Library library;
  struct Row {
    const char* query;
    Set found;
  };
  const Row rows[] = {
      // Case makes no difference, and capitalised words have stems too.
      {"Editor", {"vim", "emacs"}},
      {"editor", {"vim", "emacs"}},
      {"EDITORS", {"vim", "emacs"}},
      {"Edited", {"nano", "ed"}},
      {"\"Editor\"", {"vim", "emacs"}},
      {"powerful and extensible", {"vim", "emacs"}},
      {"powerful AND extensible", {}},
      // Fields.
      {"title:editor", {"emacs"}},
      {"TITLE:Editors", {"emacs"}},
      {"title:\"emacs editor\"", {"emacs"}},
      {"title:(vim OR nano)", {"vim", "nano"}},
      {"title:firefox browser", {"firefox"}},
      {"editor -title:emacs", {"vim"}},
      {"section:editors", {"vim", "emacs"}},
      {"SECTION:EDITORS", {"vim", "emacs"}},
      {"section:\"web stuff\"", {"emacs"}},
      {"section:web", {"firefox"}},
      {"section:web section:editors", {"vim", "emacs", "firefox"}},
      {"section:web AND section:editors", {}},
      {"section:editors AND section:\"Web Stuff\"", {"emacs"}},
      {"section:editors year:2005", {"emacs"}},
      {"of section:editors", {"vim", "emacs"}},
      {"browser section:editors", {}},
      {"+section:editors -vim", {"emacs"}},
      {"of -section:editors", {"firefox", "nano"}},
      {"of NOT section:editors", {"firefox", "nano"}},
      {"browser OR section:editors", {"firefox", "vim", "emacs"}},
      {"(browser OR section:editors) AND of", {"firefox", "vim", "emacs"}},
      {"front-end:tty", {"vim"}},
      {"FRONT-END:TTY of", {"vim"}},
      {"section:nowhere", {}},
      // Prefixes.
      {"edit*", {"vim", "emacs", "nano", "ed"}},
      {"+edit* -editing", {"vim", "emacs"}},  // by its stem, which "edits" has, too
      {"edit* -editin*", {"vim", "emacs", "nano"}},
      {"title:ed*", {"emacs", "ed"}},
      {"(brow* OR ext*) AND of", {"firefox", "emacs"}},
      {"section:web*", {"emacs", "firefox"}},
      {"section:\"web*\"", {}},
      {"text section:edi*", {"vim"}},
      {"zzz*", {}},
      {"zzz* vim", {"vim"}},
      {"+zzz* vim", {}},
      {"vim -zzz*", {"vim"}},
      // Ranges: both ends are in, and a missing value never is.
      {"year:2001..2005", {"vim", "emacs"}},
      {"year:2001..2001", {"vim"}},
      {"year:2002..2004", {}},
      {"year:2005..", {"emacs", "firefox"}},
      {"year:..2005", {"vim", "emacs"}},
      {"year:..2010", {"vim", "emacs"}},
      {"year:..2010.5", {"vim", "emacs", "firefox"}},
      {"year:-1..5", {}},
      {"of -year:2001..2005", {"firefox", "nano"}},
      {"date:2020-02..2020-02", {"vim"}},
      {"date:2020-02-29..2020-03-01", {"vim", "emacs"}},
      {"date:2020..2020", {"vim", "emacs"}},
      {"date:2021..", {"firefox", "nano"}},
      {"date:..2021-12-31", {"vim", "emacs", "nano", "firefox"}},
      {"date:..2021-12-31T23:59:58", {"vim", "emacs", "nano"}},
      {"date:\"2020-03-01 00:00..2020-03-01\"", {"emacs"}},
      {"year:2001..2001 year:2010..2011", {"vim", "firefox"}},
      {"browser OR year:2001..2001", {"firefox", "vim"}},
      {"section:a..b", {"nano"}},
      {"section:\"a..b\"", {"nano"}},
      // What is read as words.
      {"sectoin:editors", {"vim", "emacs"}},
      {"vim -sectoin:powerful", {}},
      {"U.S.A.", {"nano"}},
      {"usa", {"nano"}},
      {"u.s.a.", {"vim", "firefox"}},  // not side by side, but both hold "a"
      {"+u.s.a.", {}},
      {"C++", {"emacs"}},
      {"vim++", {"vim"}},
      {"中文", {"firefox"}},
      {"vim 中文 nano", {"vim", "firefox", "nano"}},
      {"\"中文\"", {"firefox"}},
      {"hedgerowfacet0:0", {}},
      {"hedgerowfacetx0:0 year:2001..2001 hedgerowfacet", {}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.query);
    CHECK(library.set(row.query) == row.found);
  }
}

TEST_CASE("A filter scores nothing and changes no score, and alone it gives its documents in their order") {
  Library library;
  CHECK(library.ask("section:editors OR section:web OR year:..3000") == "vim emacs firefox");
  CHECK(library.score("section:editors", "emacs") == 0);
  CHECK(library.score("year:2000..", "emacs") == 0);
  CHECK(library.score("extensible section:editors", "emacs") == library.score("extensible", "emacs"));
  CHECK(library.score("extensible year:2000..", "emacs") == library.score("extensible", "emacs"));
  CHECK(library.score("extensible OR section:editors", "emacs") == library.score("extensible", "emacs"));
  CHECK(library.score("extensible -section:web", "emacs") == library.score("extensible", "emacs"));
  // Whatever scores comes first.
  CHECK(library.ask("browser OR section:editors") == "firefox vim emacs");
  CHECK(library.ask("browser OR section:editors", 2) == "firefox vim");
}

TEST_CASE("A filter that is asked for more than it can be tells the field and what it takes") {
  Library library;
  struct Row {
    const char* query;
    const char* told;
  };
  const Row rows[] = {
      {"year:2005..2001", "year: takes numbers"},
      {"year:abc..2001", "'abc' cannot be read; year: takes numbers"},
      {"year:..", "without a bound; year: takes numbers"},
      {"year:2020-01..", "'2020-01' cannot be read; year: takes numbers"},
      {"date:2020-02-30..", "'2020-02-30' cannot be read; date: takes dates"},
      {"date:5..", "date: takes dates"},
      {"date:2021..2020", "ends before it begins; date: takes dates"},
      {"section:a..c", "section: takes one of its values"},
      {"section:(a b)", "section: takes one value"},
      {"e*", "e*: at least 2 characters"},
      {"title:e*", "title:e*: at least 2 characters"},
      {"section:e*", "section:e*: at least 2 characters"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.query);
    const std::string answer = library.ask(row.query);
    CHECK(answer.starts_with("invalid_argument: "));
    CHECK(answer.find(row.told) != std::string::npos);
  }
}

TEST_CASE("Notes tell what was read otherwise than it was typed") {
  Library library;
  library.ask("sectoin:editors vim");
  CHECK(told(library.notes, "there is no field 'sectoin'"));
  CHECK(told(library.notes, "title, date, front-end, section, year"));
  for (const char* query : {"http://example.org/ vim", "12:30 vim", "std::vector vim", "vim: emacs", "\"foo:bar\" vim",
                            "section:editors vim", "title:vim"}) {
    CAPTURE(query);
    library.ask(query);
    CHECK(library.notes.empty());
  }
  library.ask("section: editors");
  CHECK(told(library.notes, "section: needs a value"));
  library.ask("title:zzz* vim");
  CHECK(told(library.notes, "no word begins with title:zzz"));
  library.ask("section:zzz* vim");
  CHECK(told(library.notes, "no word begins with section:zzz"));
}

TEST_CASE("A prefix stands for the most frequent words, ties by bytes, and a note tells when it was cut") {
  std::vector<Document> documents;
  // "prea" in 3 documents, "preb" and "prec" in 2, "pred" in 1.
  documents.push_back(document("1", "", "prea preb prec pred"));
  documents.push_back(document("2", "", "prea preb"));
  documents.push_back(document("3", "", "prea prec"));
  PlanSettings settings;
  settings.limits.most_prefix_terms = 2;
  Library library(documents, settings);
  const auto terms_of = [&](const std::string& query) {
    std::string terms;
    const QueryPlan plan = plan_query(query, library.searches[1].statistics(), settings).value();
    for (const auto& term : plan.terms) {
      if (term.term.starts_with(fields::name_prefix)) continue;
      terms += term.term + ":" + std::to_string(term.document_frequency) + " ";
    }
    library.notes = plan.notes;
    return terms;
  };
  CHECK(terms_of("pre*") == "prea:3 preb:2 ");
  CHECK(told(library.notes, "pre* stands for the 2 most frequent of 4 words"));
  settings.limits.most_prefix_terms = 4;
  CHECK(terms_of("pre*") == "prea:3 preb:2 prec:2 pred:1 ");
  CHECK(library.notes.empty());
  settings.limits.most_expanded_terms = 4;
  CHECK(terms_of("pre* OR prec*") == "prea:3 preb:2 prec:2 ");
  CHECK(told(library.notes, "pre* stands for the 2 most frequent of 4 words"));
  settings.limits.most_prefix_terms_seen = 4;
  CHECK(terms_of("pre* OR prec*") == "prea:3 preb:2 prec:2 ");
  CHECK(told(library.notes, "of the first 2 words"));
}

TEST_CASE("What a query stands for never exceeds what a leaf takes") {
  std::vector<Document> documents;
  std::string synonyms_text;
  for (int i = 0; i < 30; ++i) {
    std::string text;
    for (int j = 0; j < 60; ++j) text += std::string(1, static_cast<char>('a' + i % 26)) + "x" + std::to_string(i) + "y" + std::to_string(j) + " ";
    documents.push_back(document(std::to_string(i), "", text));
  }
  for (int i = 0; i < 128; ++i) {
    synonyms_text += "w" + std::to_string(i) + " => ";
    for (int j = 0; j < 60; ++j) synonyms_text += (j > 0 ? ", s" : "s") + std::to_string(i) + "t" + std::to_string(j);
    synonyms_text += "\n";
  }
  const Synonyms synonyms = Synonyms::parse(synonyms_text, "s", "english").value();
  PlanSettings settings;
  settings.synonyms = &synonyms;
  Library library(documents, settings);
  std::string prefixes;
  for (int i = 0; i < 128; ++i) prefixes += std::string(1, static_cast<char>('a' + i % 26)) + "x* ";
  std::string words;
  for (int i = 0; i < 128; ++i) words += "w" + std::to_string(i) + " ";
  std::string both;
  for (int i = 0; i < 64; ++i) both += "w" + std::to_string(i) + " " + std::string(1, static_cast<char>('a' + i % 26)) + "x* ";
  for (const auto& query : {prefixes, words, both}) {
    const auto plan = plan_query(query, library.searches[0].statistics(), settings);
    REQUIRE_MESSAGE(plan.has_value(), to_string(plan.error()));
    CHECK(plan->terms.size() <= 1024);
    CHECK(PreparedQuery::prepare(*plan).has_value());
    CHECK(!plan->notes.empty());
  }
}

TEST_CASE("A query that is a document's id or whole title finds it before what speaks of it more often") {
  const std::vector<Document> documents{
      document("vim-scripts", "vim scripts for vim", "vim vim vim"),
      document("vim", "Vi improved - an editor", "it is long, and speaks of many things, and of vim but once or twice"),
      document("7", "The  Matrix", "a film, in which a matrix is seen now and then, in many words that say little"),
      document("8", "Matrix the matrix", "the matrix, the matrix"),
      document("apt-file", "apt-file - finds files", "in packages"),
      document("other", "like apt file", "apt-file lists the files of a package"),
  };
  Library names(documents);
  CHECK(names.ask("vim") == "vim vim-scripts");
  CHECK(names.ask("VIM") == "vim vim-scripts");
  CHECK(names.ask(" the   matrix ", 1) == "7");
  CHECK(names.ask("apt-file", 1) == "apt-file");
  CHECK(names.ask("7") == "7");

  SUBCASE("but where a query says more than words, it means just that") {
    CHECK(names.ask("\"vim\"") == "vim-scripts vim");
    CHECK(names.ask("+vim") == "vim-scripts vim");
    CHECK(names.ask("vim AND editor") == "vim");
    CHECK(names.ask("title:vim") == "vim-scripts");
    CHECK(names.set("vim -scripts") == std::set<std::string>{"vim"});
  }
}

TEST_CASE("Words that punctuation joins are a phrase first, and its words behind") {
  const std::vector<Document> documents{
      document("1", "", "a dose that is low"),
      document("2", "", "low dose of aspirin"),
      document("3", "", "the dose of another one"),
      document("4", "", "nothing of it"),
  };
  Library doses(documents);
  CHECK(doses.ask("low-dose") == "2 1 3");
  CHECK(doses.ask("low/dose nothing", 1) == "2");
  CHECK(doses.set("low-doses") == std::set<std::string>{"1", "2", "3"});
  CHECK(doses.ask("\"low-dose\"") == "2");
  CHECK(doses.ask("+low-dose") == "2");
  CHECK(doses.ask("low-dose AND aspirin") == "2");
  CHECK(doses.set("dose -low-dose") == std::set<std::string>{"1", "3"});
  CHECK(doses.ask("\"low dose\"") == "2");
}

TEST_CASE("Frequent words are optional beside others, score as before, and are found alone") {
  // "often" in 9 of 10 documents, "rare" in 2, "both" in 2.
  std::vector<Document> documents;
  for (int i = 0; i < 10; ++i) {
    std::string text = i < 8 ? "often " : "";
    if (i == 1 || i == 9) text += "rare ";
    if (i == 2 || i == 8) text += "both often";
    documents.push_back(document(std::to_string(i), "", text + " filler" + std::to_string(i)));
  }
  PlanSettings settings;
  settings.frequent_words = {.share = 0.5, .smallest_collection = 10};
  Library library(documents, settings);
  Library plain(documents);
  CHECK(library.set("often rare") == Set{"1", "9"});
  CHECK(plain.set("often rare").size() == 10);
  for (const char* id : {"1", "9"}) CHECK(library.score("often rare", id) == doctest::Approx(plain.score("often rare", id)));
  CHECK(library.set("often OR rare OR both") == Set{"1", "2", "8", "9"});
  CHECK(library.set("(often rare) AND filler1") == Set{"1"});
  // Nothing else would be found.
  CHECK(library.set("often").size() == 9);
  CHECK(library.set("often nowhere") == library.set("often"));
  CHECK(library.set("often often") == library.set("often"));
  // Asked for, phrases, prefixes, and where words are welcome only.
  CHECK(library.set("+often rare") == library.set("often"));
  CHECK(library.set("often AND rare") == Set{"1"});
  CHECK(library.set("\"both often\" rare") == Set{"1", "2", "8", "9"});
  CHECK(library.set("ofte* rare").size() == 10);
  CHECK(library.score("+rare often", "1") == doctest::Approx(plain.score("+rare often", "1")));
  CHECK(library.score("+rare (often both)", "1") == doctest::Approx(plain.score("+rare (often both)", "1")));
  CHECK(library.set("rare -often") == Set{"9"});
  // A collection that is too small has none.
  settings.frequent_words.smallest_collection = 11;
  Library small(documents, settings);
  CHECK(small.set("often rare").size() == 10);
}

TEST_CASE("The plain words of a query are told with their places and their own document frequencies") {
  Library library;
  const auto words_of = [&](const std::string& query) {
    std::string words;
    for (const auto& word : plan_query(query, library.searches[1].statistics()).value().words) {
      CHECK(fields::in_lower_case(query.substr(word.begin, word.end - word.begin)) == word.word);
      words += word.word + "@" + std::to_string(word.begin) + "=" + std::to_string(word.document_frequency) + " ";
    }
    return words;
  };
  CHECK(words_of("Edtior  of texts") == "edtior@0=0 of@8=4 texts@11=0 ");
  CHECK(words_of("\"text of\" vim -emacs") == "vim@10=1 ");
  CHECK(words_of("section:editors title:nano vim NOT firefox") == "vim@27=1 ");
  CHECK(words_of("é +web (browser OR vim*) 中文 12") == "é@0=0 web@4=1 browser@9=1 ");
  CHECK(words_of("foo:vim") == "foo@0=0 vim@4=1 ");
}

TEST_CASE("What is like a document shares its rare words, and the document itself is left out") {
  Library library({document("a", "", "common red fox jumps"), document("b", "", "common red fox sleeps"),
                   document("c", "", "common blue whale"), document("d", "", "common red whale whale"),
                   document("e", "", "unheard")});
  const auto like = [&](const std::string& id) {
    std::vector<std::string> answers;
    for (auto& search : library.searches) {
      const auto answer = search.search_similar(id, 10);
      answers.push_back(answer ? Library::ids(search, *answer) : to_string(answer.error()));
    }
    CHECK(answers[0] == answers[1]);
    return answers[0];
  };
  CHECK(like("a") == "b d c");
  CHECK(like("c") == "d a b");
  CHECK(like("e").empty());
  CHECK(like("nobody").starts_with("not_found: "));
}

}  // namespace hedgerow::test
