#include "corpus/tsv.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "corpus/line_stream.hpp"

namespace hedgerow {

namespace {

// A heading with more is no list of documents; each facet costs two value slots.
constexpr std::size_t most_columns = 1000;

struct Column {
  enum class Kind { id, title, text, url, facet, none } kind = Kind::none;
  std::string name;
};

constexpr std::string_view id_names[] = {"id", "_id", "docid", "docno", "doc_id", "pid"};
constexpr std::string_view text_names[] = {"text", "body", "contents", "passage"};

std::string in_lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool is_one_of(std::string_view name, const auto& names) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const std::size_t tab = line.find('\t');
    fields.push_back(line.substr(0, tab));
    if (tab == std::string_view::npos) return fields;
    line.remove_prefix(tab + 1);
  }
}

Column::Kind kind_of(std::string_view name) {
  if (name.empty()) return Column::Kind::none;
  if (name == "title") return Column::Kind::title;
  if (name == "url") return Column::Kind::url;
  return is_one_of(name, text_names) ? Column::Kind::text : Column::Kind::facet;
}

// The columns that a heading names; an error text where it is at fault.
std::variant<std::vector<Column>, std::string> columns_of_heading(const std::vector<std::string_view>& fields) {
  std::vector<Column> columns{{Column::Kind::id, std::string(fields.front())}};
  std::set<std::string> seen;
  for (std::size_t i = 1; i < fields.size(); ++i) {
    const Column column{kind_of(in_lower_case(fields[i])), std::string(fields[i])};
    // A second text, say, is as much a fault as a second column of the same name.
    const bool own = column.kind == Column::Kind::text;
    if (column.kind != Column::Kind::none && !seen.insert(own ? "text" : in_lower_case(column.name)).second) {
      return "the heading has two columns '" + (own ? "text" : column.name) + "'";
    }
    columns.push_back(column);
  }
  const bool readable = std::any_of(columns.begin(), columns.end(), [](const Column& column) {
    return column.kind == Column::Kind::title || column.kind == Column::Kind::text;
  });
  if (!readable) return "the heading names neither title nor text";
  return columns;
}

class TsvReader final : public Reader {
 public:
  explicit TsvReader(LineStream lines) : lines_(std::move(lines)) {}

  ReadOutcome next() override;
  ReadProgress progress() const override { return {documents_, errors_, 0, over_ ? 1.0 : lines_.fraction()}; }
  RecordPosition position() const override { return {lines_.file(), lines_.line()}; }

 private:
  ReadError error(std::string what, bool fatal = false) {
    ++errors_;
    over_ |= fatal;
    return {lines_.file(), lines_.line(), std::move(what), fatal};
  }
  // True where the line was a heading; columns_ stays empty where the form is unknown, and what says why.
  bool learn_columns(const std::vector<std::string_view>& fields, std::string& what);

  LineStream lines_;
  std::vector<Column> columns_;
  std::uint64_t documents_ = 0, errors_ = 0;
  bool over_ = false;
};

bool TsvReader::learn_columns(const std::vector<std::string_view>& fields, std::string& what) {
  using enum Column::Kind;
  if (fields.size() > most_columns) {
    what = "the first line has " + std::to_string(fields.size()) + " columns";
    return false;
  }
  if (is_one_of(in_lower_case(fields.front()), id_names)) {
    auto columns = columns_of_heading(fields);
    if (auto* fault = std::get_if<std::string>(&columns)) {
      what = std::move(*fault);
    } else {
      columns_ = std::get<std::vector<Column>>(std::move(columns));
    }
    return true;
  }
  switch (fields.size()) {
    case 2: columns_ = {{id, ""}, {text, ""}}; break;
    case 3: columns_ = {{id, ""}, {title, ""}, {text, ""}}; break;
    case 4: columns_ = {{id, ""}, {url, ""}, {title, ""}, {text, ""}}; break;
    default:
      what = "the first line has " + std::to_string(fields.size()) + (fields.size() == 1 ? " column" : " columns") +
             "; without a heading, there are 2 (id, text), 3 (id, title, text) or 4 (id, url, title, text)";
  }
  return false;
}

ReadOutcome TsvReader::next() {
  while (!over_) {
    auto outcome = lines_.next();
    if (std::holds_alternative<EndOfCorpus>(outcome)) break;
    if (auto* failed = std::get_if<ReadError>(&outcome)) {
      ++errors_;
      return std::move(*failed);
    }
    const std::string_view line = std::get<Line>(outcome).text;
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    const auto fields = split(line);
    if (columns_.empty()) {
      std::string what;
      const bool heading = learn_columns(fields, what);
      if (columns_.empty()) return error(std::move(what), true);
      if (heading) continue;
    }
    if (fields.size() != columns_.size()) {
      return error(std::to_string(fields.size()) + (fields.size() == 1 ? " column" : " columns") + " in place of " +
                   std::to_string(columns_.size()));
    }
    Document document;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      switch (columns_[i].kind) {
        case Column::Kind::id: document.id = fields[i]; break;
        case Column::Kind::title: document.title = fields[i]; break;
        case Column::Kind::text: document.text = fields[i]; break;
        case Column::Kind::url: document.url = fields[i]; break;
        case Column::Kind::facet: document.facets[columns_[i].name].emplace_back(fields[i]); break;
        case Column::Kind::none: break;
      }
    }
    ++documents_;
    return document;
  }
  over_ = true;
  return EndOfCorpus{};
}

}  // namespace

result<std::unique_ptr<Reader>> open_tsv(const std::string& file, const CorpusSettings& settings) {
  if (file.empty()) return Error{Errc::invalid_argument, "'tsv' needs a file: tsv:FILE"};
  auto lines = LineStream::open(file, settings.longest_record_bytes);
  if (!lines) return lines.error();
  return std::unique_ptr<Reader>(std::make_unique<TsvReader>(std::move(*lines)));
}

}  // namespace hedgerow
