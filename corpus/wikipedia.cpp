#include "corpus/wikipedia.hpp"

#include <algorithm>
#include <utility>

#include "corpus/mediawiki_export.hpp"
#include "corpus/plain_text.hpp"
#include "corpus/wikitext.hpp"

namespace hedgerow {

namespace {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// As MediaWiki writes a title into an address.
std::string title_in_url(std::string_view title) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string url;
  for (const char c : title) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~:/@!$(),;*").find(c) != std::string_view::npos;
    if (c == ' ') {
      url += '_';
    } else if (plain) {
      url += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      url.append({'%', digits[byte >> 4], digits[byte & 15]});
    }
  }
  return url;
}

class WikipediaReader final : public Reader {
 public:
  explicit WikipediaReader(std::unique_ptr<MediawikiExport> pages) : pages_(std::move(pages)) {}

  ReadOutcome next() override;
  ReadProgress progress() const override { return {documents_, errors_, repaired_, pages_->fraction()}; }
  RecordPosition position() const override { return {pages_->file(), line_}; }
  std::vector<std::string> notes() const override;

 private:
  void learn_names();
  bool is_article(const WikiPage& page) const;
  Document document_of(WikiPage page);

  std::unique_ptr<MediawikiExport> pages_;
  bool names_known_ = false;
  std::string address_;  // of a page, without its title
  WikiNames names_;
  std::vector<std::string> prefixes_;  // of all namespaces but the articles'
  std::uint64_t line_ = 0;
  std::uint64_t documents_ = 0;
  std::uint64_t errors_ = 0;
  std::uint64_t repaired_ = 0;
  std::uint64_t redirects_ = 0;
  std::uint64_t other_namespaces_ = 0;
};

// The head stands before the first page.
void WikipediaReader::learn_names() {
  if (std::exchange(names_known_, true)) return;
  const std::string& base = pages_->base();
  if (base.starts_with("http://") || base.starts_with("https://")) {
    // "https://en.wikipedia.org/wiki/Main_Page", or ".../index.php?title=Main_Page".
    const std::size_t end = base.find_last_of("/=");
    if (end > std::string_view("https://").size()) address_ = base.substr(0, end + 1);
  }
  for (const auto& [key, name] : pages_->namespaces()) {
    const std::string lower = lower_case(name);
    if (lower.empty()) continue;
    prefixes_.push_back(lower);
    if (key == "6") names_.file.push_back(lower);
    if (key == "14") names_.category.push_back(lower);
  }
}

// Exports before version 0.6 do not say a page's namespace; its title does.
bool WikipediaReader::is_article(const WikiPage& page) const {
  if (!page.name_space.empty()) return trimmed(page.name_space) == "0";
  const std::size_t colon = page.title.find(':');
  if (colon == std::string::npos) return true;
  const std::string prefix = lower_case(page.title.substr(0, colon));
  return std::find(prefixes_.begin(), prefixes_.end(), prefix) == prefixes_.end();
}

Document WikipediaReader::document_of(WikiPage page) {
  Document document;
  document.id = trimmed(page.id);
  document.title = trimmed(page.title);
  if (!address_.empty()) document.url = address_ + title_in_url(document.title);
  if (page.model.empty() || page.model == "wikitext") {
    ReducedWikitext reduced = reduce_wikitext(page.text, names_);
    document.text = std::move(reduced.text);
    if (!reduced.categories.empty()) document.facets["category"] = std::move(reduced.categories);
  } else {
    document.text = std::move(page.text);
  }
  if (const std::string_view time = trimmed(page.timestamp); !time.empty())
    document.facets["modified"] = {std::string(time)};
  return document;
}

ReadOutcome WikipediaReader::next() {
  for (;;) {
    auto outcome = pages_->next();
    if (std::holds_alternative<EndOfCorpus>(outcome)) return EndOfCorpus{};
    if (auto* error = std::get_if<ReadError>(&outcome)) {
      ++errors_;
      return std::move(*error);
    }
    auto& page = std::get<WikiPage>(outcome);
    learn_names();
    line_ = page.line;
    if (!is_article(page)) {
      ++other_namespaces_;
      continue;
    }
    if (page.is_redirect || lower_case(trimmed(std::string_view(page.text).substr(0, 20))).starts_with("#redirect")) {
      ++redirects_;
      continue;
    }
    const bool titled = !trimmed(page.title).empty();
    if (!titled || !page.has_text) {
      ++errors_;
      std::string what = titled ? "page '" + page.title.substr(0, 200) + "' has no text" : "a page without title";
      return ReadError{pages_->file(), page.line, std::move(what), false};
    }
    ++documents_;
    if (page.repaired) ++repaired_;
    return document_of(std::move(page));
  }
}

std::vector<std::string> WikipediaReader::notes() const {
  std::vector<std::string> notes;
  if (redirects_ > 0) notes.push_back("redirects passed over: " + std::to_string(redirects_));
  if (other_namespaces_ > 0) {
    notes.push_back("pages of other namespaces (talk, files, templates) passed over: " +
                    std::to_string(other_namespaces_));
  }
  return notes;
}

}  // namespace

result<std::unique_ptr<Reader>> open_wikipedia(const std::string& file, const CorpusSettings& settings) {
  if (file.empty()) return Error{Errc::invalid_argument, "'wikipedia' needs a file: wikipedia:FILE"};
  auto pages = MediawikiExport::open(file, settings.longest_record_bytes);
  if (!pages) return pages.error();
  return std::unique_ptr<Reader>(std::make_unique<WikipediaReader>(std::move(*pages)));
}

}  // namespace hedgerow
