#include "corpus/jsonl.hpp"

#include <map>
#include <utility>

#include "base/utf8.hpp"
#include "corpus/json_record.hpp"
#include "corpus/line_stream.hpp"

namespace hedgerow {

namespace {

// So many names of fields are noted, and not more, whatever the file holds.
constexpr std::size_t noted_fields = 20;

class JsonlReader final : public Reader {
 public:
  explicit JsonlReader(LineStream lines) : lines_(std::move(lines)) {}

  ReadOutcome next() override;
  ReadProgress progress() const override { return {documents_, errors_, repaired_, lines_.fraction()}; }
  RecordPosition position() const override { return {lines_.file(), lines_.line()}; }
  std::vector<std::string> notes() const override;

 private:
  LineStream lines_;
  std::uint64_t documents_ = 0;
  std::uint64_t errors_ = 0;
  std::uint64_t repaired_ = 0;
  std::map<std::string, std::uint64_t> nested_fields_;  // name to records
};

ReadOutcome JsonlReader::next() {
  for (;;) {
    auto outcome = lines_.next();
    if (std::holds_alternative<EndOfCorpus>(outcome)) return EndOfCorpus{};
    if (auto* error = std::get_if<ReadError>(&outcome)) {
      ++errors_;
      return std::move(*error);
    }
    const Line line = std::get<Line>(outcome);
    if (line.text.find_first_not_of(" \t") == std::string_view::npos) continue;

    // Repaired before it is parsed: JSON itself allows nothing but UTF-8.
    std::string_view text = line.text;
    std::string sound;
    const bool ill_formed = !is_valid_utf8(text);
    if (ill_formed) {
      sound = text;
      repair_utf8(sound);
      text = sound;
    }
    auto record = parse_json_record(text);
    if (!record) {
      ++errors_;
      std::string what = std::move(record.error().context);
      if (!line.ended) what += " (the file ends inside this line)";
      return ReadError{lines_.file(), lines_.line(), std::move(what), false};
    }
    ++documents_;
    if (ill_formed) ++repaired_;
    if (const std::string& field = record->nested_field; !field.empty()) {
      if (nested_fields_.size() < noted_fields || nested_fields_.contains(field)) ++nested_fields_[field];
    }
    return std::move(record->document);
  }
}

std::vector<std::string> JsonlReader::notes() const {
  std::vector<std::string> notes;
  for (const auto& [field, records] : nested_fields_) {
    notes.push_back("field '" + field + "' holds an object or nested arrays in " + std::to_string(records) +
                    (records == 1 ? " record" : " records") + " and is no facet there; it was left out");
  }
  return notes;
}

}  // namespace

result<std::unique_ptr<Reader>> open_jsonl(const std::string& file, const CorpusSettings& settings) {
  if (file.empty()) return Error{Errc::invalid_argument, "'jsonl' needs a file: jsonl:FILE"};
  auto lines = LineStream::open(file, settings.longest_record_bytes);
  if (!lines) return lines.error();
  return std::unique_ptr<Reader>(std::make_unique<JsonlReader>(std::move(*lines)));
}

}  // namespace hedgerow
