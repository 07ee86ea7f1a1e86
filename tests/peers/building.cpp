#include "tests/peers/building.hpp"

#include <xapian.h>

#include <ostream>
#include <string>
#include <vector>

#include "index/builder.hpp"
#include "index/document_indexer.hpp"
#include "index/partition_of.hpp"
#include "index/stored_document.hpp"

namespace hedgerow::peers {

namespace {

std::size_t shard_of(const Document& document, std::size_t shards) {
  return partition_of(document.id, static_cast<std::uint32_t>(shards)).value;
}

// What XML 1.0 takes as the text of an element.
std::string xml_text(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 16);
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      default: out += c;
    }
  }
  return out;
}

}  // namespace

void for_each_document(Reader& reader, const std::function<void(const Document&)>& work) {
  for (;;) {
    const auto next = reader.next();
    if (std::holds_alternative<EndOfCorpus>(next)) return;
    if (const auto* document = std::get_if<Document>(&next)) work(*document);
  }
}

void build_xapian(Reader& reader, std::size_t databases, const std::filesystem::path& directory) {
  const auto path_of = [&](std::size_t i, const char* ending) { return (directory / ("database-" + std::to_string(i) + ending)).string(); };
  std::vector<Xapian::WritableDatabase> parts;
  for (std::size_t i = 0; i < databases; ++i) parts.emplace_back(path_of(i, ".parts"), Xapian::DB_CREATE_OR_OVERWRITE);
  DocumentIndexer indexer("english", BuildSettings{}.title_weight);
  for_each_document(reader, [&](const Document& document) {
    Xapian::Document indexed = indexer.index(document);
    indexed.clear_values();
    indexed.set_data(encode_shown_document(document));
    parts[shard_of(document, databases)].add_document(indexed);
  });
  for (std::size_t i = 0; i < databases; ++i) {
    parts[i].commit();
    parts[i].compact(path_of(i, ""), Xapian::DBCOMPACT_SINGLE_FILE);
    parts[i].close();
    std::filesystem::remove_all(path_of(i, ".parts"));
  }
}

void write_sphinx_shard(Reader& reader, std::size_t shard, std::size_t shards, std::ostream& out) {
  out << "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<sphinx:docset>\n<sphinx:schema>\n"
         "<sphinx:field name=\"title\" attr=\"string\"/>\n<sphinx:field name=\"content\"/>\n"
         "<sphinx:attr name=\"name\" type=\"string\"/>\n<sphinx:attr name=\"url\" type=\"string\"/>\n</sphinx:schema>\n";
  std::uint64_t number = 0;
  for_each_document(reader, [&](const Document& document) {
    ++number;
    if (shard_of(document, shards) != shard) return;
    out << "<sphinx:document id=\"" << number << "\">\n<title>" << xml_text(document.title) << "</title>\n<content>"
        << xml_text(document.text) << "</content>\n<name>" << xml_text(document.id) << "</name>\n<url>" << xml_text(document.url)
        << "</url>\n</sphinx:document>\n";
  });
  out << "</sphinx:docset>\n";
}

}  // namespace hedgerow::peers
