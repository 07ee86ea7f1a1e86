#include <doctest/doctest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "index/local_search.hpp"
#include "index/synonyms.hpp"
#include "small_collection.hpp"
#include "temporary_directory.hpp"

namespace hedgerow::test {

namespace {

Document titled(const std::string& id, const std::string& title, const std::string& text) {
  return {.id = id, .title = title, .url = "", .text = text, .facets = {}};
}

}  // namespace

TEST_CASE("Synonyms are looked for where a query holds what they stand for, and only there") {
  const TemporaryDirectory directory;
  const std::vector<Document> documents{
      titled("car", "Car", "a red one"),          titled("auto", "Automobile", "a blue one"),
      titled("motor", "The motor car", "a green one"), titled("motors", "", "a car with motors"),
      titled("tv", "", "tv set"),                 titled("television", "", "the television"),
      titled("nyc", "", "nyc at night"),          titled("york", "", "the city of new york city"),
      titled("new", "", "a new city"),            titled("c", "", "c++ code"),
      titled("cplus", "", "cplusplus code"),
  };
  build_small(documents, directory.path(), 3);
  const Synonyms synonyms = Synonyms::parse(
                                "\xef\xbb\xbf# cars\r\n"
                                "CAR, automobile, \"motor car\"\r\n"
                                "\n"
                                "  tv => television, television set\n"
                                "nyc, new york city\n"
                                "c++, cplusplus",
                                "synonyms", "english")
                                .value();
  PlanSettings settings;
  settings.synonyms = &synonyms;
  auto search = LocalSearch::open(directory.path(), settings).value();
  const auto found = [&](const std::string& query) {
    std::set<std::string> ids;
    const auto answer = search.search(query, 20);
    if (!answer) return std::set{to_string(answer.error())};
    for (const auto& hit : search.fetch(answer->hits).value()) ids.insert(hit.id);
    return ids;
  };
  using Set = std::set<std::string>;
  const Set cars{"car", "auto", "motor", "motors"};
  CHECK(found("car") == cars);
  CHECK(found("Cars") == cars);
  CHECK(found("automobiles") == cars);
  CHECK(found("\"car\"") == cars);
  CHECK(found("+car blue") == cars);
  CHECK(found("car AND one") == Set{"car", "auto", "motor"});
  CHECK(found("title:car") == Set{"car", "auto", "motor"});
  CHECK(found("\"motor car\"") == Set{"motor", "car", "auto", "motors"});
  CHECK(found("motor car") == cars);
  CHECK(found("title:\"motor car\"") == Set{"motor", "auto", "car"});
  // A part of a longer phrase, what is excluded, NEAR and prefixes stay what they are.
  CHECK(found("\"the motor car\"") == Set{"motor"});
  CHECK(found("one -car") == Set{"auto"});
  CHECK(found("car NEAR motors") == Set{"motors"});
  CHECK(found("car NEAR one").empty());
  CHECK(found("automob*") == Set{"auto"});
  // One way.
  CHECK(found("tv") == Set{"tv", "television"});
  CHECK(found("television") == Set{"television"});
  // Several words side by side, and apart.
  CHECK(found("new york city") == Set{"york", "new", "nyc"});
  CHECK(found("city new york") == Set{"york", "new"});
  CHECK(found("\"new york city\"") == Set{"york", "nyc"});
  CHECK(found("nyc") == Set{"york", "nyc"});
  CHECK(found("c++") == Set{"c", "cplus"});
}

TEST_CASE("An index without a stemmer compares synonyms as they are") {
  const Synonyms synonyms = Synonyms::parse("cars, autos", "s", "none").value();
  CHECK(synonyms.alternatives({"cars"}) != nullptr);
  CHECK(synonyms.alternatives({"car"}) == nullptr);
  CHECK(synonyms.alternatives({"Zcar"}) == nullptr);
  CHECK(synonyms.size() == 2);
  CHECK(synonyms.longest() == 1);
}

TEST_CASE("What is wrong with a file of synonyms is told with its name and line") {
  struct Row {
    std::string text;
    std::string told;
  };
  std::string many = "x";
  for (int i = 0; i < 66; ++i) many += ", y" + std::to_string(i);
  const Row rows[] = {
      {"a, b\nc\n", "s:2: a single expression"},
      {"\n\na, , b", "s:3: an expression is missing"},
      {"a,", "s:1: an expression is missing"},
      {",", "s:1: an expression is missing"},
      {"a =>", "s:1: an expression is missing"},
      {"=> a", "s:1: an expression is missing"},
      {"a => b => c", "s:1: a second '=>'"},
      {"\"a, b", "s:1: a quote that is not closed"},
      {"\"a\" b, c", "s:1: something behind a quoted expression"},
      {"\"\", c", "s:1: an expression is missing"},
      {"!!!, c", "s:1: '!!!' holds no word"},
      {"a b c d e f g h i, j", "s:1: 'a b c d e f g h i' has more than 8 words"},
      {std::string(65, 'x') + ", j", "s:1: a word longer"},
      {"\xff, b", "s:1: not UTF-8"},
      {many, "s:1: 'x' has more than 64 synonyms"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto synonyms = Synonyms::parse(row.text, "s", "english");
    REQUIRE(!synonyms);
    CHECK(synonyms.error().code == Errc::input);
    CHECK(synonyms.error().context.find(row.told) == 0);
  }
  for (const char* text : {"", "\n\n", "# only a comment", "a, a", "a,b\r\n", "  # x\n\"a, b\", c"}) {
    CAPTURE(text);
    CHECK(Synonyms::parse(text, "s", "english").has_value());
  }
}

TEST_CASE("Synonyms are read from a file") {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "synonyms.txt";
  CHECK(Synonyms::load(file, "english").error().code == Errc::not_found);
  CHECK(Synonyms::load(directory.path(), "english").has_error());
  std::ofstream(file) << "a, b\nnone\n";
  const auto wrong = Synonyms::load(file, "english");
  REQUIRE(!wrong);
  CHECK(wrong.error().context.find("synonyms.txt:2: ") != std::string::npos);
  std::ofstream(file) << "a, b\n";
  REQUIRE(Synonyms::load(file, "english").has_value());
  std::ofstream(file) << "";
  CHECK(Synonyms::load(file, "english").has_value());
}

}  // namespace hedgerow::test
