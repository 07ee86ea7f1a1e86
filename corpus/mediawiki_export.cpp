#include "corpus/mediawiki_export.hpp"

#include <libxml/SAX2.h>
#include <libxml/parser.h>

#include <algorithm>
#include <utility>

#include "base/utf8.hpp"

namespace hedgerow {

namespace {

// What the parser is given at once.
constexpr std::size_t fed_bytes = 32 * 1024;
// The head of an export is some kilobytes; beyond this it is left out.
constexpr std::uint64_t longest_head_bytes = 1 << 20;

std::string_view view(const xmlChar* text) { return text == nullptr ? "" : reinterpret_cast<const char*>(text); }

// How many bytes at the end are the beginning of a character that may go on in the next block.
std::size_t unfinished_bytes(std::string_view text) {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    const std::size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? back : 0;
  }
  return 0;
}

}  // namespace

// The parser's callbacks.
struct ExportEvents {
  static MediawikiExport& of(void* self) { return *static_cast<MediawikiExport*>(self); }

  static void start(void* self, const xmlChar* name, const xmlChar*, const xmlChar*, int, const xmlChar**,
                    int attributes, int, const xmlChar** attribute) {
    // Five pointers each: name, prefix, namespace, value's begin and end.
    std::string_view key;
    for (int i = 0; i < attributes; ++i, attribute += 5) {
      if (view(attribute[0]) != "key") continue;
      key = {reinterpret_cast<const char*>(attribute[3]), static_cast<std::size_t>(attribute[4] - attribute[3])};
    }
    of(self).begin_element(view(name), key);
  }
  static void end(void* self, const xmlChar*, const xmlChar*, const xmlChar*) { of(self).end_element(); }
  static void characters(void* self, const xmlChar* text, int size) {
    of(self).characters({reinterpret_cast<const char*>(text), static_cast<std::size_t>(size)});
  }
  static void document_type(void* self, const xmlChar*, const xmlChar*, const xmlChar*) {
    of(self).refuse("declares a document type, which no MediaWiki export does");
  }
  // Errors are asked for, not printed.
  static void error(void*, xmlErrorPtr) {}
};

void MediawikiExport::FreeParser::operator()(_xmlParserCtxt* parser) const { xmlFreeParserCtxt(parser); }

MediawikiExport::MediawikiExport(ByteStream bytes, std::uint64_t longest)
    : bytes_(std::move(bytes)), longest_(longest) {
  xmlSAXHandler events{};
  events.initialized = XML_SAX2_MAGIC;
  events.startElementNs = ExportEvents::start;
  events.endElementNs = ExportEvents::end;
  events.characters = ExportEvents::characters;
  events.cdataBlock = ExportEvents::characters;
  events.ignorableWhitespace = ExportEvents::characters;
  events.internalSubset = ExportEvents::document_type;
  events.serror = ExportEvents::error;
  parser_.reset(xmlCreatePushParserCtxt(&events, this, nullptr, 0, nullptr));
  // Always UTF-8, whatever the XML declaration says: its bytes are made so before the parser sees them.
  if (parser_)
    xmlCtxtUseOptions(parser_.get(), XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_IGNORE_ENC);
}

MediawikiExport::~MediawikiExport() = default;

result<std::unique_ptr<MediawikiExport>> MediawikiExport::open(const std::filesystem::path& file,
                                                               std::uint64_t longest_page_bytes) {
  auto bytes = ByteStream::open(file);
  if (!bytes) return bytes.error();
  std::unique_ptr<MediawikiExport> opened(new MediawikiExport(std::move(*bytes), longest_page_bytes));
  if (!opened->parser_) return Error{Errc::internal, "no memory for the XML parser"};
  return opened;
}

std::uint64_t MediawikiExport::parser_line() const {
  return static_cast<std::uint64_t>(std::max(0, xmlSAX2GetLineNumber(parser_.get())));
}

void MediawikiExport::fail(std::uint64_t line, std::string what) {
  over_ = true;
  ready_.emplace_back(ReadError{file(), line, std::move(what), true});
}

void MediawikiExport::refuse(std::string what) {
  if (!refusal_) refusal_ = std::move(what);
  xmlStopParser(parser_.get());
}

// The piece as the parser can take it: valid UTF-8, none of the characters that XML forbids.
std::string MediawikiExport::sound(std::string_view piece, bool last) {
  std::string text = std::exchange(cut_, {});
  text += piece;
  if (!last) {
    const std::size_t unfinished = unfinished_bytes(text);
    cut_ = text.substr(text.size() - unfinished);
    text.resize(text.size() - unfinished);
  }
  if (repair_utf8(text) > 0) any_repaired_ = true;
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r') c = ' ';
  }
  for (const std::string_view forbidden : {"\xef\xbf\xbe", "\xef\xbf\xbf"}) {
    for (std::size_t at = text.find(forbidden); at != std::string::npos; at = text.find(forbidden, at)) {
      text[at + 2] = '\xbd';
      any_repaired_ = true;
    }
  }
  return text;
}

// Gives the parser one piece more, or tells it that there is none.
void MediawikiExport::feed() {
  if (block_.empty()) {
    const auto block = bytes_.next();
    if (!block) return fail(parser_line(), "cannot be read beyond this line: " + block.error().context);
    block_ = *block;
  }
  const bool last = block_.empty();
  std::string_view piece = block_.substr(0, fed_bytes);
  block_.remove_prefix(piece.size());
  if (!begun_) {
    begun_ = true;
    if (piece.starts_with("\xff\xfe") || piece.starts_with("\xfe\xff"))
      return fail(1, "is UTF-16, and UTF-8 is expected");
    if (piece.starts_with("\xef\xbb\xbf")) piece.remove_prefix(3);
  }
  const std::string text = sound(piece, last);
  xmlParseChunk(parser_.get(), text.data(), static_cast<int>(text.size()), 0);
  if (last && !refusal_ && parser_->wellFormed != 0) xmlParseChunk(parser_.get(), nullptr, 0, 1);
  if (refusal_) return fail(parser_line(), *refusal_);
  if (parser_->wellFormed == 0) {
    const xmlError* const error = xmlCtxtGetLastError(parser_.get());
    std::string what = error == nullptr || error->message == nullptr ? "an unknown fault" : error->message;
    what = what.substr(0, std::min(what.find('\n'), std::size_t{200}));
    return fail(error == nullptr ? parser_line() : static_cast<std::uint64_t>(std::max(0, error->line)),
                "not well-formed XML, and cannot be read beyond this line: " + what);
  }
  if (last) over_ = true;
}

std::variant<WikiPage, ReadError, EndOfCorpus> MediawikiExport::next() {
  while (ready_.empty() && !over_) feed();
  if (ready_.empty()) return EndOfCorpus{};
  auto outcome = std::move(ready_.front());
  ready_.pop_front();
  if (auto* error = std::get_if<ReadError>(&outcome)) return std::move(*error);
  return std::move(std::get<WikiPage>(outcome));
}

void MediawikiExport::begin_element(std::string_view name, std::string_view key) {
  if (path_.empty() && name != "mediawiki") {
    return refuse("is XML, but no MediaWiki export: its root is <" + std::string(name.substr(0, 60)) +
                  "> and not <mediawiki>");
  }
  path_.append("/").append(name);
  collected_ = nullptr;
  if (path_ == "/mediawiki/siteinfo/base") collected_ = &base_;
  if (path_ == "/mediawiki/siteinfo/namespaces/namespace" && site_bytes_ < longest_head_bytes) {
    site_bytes_ += key.size() + 100;
    collected_ = &namespaces_[std::string(key)];
  }
  constexpr std::string_view page = "/mediawiki/page";
  if (!path_.starts_with(page)) return;
  const std::string_view below = std::string_view(path_).substr(page.size());
  if (below.empty()) {
    page_ = WikiPage{};
    page_.line = parser_line();
    page_bytes_ = 0;
  }
  if (below == "/title") collected_ = &page_.title;
  if (below == "/ns") collected_ = &page_.name_space;
  if (below == "/id") collected_ = &page_.id;
  if (below == "/redirect") page_.is_redirect = true;
  if (below == "/revision") {
    for (std::string* field : {&page_.text, &page_.timestamp, &page_.model}) field->clear();
    page_.has_text = false;
    page_bytes_ = page_.title.size() + page_.name_space.size() + page_.id.size();
  }
  if (below == "/revision/timestamp") collected_ = &page_.timestamp;
  if (below == "/revision/model") collected_ = &page_.model;
  if (below == "/revision/text") {
    collected_ = &page_.text;
    page_.has_text = true;
  }
}

void MediawikiExport::end_element() {
  collected_ = nullptr;
  if (path_ == "/mediawiki/page") end_page();
  path_.resize(path_.rfind('/'));
}

void MediawikiExport::characters(std::string_view text) {
  if (collected_ == nullptr) return;
  const bool in_page = path_.starts_with("/mediawiki/page");
  std::uint64_t& bytes = in_page ? page_bytes_ : site_bytes_;
  bytes += text.size();
  if (bytes <= (in_page ? longest_ : longest_head_bytes)) {
    collected_->append(text);
  } else if (in_page) {
    *collected_ = std::string();  // too long to be kept; it is only measured
  }
}

void MediawikiExport::end_page() {
  WikiPage page = std::exchange(page_, WikiPage{});
  if (page_bytes_ > longest_) {
    const std::string what = page.title.empty() ? "a page" : "page '" + page.title.substr(0, 200) + "'";
    ready_.emplace_back(ReadError{file(), page.line,
                                  what + " of " + std::to_string(page_bytes_) + " bytes is longer than the " +
                                      std::to_string(longest_) + " allowed",
                                  false});
    return;
  }
  constexpr std::string_view replacement = "\xef\xbf\xbd";
  page.repaired = any_repaired_ && (page.text.find(replacement) != std::string::npos ||
                                    page.title.find(replacement) != std::string::npos);
  ready_.emplace_back(std::move(page));
}

}  // namespace hedgerow
