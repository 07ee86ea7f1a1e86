#include "corpus/line_stream.hpp"

namespace hedgerow {

namespace {

// A line buffer that grew beyond this is given back before the next line.
constexpr std::size_t kept_bytes = 1024 * 1024;

}  // namespace

result<LineStream> LineStream::open(const std::filesystem::path& file, std::uint64_t longest_line_bytes) {
  auto bytes = ByteStream::open(file);
  if (!bytes) return bytes.error();
  return LineStream(std::move(*bytes), longest_line_bytes);
}

ReadError LineStream::fail(std::string what) {
  over_ = true;
  block_ = {};
  return ReadError{file(), line_, std::move(what), true};
}

std::variant<Line, ReadError, EndOfCorpus> LineStream::next() {
  if (over_) return EndOfCorpus{};
  if (held_.capacity() > kept_bytes) held_ = std::string();
  held_.clear();

  std::string_view text;
  std::uint64_t length = 0;
  bool ended = false;
  bool begun = false;
  while (!ended) {
    if (block_.empty()) {
      const auto block = bytes_.next();
      if (!block) {
        line_ += begun || line_ == 0 ? 1 : 0;
        return fail("cannot be read beyond this line: " + block.error().context);
      }
      block_ = *block;
      if (block_.empty()) {
        if (!begun) {
          over_ = true;
          return EndOfCorpus{};
        }
        break;
      }
    }
    begun = true;
    const std::size_t newline = block_.find('\n');
    ended = newline != std::string_view::npos;
    const std::string_view piece = block_.substr(0, newline);
    length += piece.size();
    if (length > longest_) {
      held_ = std::string();
    } else if (ended && held_.empty()) {
      text = piece;  // the usual case: the whole line lies in one block
    } else {
      held_.append(piece);
      text = held_;
    }
    block_.remove_prefix(piece.size() + (ended ? 1 : 0));
  }

  ++line_;
  if (length > longest_) {
    return ReadError{file(), line_,
                     "a line of " + std::to_string(length) + " bytes is longer than the " + std::to_string(longest_) +
                         " allowed",
                     false};
  }
  if (line_ == 1) {
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
      return fail("is UTF-16, and UTF-8 is expected");
    }
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  }
  if (text.ends_with('\r')) text.remove_suffix(1);
  return Line{text, ended};
}

std::optional<double> LineStream::fraction() const {
  return bytes_.fraction(over_ ? 0 : block_.size());
}

}  // namespace hedgerow
