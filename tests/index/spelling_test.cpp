#include <doctest/doctest.h>

#include <xapian.h>

#include <fstream>
#include <map>

#include "index/builder.hpp"
#include "index/spelling.hpp"
#include "index/spelling_writer.hpp"
#include "index/statistics.hpp"
#include "small_collection.hpp"
#include "temporary_directory.hpp"

namespace hedgerow::test {

namespace {

// One document for each time that a word shall stand somewhere, in several partitions.
struct Dictionary {
  explicit Dictionary(const std::map<std::string, int>& frequencies) {
    std::vector<Document> documents;
    for (const auto& [word, frequency] : frequencies) {
      for (int i = 0; i < frequency; ++i) {
        Document document;
        document.id = word + std::to_string(i);
        document.text = word;
        documents.push_back(std::move(document));
      }
    }
    manifest = build_small(documents, directory.path(), 3);
  }

  SpellingDictionary open() const { return SpellingDictionary::open(directory.path(), manifest).value(); }

  TemporaryDirectory directory;
  Manifest manifest;
};

std::string suggested(const SpellingDictionary& dictionary, const std::string& word) {
  const auto found = dictionary.suggest(word);
  REQUIRE(found.has_value());
  return *found ? (*found)->word : "";
}

}  // namespace

TEST_CASE("A mistyped word is taken for the nearest one, and of equally near ones for the most frequent") {
  const Dictionary index({{"browser", 5}, {"editor", 4}, {"editors", 9}, {"letter", 7}, {"better", 3}, {"größe", 2}});
  const auto dictionary = index.open();
  struct Row {
    std::string word;
    std::string expected;
  };
  const Row rows[] = {{"browsr", "browser"},    // a letter missing
                      {"browsser", "browser"},  // one too many
                      {"brawser", "browser"},   // a wrong one
                      {"borwser", "browser"},   // two exchanged
                      {"brawzer", "browser"},   // two wrong ones
                      {"grösse", "größe"},      // characters, not bytes
                      {"edtor", "editor"},      // one edit; "editors" is two away
                      {"retter", "letter"},     // one edit each: 7 documents against 3
                      {"bowzr", ""},            // three edits
                      {"xyz", ""}};
  for (const Row& row : rows) {
    CAPTURE(row.word);
    CHECK(suggested(dictionary, row.word) == row.expected);
  }
  CHECK(dictionary.suggest("browsr").value()->document_frequency == 5);
  CHECK(dictionary.suggest("retter").value()->document_frequency == 7);
}

TEST_CASE("Two letters that changed places are put back, even where the engine's letter groups miss it") {
  const Dictionary index({{"python", 3}, {"cython", 2}, {"pylon", 9}, {"phyton", 1}});
  const auto dictionary = index.open();
  // "pylon" is two edits away.
  CHECK(suggested(dictionary, "pyhton") == "python");
  CHECK(suggested(dictionary, "ypthon") == "python");
  CHECK(suggested(dictionary, "pythno") == "python");
}

TEST_CASE("A word that is known is taken for another one only where that is at least as frequent") {
  const Dictionary index({{"editor", 4}, {"editors", 9}});
  const auto dictionary = index.open();
  CHECK(suggested(dictionary, "editor") == "editors");
  CHECK(suggested(dictionary, "editors") == "");
}

TEST_CASE("Nothing is suggested for what is no word, and nothing does harm") {
  const Dictionary index({{"browser", 5}, {"a1b2c3", 3}, {"ab", 9}});
  const auto dictionary = index.open();
  for (const std::string& word :
       {std::string(), std::string("a"), std::string("abc1234"), std::string("12345"), std::string("東京都"),
        std::string("Zbrowser"), std::string("BROWSER"), std::string(33, 'b'), std::string(100'000, 'b'),
        std::string("brow\0er", 7), std::string("\xff\xfe\xfd"), std::string("\U0001f994\U0001f994\U0001f994")}) {
    CAPTURE(word);
    const auto found = dictionary.suggest(word);
    REQUIRE(found.has_value());
    if (word.size() != 7) CHECK(!found->has_value());
  }
}

TEST_CASE("The dictionary holds the plain words of title and text, in the frequencies of the statistics") {
  const TemporaryDirectory directory;
  Document document;
  document.id = "someone";
  document.title = "Running";
  document.text = "dogs 2024 c64 x11 東京 it's of naïve a1b2c3d4 " + std::string(32, 'l') + " " + std::string(33, 'm');
  document.facets = {{"section", {"editors"}}};
  const Manifest manifest = build_small({document}, directory.path(), 2);
  const Xapian::Database database((directory.path() / manifest.spelling_file).string());
  const std::vector<std::string> words(database.spellings_begin(), database.spellings_end());
  CHECK(words == std::vector<std::string>{"dogs", "it's", std::string(32, 'l'), "naïve", "running"});
  for (auto word = database.spellings_begin(); word != database.spellings_end(); ++word) CHECK(word.get_termfreq() == 1);
}

TEST_CASE("Of too many words the rarest are left out, all of a frequency together") {
  Xapian::WritableDatabase statistics("", Xapian::DB_BACKEND_INMEMORY);
  Xapian::Document document;
  document.add_term("once", 1);
  document.add_term("twice", 2);
  document.add_term("again", 2);
  document.add_term("often", 30);
  document.add_term("Zoften", 50);
  document.add_term("12", 70);
  statistics.add_document(document);
  CHECK(smallest_spelling_frequency(statistics, 10) == 1);
  CHECK(smallest_spelling_frequency(statistics, 4) == 1);
  CHECK(smallest_spelling_frequency(statistics, 3) == 2);
  CHECK(smallest_spelling_frequency(statistics, 2) == 3);
  CHECK(smallest_spelling_frequency(statistics, 1) == 3);
  CHECK(smallest_spelling_frequency(statistics, 0) == 31);
}

TEST_CASE("A dictionary that is missing, damaged or another generation's is an error") {
  const Dictionary index({{"browser", 5}});
  const auto file = index.directory.path() / index.manifest.spelling_file;
  const auto code = [&](const Manifest& manifest) {
    const auto opened = SpellingDictionary::open(index.directory.path(), manifest);
    REQUIRE(!opened);
    return opened.error().code;
  };
  Manifest other = index.manifest;
  other.generation = Generation{9};
  CHECK(code(other) == Errc::corrupt);
  other = index.manifest;
  other.spelling_file = other.statistics_file;
  CHECK(code(other) == Errc::corrupt);
  std::ofstream(file) << "not a database at all, but long enough to look like one";
  CHECK(code(index.manifest) == Errc::corrupt);
  std::filesystem::remove(file);
  CHECK(code(index.manifest) == Errc::not_found);
}

}  // namespace hedgerow::test
