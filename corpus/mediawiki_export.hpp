// The pages of a MediaWiki XML export (Special:Export, dumpBackup.php, the dumps of Wikimedia), one at a time, plain or
// compressed, in memory bounded by the longest page asked for.
//
// Read as a stream by libxml2's push parser: no tree is built, nothing is fetched, and a document type, which no export
// has and which entities could be declared in, is a fatal error. Owned and called by one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/error.hpp"
#include "corpus/byte_stream.hpp"
#include "corpus/reader.hpp"

struct _xmlParserCtxt;

namespace hedgerow {

// Of several revisions the last one. Fields that the export lacks are empty.
struct WikiPage {
  std::string id;
  std::string title;
  std::string name_space;  // its number
  std::string timestamp;
  std::string model;  // "wikitext"
  std::string text;
  bool has_text = false;  // there is a <text>, though it may be empty
  bool is_redirect = false;
  bool repaired = false;   // some of it was not valid UTF-8
  std::uint64_t line = 0;  // where it begins
};

class MediawikiExport {
 public:
  // Errors: those of ByteStream::open.
  static result<std::unique_ptr<MediawikiExport>> open(const std::filesystem::path& file,
                                                       std::uint64_t longest_page_bytes);
  ~MediawikiExport();
  MediawikiExport(const MediawikiExport&) = delete;

  // The next page, or an error in its place: a page that is too long (it is skipped), or, fatal, what is not
  // well-formed, no export, damaged, or broken off.
  std::variant<WikiPage, ReadError, EndOfCorpus> next();

  // From the export's head: the address of the wiki's main page, and the namespaces' names by their numbers. Known once
  // next() gave a page; empty where the export has no head.
  const std::string& base() const { return base_; }
  const std::map<std::string, std::string>& namespaces() const { return namespaces_; }

  const std::string& file() const { return bytes_.file(); }
  std::optional<double> fraction() const { return bytes_.fraction(block_.size()); }

 private:
  friend struct ExportEvents;
  struct FreeParser {
    void operator()(_xmlParserCtxt* parser) const;
  };

  MediawikiExport(ByteStream bytes, std::uint64_t longest);
  void feed();
  std::string sound(std::string_view piece, bool last);
  void fail(std::uint64_t line, std::string what);
  std::uint64_t parser_line() const;

  void begin_element(std::string_view name, std::string_view key);
  void end_element();
  void characters(std::string_view text);
  void refuse(std::string what);
  void end_page();

  ByteStream bytes_;
  std::uint64_t longest_;
  std::unique_ptr<_xmlParserCtxt, FreeParser> parser_;
  std::string_view block_;   // what is left of the block that bytes_ gave last
  std::string cut_;          // the beginning of a character whose rest is in the next block
  bool begun_ = false;
  bool over_ = false;
  bool any_repaired_ = false;

  std::deque<std::variant<WikiPage, ReadError>> ready_;  // those of one piece fed, at most some hundred
  std::optional<std::string> refusal_;                   // why the parser was stopped
  std::string path_;               // of the element at hand, "/mediawiki/page/title"
  std::string* collected_ = nullptr;  // where the element's text goes
  WikiPage page_;
  std::uint64_t page_bytes_ = 0;
  std::uint64_t site_bytes_ = 0;
  std::string base_;
  std::map<std::string, std::string> namespaces_;
};

}  // namespace hedgerow
