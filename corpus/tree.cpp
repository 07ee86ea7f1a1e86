#include "corpus/tree.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "corpus/byte_stream.hpp"
#include "corpus/charset.hpp"
#include "corpus/html.hpp"
#include "corpus/markdown.hpp"
#include "corpus/plain_text.hpp"
#include "corpus/rst.hpp"
#include "corpus/text_kind.hpp"
#include "corpus/tree_files.hpp"

namespace hedgerow {

namespace {

// A title from content is cut at about this.
constexpr std::size_t longest_title_bytes = 300;

std::string day_of(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  // Days before the year 0 or after 9999 are no dates that anybody means.
  if (::gmtime_r(&time, &parts) == nullptr || parts.tm_year < -1900 || parts.tm_year > 9999 - 1900) return {};
  char text[16];
  return std::string(text, std::strftime(text, sizeof text, "%Y-%m-%d", &parts));
}

// "bash/changelog.Debian" of "doc/bash/changelog.Debian.gz".
std::string title_from_path(std::string_view path) {
  path = without_packing_suffix(path);
  const std::size_t last = path.rfind('/');
  if (last == std::string_view::npos || last == 0) return std::string(path);
  const std::size_t before = path.rfind('/', last - 1);
  return std::string(before == std::string_view::npos ? path : path.substr(before + 1));
}

// On one line, and cut between two characters.
std::string as_title(std::string title) {
  for (char& c : title) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  }
  if (title.size() > longest_title_bytes) {
    std::size_t end = longest_title_bytes;
    while (end > 0 && (static_cast<unsigned char>(title[end]) & 0xc0) == 0x80) --end;
    title.resize(end);
  }
  return std::string(trimmed(title));
}

class TreeReader final : public Reader {
 public:
  TreeReader(std::unique_ptr<TreeFiles> files, std::uint64_t longest) : files_(std::move(files)), longest_(longest) {}

  ReadOutcome next() override;
  ReadProgress progress() const override { return {documents_, errors_, repaired_, files_->fraction()}; }
  RecordPosition position() const override { return {position_, 0}; }
  std::vector<std::string> notes() const override;

 private:
  struct Content {
    std::string bytes;
    TextKind kind = TextKind::binary;
  };

  ReadOutcome fail(const TreeFile& file, std::string what);
  result<Content> read(const TreeFile& file);
  result<Content> take_all(const TreeFile& file, const Pieces& pieces, std::string head);
  result<Document> document_of(const TreeFile& file, Content content);

  std::unique_ptr<TreeFiles> files_;
  std::uint64_t longest_;
  std::string position_;
  std::uint64_t documents_ = 0;
  std::uint64_t errors_ = 0;
  std::uint64_t repaired_ = 0;
  std::uint64_t binary_ = 0;
  std::uint64_t blank_ = 0;
  bool over_ = false;
};

// Adds pieces until there are so many bytes. False at the end of the pieces.
result<bool> gather(const Pieces& pieces, std::size_t bytes, std::string& into) {
  while (into.size() < bytes) {
    const auto piece = pieces();
    if (!piece) return piece.error();
    if (piece->empty()) return false;
    into += *piece;
  }
  return true;
}

result<TreeReader::Content> TreeReader::take_all(const TreeFile& file, const Pieces& pieces, std::string head) {
  if (auto gathered = gather(pieces, telling_bytes, head); !gathered) return gathered.error();
  Content content{{}, kind_of(without_packing_suffix(file.path), head)};
  if (content.kind == TextKind::binary) return content;
  const auto longer = gather(pieces, longest_ + 1, head);
  if (!longer) return longer.error();
  if (*longer) {
    return Error{Errc::too_large, "holds more than the " + std::to_string(longest_) + " bytes allowed"};
  }
  content.bytes = std::move(head);
  return content;
}

result<TreeReader::Content> TreeReader::read(const TreeFile& file) {
  const Pieces pieces = [this] { return files_->next_piece(); };
  std::string head;
  if (auto gathered = gather(pieces, telling_bytes, head); !gathered) return gathered.error();
  if (!is_packed(head)) return take_all(file, pieces, std::move(head));

  ByteStream unpacked = ByteStream::over([&, given = false]() mutable -> result<std::string_view> {
    return std::exchange(given, true) ? pieces() : std::string_view(head);
  });
  auto content = take_all(file, [&] { return unpacked.next(); }, {});
  if (!content && content.error().code != Errc::too_large) {
    return Error{content.error().code, "cannot be unpacked: " + content.error().context};
  }
  return content;
}

result<Document> TreeReader::document_of(const TreeFile& file, Content content) {
  const std::string label = content.kind == TextKind::html ? declared_encoding(content.bytes) : std::string();
  const DecodedText decoded = decode_text(std::move(content.bytes), label);
  PlainText plain;
  switch (content.kind) {
    case TextKind::html: {
      auto reduced = reduce_html(decoded.text);
      if (!reduced) return reduced.error();
      plain = std::move(*reduced);
      break;
    }
    case TextKind::markdown: plain = reduce_markdown(decoded.text); break;
    case TextKind::rst: plain = reduce_rst(decoded.text); break;
    default: plain = reduce_text(decoded.text);
  }
  if (decoded.replaced > 0) ++repaired_;

  Document document;
  document.id = file.path;
  document.title = as_title(std::move(plain.title));
  document.url = file.url;
  document.text = std::move(plain.text);
  document.facets["type"] = {std::string(to_string(content.kind))};
  if (const std::size_t slash = file.path.find('/'); slash != std::string::npos) {
    document.facets["folder"] = {file.path.substr(0, slash)};
  }
  if (file.modified) document.facets["modified"] = {day_of(*file.modified)};
  if (file.size) document.facets["size"] = {std::to_string(*file.size)};
  return document;
}

ReadOutcome TreeReader::fail(const TreeFile& file, std::string what) {
  ++errors_;
  return ReadError{files_->name_of(file), 0, std::move(what), false};
}

ReadOutcome TreeReader::next() {
  while (!over_) {
    auto outcome = files_->next();
    if (std::holds_alternative<EndOfCorpus>(outcome)) break;
    if (auto* error = std::get_if<ReadError>(&outcome)) {
      ++errors_;
      over_ = error->fatal;
      return std::move(*error);
    }
    const TreeFile& file = std::get<TreeFile>(outcome);
    auto content = read(file);
    if (!content) return fail(file, content.error().context);
    if (content->kind == TextKind::binary) {
      ++binary_;
      continue;
    }
    auto document = document_of(file, std::move(*content));
    if (!document) return fail(file, document.error().context);
    if (document->title.empty() && document->text.find_first_not_of(" \t\r\n") == std::string::npos) {
      ++blank_;
      continue;
    }
    if (document->title.empty()) document->title = title_from_path(file.path);
    position_ = files_->name_of(file);
    ++documents_;
    return std::move(*document);
  }
  over_ = true;
  return EndOfCorpus{};
}

std::vector<std::string> TreeReader::notes() const {
  std::vector<std::string> notes;
  const auto note = [&](std::uint64_t count, const std::string& what) {
    if (count > 0) notes.push_back(what + " passed over: " + std::to_string(count));
  };
  note(binary_, "binary files");
  note(blank_, "files without any text");
  for (const auto& [what, count] : files_->passed_over()) note(count, what);
  return notes;
}

}  // namespace

result<std::unique_ptr<Reader>> open_tree(const std::string& path, const CorpusSettings& settings) {
  if (path.empty()) return Error{Errc::invalid_argument, "'tree' needs a folder or an archive: tree:PATH"};
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    const Errc code = errno == ENOENT || errno == ENOTDIR ? Errc::not_found : Errc::io;
    return Error{code, path + ": " + std::strerror(errno)};
  }
  auto files = S_ISDIR(status.st_mode) ? open_folder_files(path) : open_archive_files(path);
  if (!files) return files.error();
  return std::unique_ptr<Reader>(std::make_unique<TreeReader>(std::move(*files), settings.longest_record_bytes));
}

}  // namespace hedgerow
