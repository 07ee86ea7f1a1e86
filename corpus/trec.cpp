#include "corpus/trec.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "corpus/line_stream.hpp"
#include "corpus/trec_record.hpp"

namespace hedgerow {

namespace {

namespace fs = std::filesystem;
constexpr auto npos = std::string_view::npos;

struct File {
  std::string path;
  std::uint64_t bytes = 0;
};

class TrecReader final : public Reader {
 public:
  // first: the first of the files, where it is open already (a pipe can be opened only once).
  TrecReader(std::vector<File> files, bool folder, std::optional<LineStream> first, std::uint64_t longest_record)
      : files_(std::move(files)), folder_(folder), longest_(longest_record), lines_(std::move(first)) {
    for (const File& file : files_) total_bytes_ += file.bytes;
  }

  ReadOutcome next() override;
  ReadProgress progress() const override;
  RecordPosition position() const override {
    return {file_ < files_.size() ? std::string_view(files_[file_].path) : std::string_view(), record_line_};
  }

 private:
  enum class Place {
    outside,
    inside,   // of a record
    skipped,  // an over-long record or line: up to the next <DOC> or </DOC>, silently
  };

  std::optional<ReadOutcome> advance();
  std::optional<ReadOutcome> end_of_file();
  std::optional<ReadOutcome> meet_doc_tag(bool closing);
  void take(std::string_view text);
  ReadError error(std::uint64_t line, std::string what) { return {files_[file_].path, line, std::move(what), false}; }
  // What words outside of a record are worth, once, when their stretch ends.
  std::optional<ReadOutcome> outside_error();

  const std::vector<File> files_;
  const bool folder_;
  const std::uint64_t longest_;
  std::uint64_t total_bytes_ = 0, read_bytes_ = 0;  // of whole files
  std::uint64_t documents_ = 0, errors_ = 0;

  std::size_t file_ = 0;
  std::optional<LineStream> lines_;
  std::string line_;            // the current line, from at_ on not yet looked at
  std::size_t at_ = npos;       // npos: the next line is wanted
  Place place_ = Place::outside;
  std::string record_;
  std::uint64_t record_line_ = 0, record_bytes_ = 0;
  std::uint64_t outside_line_ = 0;  // where words outside of a record began; 0: nowhere
  bool any_record_ = false;         // in this file
};

ReadOutcome TrecReader::next() {
  while (file_ < files_.size()) {
    if (auto outcome = advance()) {
      if (std::holds_alternative<Document>(*outcome)) ++documents_;
      if (std::holds_alternative<ReadError>(*outcome)) ++errors_;
      return std::move(*outcome);
    }
  }
  return EndOfCorpus{};
}

std::optional<ReadOutcome> TrecReader::advance() {
  if (!lines_) {
    auto opened = LineStream::open(files_[file_].path, longest_);
    if (!opened) {
      // It was there when the folder was listed.
      ReadError failed{{}, 0, opened.error().context, !folder_};
      read_bytes_ += files_[file_++].bytes;
      return failed;
    }
    lines_ = std::move(*opened);
    place_ = Place::outside;
    any_record_ = false;
    outside_line_ = 0;
    at_ = npos;
  }
  if (at_ == npos) {
    auto outcome = lines_->next();
    if (std::holds_alternative<EndOfCorpus>(outcome)) return end_of_file();
    if (auto* failed = std::get_if<ReadError>(&outcome)) {
      // A record that holds such a line is lost with it, and where it ends is not known.
      place_ = Place::skipped;
      record_.clear();
      any_record_ = true;
      if (failed->fatal && folder_) failed->fatal = false;
      return std::move(*failed);
    }
    line_ = std::get<Line>(outcome).text;
    at_ = 0;
  }

  const std::size_t tag = find_tag(line_, "DOC", at_);
  const std::string_view rest = line_;
  take(rest.substr(at_, tag == npos ? npos : tag - at_));
  if (tag == npos) {
    take("\n");
    at_ = npos;
    return std::nullopt;
  }
  const bool closing = rest[tag + 1] == '/';
  if (!closing && outside_line_ > 0) {
    at_ = tag;  // met again, when that is told
    return outside_error();
  }
  const std::size_t end = rest.find('>', tag);
  at_ = end == npos ? rest.size() : end + 1;
  return meet_doc_tag(closing);
}

std::optional<ReadOutcome> TrecReader::meet_doc_tag(bool closing) {
  const Place before = std::exchange(place_, closing ? Place::outside : Place::inside);
  std::string record = std::exchange(record_, {});
  const std::uint64_t bytes = std::exchange(record_bytes_, 0);
  const std::uint64_t line = std::exchange(record_line_, lines_->line());
  any_record_ = true;
  if (before == Place::skipped) return std::nullopt;
  if (!closing) {
    if (before == Place::outside) return std::nullopt;
    return error(line, "no </DOC> before the next <DOC>, in line " + std::to_string(record_line_));
  }
  if (before == Place::outside) return error(lines_->line(), "</DOC> without <DOC>");
  record_line_ = line;
  if (bytes > longest_) {
    return error(line, "a record of " + std::to_string(bytes) + " bytes is longer than the " +
                           std::to_string(longest_) + " allowed");
  }
  auto document = parse_trec_record(record);
  if (!document) return error(line, document.error().context);
  return std::move(*document);
}

void TrecReader::take(std::string_view text) {
  if (place_ == Place::inside) {
    record_bytes_ += text.size();
    if (record_bytes_ > longest_) {
      record_ = std::string();
    } else {
      record_.append(text);
    }
  } else if (place_ == Place::outside && outside_line_ == 0) {
    // Mark-up around the records, such as an XML file's head, is passed over where it is whole in its line.
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t word = text.find_first_not_of(" \t\r\n\f\v", at);
      if (word == npos) return;
      const std::size_t end = text[word] == '<' ? text.find('>', word) : npos;
      if (end == npos) {
        outside_line_ = lines_->line();
        return;
      }
      at = end + 1;
    }
  }
}

std::optional<ReadOutcome> TrecReader::outside_error() {
  if (outside_line_ == 0) return std::nullopt;
  return error(std::exchange(outside_line_, 0), "text outside of any <DOC>");
}

std::optional<ReadOutcome> TrecReader::end_of_file() {
  if (place_ == Place::inside) {
    place_ = Place::outside;
    record_.clear();
    record_bytes_ = 0;
    return error(record_line_, "no </DOC> before the end of the file");
  }
  std::optional<ReadOutcome> outcome;
  if (outside_line_ > 0 && !any_record_) {
    outcome = error(0, "no <DOC> in it: not in TREC's form");
  } else {
    outcome = outside_error();
  }
  read_bytes_ += files_[file_].bytes;
  ++file_;
  lines_.reset();
  return outcome;
}

ReadProgress TrecReader::progress() const {
  ReadProgress progress{documents_, errors_, 0, {}};
  if (file_ == files_.size()) {
    progress.fraction = 1.0;
    return progress;
  }
  double bytes = static_cast<double>(read_bytes_);
  if (lines_) {
    const auto fraction = lines_->fraction();
    if (!fraction) return progress;
    bytes += *fraction * static_cast<double>(files_[file_].bytes);
  }
  progress.fraction = total_bytes_ == 0 ? 0.0 : std::min(1.0, bytes / static_cast<double>(total_bytes_));
  return progress;
}

result<std::vector<File>> files_in(const std::string& folder) {
  std::vector<File> files;
  std::error_code failed;
  fs::recursive_directory_iterator entry(folder, failed), end;
  for (; !failed && entry != end; entry.increment(failed)) {
    const bool hidden = entry->path().filename().native().starts_with('.');
    if (hidden) {
      entry.disable_recursion_pending();
      continue;
    }
    std::error_code unknown;
    if (!entry->is_regular_file(unknown)) continue;
    const auto bytes = entry->file_size(unknown);
    files.push_back({entry->path().string(), unknown ? 0 : bytes});
  }
  if (failed) return Error{Errc::io, folder + ": " + failed.message()};
  if (files.empty()) return Error{Errc::invalid_argument, folder + ": holds no files"};
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.path < b.path; });
  return files;
}

}  // namespace

result<std::unique_ptr<Reader>> open_trec(const std::string& path, const CorpusSettings& settings) {
  if (path.empty()) return Error{Errc::invalid_argument, "'trec' needs a file or folder: trec:PATH"};
  std::error_code unknown;
  const bool folder = fs::is_directory(path, unknown);
  std::vector<File> files;
  std::optional<LineStream> first;
  if (folder) {
    auto listed = files_in(path);
    if (!listed) return listed.error();
    files = std::move(*listed);
  } else {
    auto opened = LineStream::open(path, settings.longest_record_bytes);
    if (!opened) return opened.error();
    first = std::move(*opened);
    const auto bytes = fs::file_size(path, unknown);
    files.push_back({path, unknown ? 0 : bytes});
  }
  return std::unique_ptr<Reader>(
      std::make_unique<TrecReader>(std::move(files), folder, std::move(first), settings.longest_record_bytes));
}

}  // namespace hedgerow
