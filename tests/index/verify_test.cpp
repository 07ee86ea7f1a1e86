#include <doctest/doctest.h>

#include <xapian.h>

#include <fstream>
#include <functional>

#include "base/sha256.hpp"
#include "index/document_indexer.hpp"
#include "index/guard.hpp"
#include "index/lookup.hpp"
#include "index/manifest.hpp"
#include "index/searcher.hpp"
#include "index/statistics.hpp"
#include "index/verify.hpp"
#include "small_collection.hpp"
#include "temporary_directory.hpp"

namespace hedgerow::test {

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t documents_built = 120;

struct BuiltIndex {
  TemporaryDirectory directory;
  Manifest manifest = build_small(small_collection(documents_built, 201), directory.path(), 3);

  fs::path file(std::size_t partition) const { return directory.path() / manifest.partitions[partition].file; }
  fs::path statistics() const { return directory.path() / manifest.statistics_file; }
  fs::path spelling() const { return directory.path() / manifest.spelling_file; }
  void write_manifest() const { std::ofstream(directory.path() / "manifest.json") << manifest_to_json(manifest); }

  // The first problem, or an empty string.
  std::string problem() const {
    const auto report = verify_index(directory.path());
    if (!report) return to_string(report.error());
    return report->problems.empty() ? "" : report->problems.front();
  }
};

void flip_byte(const fs::path& file, std::uint64_t at) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(at));
  const int byte = stream.get();
  stream.seekp(static_cast<std::streamoff>(at));
  stream.put(static_cast<char>(byte ^ 0x10));
  REQUIRE(stream.good());
}

// Changes a database and gives it a checksum that holds: what only a look inside can find.
std::string rewrite(const fs::path& file, const std::function<void(Xapian::WritableDatabase&)>& change) {
  const fs::path scratch = file.string() + ".scratch";
  Xapian::Database(file.string()).compact(scratch.string(), Xapian::DBCOMPACT_NO_RENUMBER);
  {
    Xapian::WritableDatabase database(scratch.string());
    change(database);
    database.commit();
    fs::remove(file);
    database.compact(file.string(), Xapian::DBCOMPACT_NO_RENUMBER | Xapian::DBCOMPACT_SINGLE_FILE);
  }
  fs::remove_all(scratch);
  return sha256_of_file(file).value();
}

}  // namespace

TEST_CASE("A fresh index is whole") {
  const BuiltIndex index;
  const auto report = verify_index(index.directory.path());
  REQUIRE(report.has_value());
  CHECK(report->problems.empty());
  CHECK(report->documents == documents_built);
  CHECK(report->partitions == 3);
  CHECK(report->generation == 1);
  CHECK(report->terms > 100);
}

TEST_CASE("A flipped byte anywhere, a truncated file and a missing one are found and named") {
  BuiltIndex index;
  std::vector<fs::path> files{index.statistics(), index.spelling()};
  for (std::size_t p = 0; p < 3; ++p) files.push_back(index.file(p));
  for (const auto& file : files) {
    const std::string name = fs::relative(file, index.directory.path());
    const auto size = fs::file_size(file);
    for (const std::uint64_t at : {std::uint64_t{0}, size / 3, size / 2, size - 1}) {
      flip_byte(file, at);
      CHECK(index.problem().starts_with(name + ": its SHA-256"));
      flip_byte(file, at);
    }
    fs::copy(file, file.string() + ".whole");
    fs::resize_file(file, size - 1);
    CHECK(index.problem().starts_with(name + ": "));
    fs::resize_file(file, 0);
    CHECK(index.problem().starts_with(name + ": "));
    fs::remove(file);
    CHECK(index.problem() == name + ": is missing");
    fs::rename(file.string() + ".whole", file);
    CHECK(index.problem() == "");
  }
}

TEST_CASE("Every damaged file is named, not only the first") {
  const BuiltIndex index;
  fs::remove(index.file(0));
  flip_byte(index.file(2), 100);
  fs::remove(index.statistics());
  const auto report = verify_index(index.directory.path());
  REQUIRE(report.has_value());
  CHECK(report->problems.size() == 3);
}

TEST_CASE("Damage behind a checksum that holds is found by looking inside") {
  struct Row {
    const char* what;
    const char* found;
    std::function<void(Xapian::WritableDatabase&)> change;
  };
  const Xapian::docid back = guard::back(documents_built);
  const Row rows[] = {
      {"no guard", "documents, guards included", [&](auto& database) { database.delete_document(back); }},
      {"no front guard", "documents, guards included", [](auto& database) { database.delete_document(guard::front); }},
      {"a guard that lacks a term", "terms in a guard",
       [&](auto& database) {
         Xapian::Document document = database.get_document(back);
         document.remove_term(*std::next(document.termlist_begin()));
         database.replace_document(back, document);
       }},
      {"a guard with a length", "terms in all",
       [&](auto& database) {
         Xapian::Document document = database.get_document(back);
         document.add_term(*std::next(document.termlist_begin()), 2);
         database.replace_document(back, document);
       }},
      {"a document with other terms", "statistics do not agree",
       [](auto& database) {
         const Xapian::docid docid = *std::next(database.postlist_begin(""));
         Xapian::Document document = database.get_document(docid);
         document.add_boolean_term("aaaa");
         database.replace_document(docid, document);
       }},
      {"data that cannot be read", "cannot be read",
       [](auto& database) {
         const Xapian::docid docid = *std::next(database.postlist_begin(""));
         Xapian::Document document = database.get_document(docid);
         document.set_data("{");
         database.replace_document(docid, document);
       }},
      {"a document without its id's term", "is not found by its id",
       [](auto& database) {
         const Xapian::docid docid = *std::next(database.postlist_begin(""));
         Xapian::Document document = database.get_document(docid);
         std::string id;
         for (auto term = document.termlist_begin(); term != document.termlist_end(); ++term) {
           if ((*term).starts_with("Qdoc-")) id = *term;
         }
         document.remove_term(id);
         database.replace_document(docid, document);
       }},
      {"a document of another partition", "belongs to another partition",
       [](auto& database) {
         const Xapian::docid docid = *std::next(database.postlist_begin(""));
         Document foreign;
         foreign.text = "foreign";
         while (partition_of(foreign.id, 3) == PartitionId{1}) foreign.id += "x";
         database.replace_document(docid, DocumentIndexer("english").index(foreign));
       }},
      {"another partition's label", "expected is", [](auto& database) { database.set_metadata("hedgerow", "x"); }}};
  for (const Row& row : rows) {
    CAPTURE(row.what);
    BuiltIndex index;
    index.manifest.partitions[1].sha256 = rewrite(index.file(1), row.change);
    index.write_manifest();
    const auto report = verify_index(index.directory.path());
    REQUIRE(report.has_value());
    bool found = false;
    for (const auto& problem : report->problems) {
      CHECK(problem.starts_with(index.manifest.partitions[1].file));
      found = found || problem.find(row.found) != std::string::npos;
    }
    CHECK(found);
  }
}

TEST_CASE("A facet that stands in more or fewer documents than the manifest says is found") {
  BuiltIndex index;
  REQUIRE(index.manifest.facets.size() >= 1);
  CHECK(index.problem() == "");
  --index.manifest.facets[0].documents;
  index.write_manifest();
  CHECK(index.problem().find("'" + index.manifest.facets[0].name + "'") != std::string::npos);
}

TEST_CASE("A spelling dictionary with another word, another frequency or another index's label is found") {
  struct Row {
    const char* what;
    const char* found;
    std::function<void(Xapian::WritableDatabase&)> change;
  };
  const Row rows[] = {
      {"one word more", "a word that the statistics do not: 'zzzz'", [](auto& d) { d.add_spelling("zzzz", 1); }},
      {"one word more in between", "statistics do not agree", [](auto& d) { d.add_spelling("aaaa", 1); }},
      {"one word less", "statistics do not agree",
       [](auto& d) { d.remove_spelling(*d.spellings_begin(), d.spellings_begin().get_termfreq()); }},
      {"another frequency", "statistics do not agree", [](auto& d) { d.add_spelling(*d.spellings_begin(), 1); }},
      {"another label", "expected is", [](auto& d) { d.set_metadata("hedgerow", "x"); }}};
  for (const Row& row : rows) {
    CAPTURE(row.what);
    BuiltIndex index;
    index.manifest.spelling_sha256 = rewrite(index.spelling(), row.change);
    index.write_manifest();
    const std::string problem = index.problem();
    CAPTURE(problem);
    CHECK(problem.starts_with(index.manifest.spelling_file + ": "));
    CHECK(problem.find(row.found) != std::string::npos);
  }
}

TEST_CASE("Files that were exchanged are found even if the manifest's checksums were, too") {
  BuiltIndex index;
  std::swap(index.manifest.partitions[0].file, index.manifest.partitions[1].file);
  std::swap(index.manifest.partitions[0].sha256, index.manifest.partitions[1].sha256);
  index.write_manifest();
  CHECK(index.problem().find("holds 'partition 1") != std::string::npos);
  const auto opened = PartitionSearcher::open(index.directory.path(), index.manifest, PartitionId{0});
  REQUIRE(!opened);
  CHECK(opened.error().code == Errc::corrupt);
}

TEST_CASE("Opening what is damaged or missing is an error, never a crash") {
  const BuiltIndex index;
  const auto open = [&] { return PartitionSearcher::open(index.directory.path(), index.manifest, PartitionId{0}); };
  CHECK(open().has_value());
  CHECK(PartitionSearcher::open(index.directory.path(), index.manifest, PartitionId{3}).error().code ==
        Errc::not_found);
  fs::resize_file(index.file(0), 1000);
  CHECK(!open().has_value());
  fs::resize_file(index.file(0), 0);
  CHECK(!open().has_value());
  std::ofstream(index.file(0)) << "not a database at all, but long enough to look like one";
  CHECK(open().error().code == Errc::corrupt);
  fs::remove(index.file(0));
  CHECK(open().error().code == Errc::not_found);
  fs::remove(index.statistics());
  CHECK(CollectionStatistics::open(index.directory.path(), index.manifest).error().code == Errc::not_found);
}

}  // namespace hedgerow::test
