#include "tests/corpus/files.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace hedgerow::test {

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "hedgerow-corpus-XXXXXX").string();
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::write(const std::string& name, std::string_view bytes) const {
  std::ofstream file(path_ / name, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  REQUIRE(file.flush());
  return path(name);
}

std::string packed(std::string_view bytes, const std::string& filter) {
  if (filter == "none") return std::string(bytes);
  std::string out(bytes.size() + bytes.size() / 10 + 100'000, '\0');
  std::size_t used = 0;
  archive* writer = archive_write_new();
  REQUIRE(archive_write_add_filter_by_name(writer, filter.c_str()) == ARCHIVE_OK);
  REQUIRE(archive_write_set_format_raw(writer) == ARCHIVE_OK);
  archive_write_set_bytes_in_last_block(writer, 1);  // no padding
  REQUIRE(archive_write_open_memory(writer, out.data(), out.size(), &used) == ARCHIVE_OK);
  archive_entry* entry = archive_entry_new();
  archive_entry_set_filetype(entry, AE_IFREG);
  REQUIRE(archive_write_header(writer, entry) == ARCHIVE_OK);
  REQUIRE(archive_write_data(writer, bytes.data(), bytes.size()) == static_cast<la_ssize_t>(bytes.size()));
  archive_entry_free(entry);
  REQUIRE(archive_write_close(writer) == ARCHIVE_OK);
  archive_write_free(writer);
  out.resize(used);
  return out;
}

std::string contents(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

std::vector<std::string> Everything::ids() const {
  std::vector<std::string> ids;
  for (const Document& document : documents) ids.push_back(document.id);
  return ids;
}

std::vector<std::string> Everything::error_texts(const std::string& folder) const {
  std::vector<std::string> texts;
  for (const ReadError& error : errors) {
    std::string text = to_string(error);
    if (!folder.empty() && text.starts_with(folder)) text.erase(0, folder.size());
    texts.push_back(text);
  }
  return texts;
}

Everything read_all(const std::string& corpus, const CorpusSettings& settings) {
  auto reader = open_corpus(corpus, settings);
  if (!reader) FAIL(corpus << ": " << to_string(reader.error()));
  Everything everything;
  for (;;) {
    ReadOutcome outcome = (*reader)->next();
    everything.fractions.push_back((*reader)->progress().fraction.value_or(-1));
    if (auto* document = std::get_if<Document>(&outcome)) everything.documents.push_back(std::move(*document));
    if (auto* error = std::get_if<ReadError>(&outcome)) everything.errors.push_back(std::move(*error));
    if (std::holds_alternative<EndOfCorpus>(outcome)) break;
  }
  // Once reached, the end stays.
  CHECK(std::holds_alternative<EndOfCorpus>((*reader)->next()));
  everything.progress = (*reader)->progress();
  everything.notes = (*reader)->notes();
  CHECK(everything.progress.documents == everything.documents.size());
  CHECK(everything.progress.errors == everything.errors.size());
  return everything;
}

}  // namespace hedgerow::test
