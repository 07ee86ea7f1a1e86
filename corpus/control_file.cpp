#include "corpus/control_file.hpp"

#include <strings.h>

#include <optional>

namespace hedgerow {

namespace {

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

std::string_view Stanza::operator[](std::string_view name) const {
  for (std::size_t i = 0; i < used_; ++i) {
    if (same_name(fields_[i].name, name)) return fields_[i].value;
  }
  return {};
}

result<ControlFile> ControlFile::open(const std::filesystem::path& file, std::uint64_t longest_stanza_bytes) {
  auto lines = LineStream::open(file, longest_stanza_bytes);
  if (!lines) return lines.error();
  return ControlFile(std::move(*lines), longest_stanza_bytes);
}

// Adds one line to the stanza; returns what is wrong with it, if anything is.
std::string ControlFile::take(std::string_view line) {
  if (line.front() == ' ' || line.front() == '\t') {
    if (stanza_.used_ == 0) return "a continuation line without a field before it";
    stanza_.fields_[stanza_.used_ - 1].value.append("\n").append(line.substr(1));
    return {};
  }
  const std::size_t colon = line.find(':');
  if (colon == 0 || colon == std::string_view::npos) return "a line without the name of a field";
  if (stanza_.used_ == stanza_.fields_.size()) stanza_.fields_.emplace_back();
  Stanza::Field& field = stanza_.fields_[stanza_.used_++];
  field.name.assign(line.substr(0, colon));
  field.value.assign(trim(line.substr(colon + 1)));
  return {};
}

std::variant<const Stanza*, ReadError, EndOfCorpus> ControlFile::next() {
  stanza_.used_ = 0;
  stanza_.line_ = 0;
  std::uint64_t bytes = 0;
  std::optional<ReadError> fault;
  for (;;) {
    auto outcome = lines_.next();
    if (auto* error = std::get_if<ReadError>(&outcome)) {
      if (error->fatal) return std::move(*error);
      if (!fault) fault = std::move(*error);
      continue;
    }
    const auto* line = std::get_if<Line>(&outcome);
    const bool stanza_ends = line == nullptr || line->text.empty();
    if (stanza_ends && fault) return std::move(*fault);
    if (stanza_ends && stanza_.used_ > 0) return &stanza_;
    if (line == nullptr) return EndOfCorpus{};
    if (stanza_ends || fault) continue;

    if (stanza_.line_ == 0) stanza_.line_ = lines_.line();
    bytes += line->text.size() + 1;
    std::string what = take(line->text);
    if (what.empty() && bytes > longest_) {
      what = "a record is longer than the " + std::to_string(longest_) + " bytes allowed";
    }
    if (!what.empty()) {
      fault = ReadError{lines_.file(), lines_.line(), std::move(what), false};
      stanza_ = Stanza{};
    }
  }
}

}  // namespace hedgerow
