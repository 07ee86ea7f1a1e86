#include "test_index.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <numeric>

#include "base/random.hpp"
#include "corpus/synthetic.hpp"
#include "program.hpp"
#include "tests/places.hpp"

namespace hedgerow::test {

namespace fs = std::filesystem;

namespace {

class FileLock {
 public:
  explicit FileLock(const fs::path& file) : descriptor_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    REQUIRE(descriptor_ >= 0);
    REQUIRE(::flock(descriptor_, LOCK_EX) == 0);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock() { ::close(descriptor_); }

 private:
  int descriptor_;
};

// Changes whenever the program is linked anew.
std::string stamp_of(const fs::path& program) {
  struct stat status {};
  REQUIRE(::stat(program.c_str(), &status) == 0);
  return std::to_string(status.st_mtim.tv_sec) + "-" + std::to_string(status.st_mtim.tv_nsec);
}

TestIndex read_index(const fs::path& directory) {
  const auto stats = run_program(built_program("hedgerow-index"), {"stats", directory.string(), "--json"});
  REQUIRE(stats.status == 0);
  const auto json = nlohmann::json::parse(stats.output);
  TestIndex index;
  index.directory = directory;
  index.documents = json["documents"];
  for (const auto& partition : json["partitions"]) index.partition_documents.push_back(partition["documents"]);
  return index;
}

// The corpus is asked for only where the index is to be built; it may write files into the folder.
TestIndex built_index(const std::string& name, const std::function<std::string(const fs::path& folder)>& corpus, int partitions = 8) {
  const auto program = built_program("hedgerow-index");
  const fs::path folder = binary_directory().parent_path() / "test-indexes" / name;
  fs::create_directories(folder);
  const FileLock lock(folder / "lock");
  const fs::path directory = folder / stamp_of(program);
  if (!fs::exists(directory / "manifest.json")) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.is_directory()) fs::remove_all(entry);
    }
    const auto build = run_program(
        program, {"build", "--corpus", corpus(folder), "--partitions", std::to_string(partitions), "--threads", "2", "--out", directory.string()});
    REQUIRE(build.status == 0);
  }
  return read_index(directory);
}

}  // namespace

double TestIndex::fraction_without(const std::vector<std::uint32_t>& partitions) const {
  std::uint64_t rest = std::accumulate(partition_documents.begin(), partition_documents.end(), std::uint64_t{0});
  for (const auto partition : partitions) rest -= partition_documents.at(partition);
  return static_cast<double>(rest) / static_cast<double>(documents);
}

const TestIndex& synthetic_index() {
  static const TestIndex index = built_index("synthetic", [](const fs::path&) { return "synthetic:3000"; });
  return index;
}

const TestIndex& wide_index() {
  static const TestIndex index = built_index("wide", [](const fs::path&) { return "synthetic:3000"; }, 20);
  return index;
}

const TestIndex& animal_index() {
  static const TestIndex index = built_index("animals", [](const fs::path& folder) {
    const auto file = folder / "animals.jsonl";
    std::ofstream out(file, std::ios::trunc);
    for (int i = 0; i < 400; ++i) {
      const std::string animal = i % 2 == 0 ? "otter" : "badger";
      out << nlohmann::json{{"id", "animal-" + std::to_string(i)},
                            {"title", "The " + animal + " of day " + std::to_string(i)},
                            {"text", "common " + animal + " solo" + std::to_string(i)},
                            {"url", "https://example.org/" + std::to_string(i)}}
          << "\n";
    }
    out.close();
    REQUIRE(out);
    return "jsonl:" + file.string();
  });
  return index;
}

std::string shelf_id(std::size_t number) {
  switch (number) {
    case 13: return "shelf/\xc3\xa4 \xc3\xbc?&=#%/+13/";  // what addresses have to encode
    case 14: return "shelf//14";
    case 15: return std::string(1000, 'x') + "15";
    default: return "shelf/" + std::to_string(number);
  }
}

std::string shelf_section(std::size_t number) {
  return std::array<const char*, 3>{"novel", "poem", "essay"}[number % 3];
}

const TestIndex& shelf_index() {
  static const TestIndex index = built_index("shelf", [](const fs::path& folder) {
    const auto file = folder / "shelf.jsonl";
    std::ofstream out(file, std::ios::trunc);
    for (std::size_t i = 0; i < shelf_documents; ++i) {
      const std::string number = std::to_string(i), section = shelf_section(i);
      out << nlohmann::json{{"id", shelf_id(i)},
                            {"title", "Volume " + number + " of the library"},
                            {"text", "common " + section + " word" + number + " <script>alert(\"" + number + "\")</script> & more"},
                            {"section", section},
                            {"shelf", "s" + std::to_string(i % 20)},
                            {"year", 1900 + i % 10},
                            {"date", "2020-0" + std::to_string(1 + i % 9)}}
          << "\n";
    }
    out.close();
    REQUIRE(out);
    return "jsonl:" + file.string();
  });
  return index;
}

const TestIndex& measured_index() {
  const char* named = std::getenv("HEDGEROW_TEST_INDEX");
  if (named == nullptr || *named == '\0') return synthetic_index();
  static const TestIndex index = read_index(fs::absolute(named));
  return index;
}

std::string synthetic_query(std::uint64_t number) {
  Random random(number + 1);
  std::string query;
  for (std::uint64_t words = 2 + random.below(2); words > 0; --words) {
    query += (query.empty() ? "" : " ") + synthetic_word(1 + random.below(300));
  }
  return query;
}

std::string measured_query(std::uint64_t number) {
  if (measured_index().directory == synthetic_index().directory) return synthetic_query(number);
  // What the default collection, a catalogue of software, is asked for.
  static constexpr std::array words{
      "text",     "editor", "server",   "library", "python",  "game",   "network", "audio",  "image",  "database",
      "compiler", "shell",  "terminal", "monitor", "archive", "backup", "browser", "client", "parser", "development",
      "fonts",    "math",   "science",  "video",   "driver",  "kernel", "plugin",  "perl",   "java",   "documentation",
      "search",   "engine", "protocol", "mail",    "package", "graph",  "music",   "remote", "secure", "simulation"};
  Random random(number + 1);
  std::string query;
  for (std::uint64_t count = 2 + random.below(2); count > 0; --count) {
    query += std::string(query.empty() ? "" : " ") + words[random.below(words.size())];
  }
  return query;
}

std::size_t count_from_environment(const char* name, std::size_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr || *text == '\0' ? otherwise : std::stoul(text);
}

}  // namespace hedgerow::test
