#include "corpus/debian.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>

#include "corpus/apt_lists.hpp"
#include "corpus/control_file.hpp"
#include "corpus/debian_version.hpp"

namespace hedgerow {

namespace {

// The long descriptions that packages refer to, by their Description-md5 (its hexadecimal text).
using LongDescriptions = std::unordered_map<std::string, std::string>;

// Which stanza stands for a package.
struct Chosen {
  std::string version;
  std::string description_md5;
  std::uint32_t list = 0;
  std::uint64_t line = 0;
};
using ChosenStanzas = std::unordered_map<std::string, Chosen>;

// So many faults of the translation lists are reported one by one, and not more, however broken they are.
constexpr std::size_t most_translation_errors = 100;

// A description's further lines in its own form: " ." is an empty line, a line with more than one blank is verbatim,
// the others are paragraphs to be set anew. The first blank of each line is already gone.
std::string plain_description(std::string_view lines) {
  std::string text;
  bool in_paragraph = false;
  while (!lines.empty()) {
    const std::size_t newline = lines.find('\n');
    std::string_view line = lines.substr(0, newline);
    lines.remove_prefix(newline == std::string_view::npos ? lines.size() : newline + 1);

    const bool verbatim = line.starts_with(' ') || line.starts_with('\t');
    const std::size_t first = line.find_first_not_of(" \t");
    line = first == std::string_view::npos ? std::string_view{} : line.substr(first);
    line = line.substr(0, line.find_last_not_of(" \t") + 1);
    if (line.empty() || (line == "." && !verbatim)) {
      if (!text.empty() && !text.ends_with("\n\n")) text += text.ends_with('\n') ? "\n" : "\n\n";
      in_paragraph = false;
      continue;
    }
    if (!text.empty() && !text.ends_with('\n')) text += in_paragraph && !verbatim ? ' ' : '\n';
    text += line;
    in_paragraph = !verbatim;
  }
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

struct Description {
  std::string_view summary;
  std::string_view further_lines;
};

Description split_description(std::string_view value) {
  const std::size_t newline = value.find('\n');
  if (newline == std::string_view::npos) return {value, {}};
  return {value.substr(0, newline), value.substr(newline + 1)};
}

std::string_view english_description(const Stanza& stanza) {
  const std::string_view translated = stanza["Description-en"];
  return translated.empty() ? stanza["Description"] : translated;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Adds the values of the tags that are facets: "role::program", and the older "interface::{text-mode,x11}" as well.
void add_tags(std::string_view tags, Document& document) {
  static constexpr std::array<std::string_view, 3> facet_tags{"implemented-in", "role", "interface"};
  while (!tags.empty()) {
    const std::size_t begin = tags.find_first_not_of(", \t\n");
    if (begin == std::string_view::npos) return;
    tags.remove_prefix(begin);
    std::size_t end = tags.find_first_of(", \t\n");
    const std::size_t brace = tags.find('{');
    if (brace < end) end = tags.find('}', brace);
    const std::string_view tag = tags.substr(0, end);
    tags.remove_prefix(end == std::string_view::npos ? tags.size() : end);
    if (tags.starts_with('}')) tags.remove_prefix(1);

    const std::size_t colons = tag.find("::");
    if (colons == std::string_view::npos) continue;
    const std::string_view name = tag.substr(0, colons);
    std::string_view values = tag.substr(colons + 2);
    if (std::find(facet_tags.begin(), facet_tags.end(), name) == facet_tags.end()) continue;
    if (values.starts_with('{')) values.remove_prefix(1);
    while (!values.empty()) {
      const std::size_t comma = values.find(',');
      document.facets[std::string(name)].emplace_back(values.substr(0, comma));
      values.remove_prefix(comma == std::string_view::npos ? values.size() : comma + 1);
    }
  }
}

class DebianReader final : public Reader {
 public:
  DebianReader(AptLists lists, std::uint64_t longest_record) : lists_(std::move(lists)), longest_(longest_record) {}

  // Finds the newest version of each package, and its long description.
  result<void> prepare();

  ReadOutcome next() override;
  ReadProgress progress() const override;
  RecordPosition position() const override;
  std::vector<std::string> notes() const override;

 private:
  result<void> choose_stanzas();
  result<void> load_long_descriptions();
  ReadOutcome give(ReadError error);
  Document document_of(const Stanza& stanza);

  AptLists lists_;
  std::uint64_t longest_;
  ChosenStanzas chosen_;
  LongDescriptions long_descriptions_;
  std::vector<ReadError> translation_errors_;
  std::size_t translation_errors_given_ = 0;

  std::size_t list_ = 0;  // of lists_.packages
  std::optional<ControlFile> open_list_;
  std::uint64_t line_ = 0;
  std::uint64_t documents_ = 0;
  std::uint64_t errors_ = 0;
  std::uint64_t without_long_description_ = 0;
  bool over_ = false;
};

result<void> DebianReader::prepare() {
  if (auto done = choose_stanzas(); !done) return done;
  return load_long_descriptions();
}

// Errors inside a list are left for next(), which meets them again and reports them.
result<void> DebianReader::choose_stanzas() {
  for (std::uint32_t list = 0; list < lists_.packages.size(); ++list) {
    auto file = ControlFile::open(lists_.packages[list], longest_);
    if (!file) return file.error();
    for (bool over = false; !over;) {
      const auto outcome = file->next();
      over = std::holds_alternative<EndOfCorpus>(outcome);
      const auto* stanza = std::get_if<const Stanza*>(&outcome);
      if (stanza == nullptr) continue;
      const std::string_view name = (**stanza)["Package"];
      const std::string_view version = (**stanza)["Version"];
      if (name.empty()) continue;
      auto [place, is_new] = chosen_.try_emplace(std::string(name));
      if (!is_new && compare_debian_versions(version, place->second.version) <= 0) continue;
      place->second = Chosen{std::string(version), std::string((**stanza)["Description-md5"]), list, (*stanza)->line()};
    }
  }
  return {};
}

result<void> DebianReader::load_long_descriptions() {
  for (const auto& [name, chosen] : chosen_) {
    if (!chosen.description_md5.empty()) long_descriptions_.try_emplace(chosen.description_md5);
  }
  for (const auto& path : lists_.translations) {
    auto file = ControlFile::open(path, longest_);
    if (!file) return file.error();
    for (bool over = false; !over;) {
      const auto outcome = file->next();
      over = std::holds_alternative<EndOfCorpus>(outcome);
      if (const auto* error = std::get_if<ReadError>(&outcome)) {
        if (error->fatal || translation_errors_.size() < most_translation_errors) translation_errors_.push_back(*error);
      }
      const auto* stanza = std::get_if<const Stanza*>(&outcome);
      if (stanza == nullptr) continue;
      const auto place = long_descriptions_.find(std::string((**stanza)["Description-md5"]));
      if (place == long_descriptions_.end() || !place->second.empty()) continue;
      place->second = plain_description(split_description(english_description(**stanza)).further_lines);
    }
  }
  return {};
}

ReadOutcome DebianReader::give(ReadError error) {
  ++errors_;
  if (error.fatal) over_ = true;
  return error;
}

Document DebianReader::document_of(const Stanza& stanza) {
  const Description description = split_description(english_description(stanza));
  Document document;
  document.id = stanza["Package"];
  document.title = document.id;
  if (!description.summary.empty()) document.title.append(" - ").append(description.summary);
  document.url = stanza["Homepage"];
  document.text = plain_description(description.further_lines);
  if (document.text.empty()) {
    const auto found = long_descriptions_.find(std::string(stanza["Description-md5"]));
    if (found != long_descriptions_.end()) document.text = found->second;
  }
  if (document.text.empty()) ++without_long_description_;
  for (const auto& [facet, field] : {std::pair{"section", "Section"}, std::pair{"priority", "Priority"}}) {
    if (const std::string_view value = stanza[field]; !value.empty()) document.facets[facet] = {std::string(value)};
  }
  // In kB, as dpkg counts it.
  if (const std::string_view size = stanza["Installed-Size"]; is_number(size)) {
    document.facets["installed_size"] = {std::string(size)};
  }
  add_tags(stanza["Tag"], document);
  return document;
}

ReadOutcome DebianReader::next() {
  if (over_) return EndOfCorpus{};
  if (translation_errors_given_ < translation_errors_.size()) {
    return give(translation_errors_[translation_errors_given_++]);
  }
  while (list_ < lists_.packages.size()) {
    if (!open_list_) {
      auto file = ControlFile::open(lists_.packages[list_], longest_);
      if (!file) return give(ReadError{lists_.packages[list_].string(), 0, to_string(file.error()), true});
      open_list_.emplace(std::move(*file));
    }
    auto outcome = open_list_->next();
    if (auto* error = std::get_if<ReadError>(&outcome)) return give(std::move(*error));
    if (std::holds_alternative<EndOfCorpus>(outcome)) {
      open_list_.reset();
      ++list_;
      continue;
    }
    const Stanza& stanza = *std::get<const Stanza*>(outcome);
    line_ = stanza.line();
    const std::string_view name = stanza["Package"];
    if (name.empty()) {
      return give(ReadError{open_list_->file(), line_, "a record without the field 'Package'", false});
    }
    const auto chosen = chosen_.find(std::string(name));
    if (chosen == chosen_.end() || chosen->second.list != list_ || chosen->second.line != line_) continue;
    ++documents_;
    return document_of(stanza);
  }
  if (documents_ < chosen_.size()) {
    const std::string missing = std::to_string(chosen_.size() - documents_) + " of " + std::to_string(chosen_.size());
    return give(ReadError{lists_.packages.front().parent_path().string(), 0,
                          missing + " packages were not found again: the lists changed while they were read", true});
  }
  over_ = true;
  return EndOfCorpus{};
}

ReadProgress DebianReader::progress() const {
  ReadProgress progress{documents_, errors_, 0, 1.0};
  if (!over_ && !chosen_.empty()) {
    progress.fraction = static_cast<double>(documents_) / static_cast<double>(chosen_.size());
  }
  return progress;
}

RecordPosition DebianReader::position() const {
  if (!open_list_) return {};
  return {open_list_->file(), line_};
}

std::vector<std::string> DebianReader::notes() const {
  if (without_long_description_ == 0) return {};
  std::string note = std::to_string(without_long_description_) + " of " + std::to_string(documents_) +
                     " packages have no long description";
  if (lists_.translations.empty()) note += ": there is no Translation-en list; scripts/fetch-apt-lists fetches it";
  return {std::move(note)};
}

}  // namespace

result<std::unique_ptr<Reader>> open_debian(const std::string& folder, const CorpusSettings& settings) {
  auto lists = find_apt_lists(folder.empty() ? settings.apt_list_folders : std::vector<std::string>{folder});
  if (!lists) return lists.error();
  auto reader = std::make_unique<DebianReader>(std::move(*lists), settings.longest_record_bytes);
  if (auto prepared = reader->prepare(); !prepared) return prepared.error();
  return std::unique_ptr<Reader>(std::move(reader));
}

}  // namespace hedgerow
