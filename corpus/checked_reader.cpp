#include "corpus/checked_reader.hpp"

#include <algorithm>
#include <utility>

#include "base/utf8.hpp"

namespace hedgerow {

namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
bool is_layout(char c) { return c == '\t' || c == '\n' || c == '\r'; }

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

// True if the text was not valid UTF-8. Control characters become spaces: they would not survive JSON and terminals.
bool repair_text(std::string& text) {
  const bool repaired = repair_utf8(text) > 0;
  std::replace_if(text.begin(), text.end(), [](char c) { return is_control(c) && !is_layout(c); }, ' ');
  return repaired;
}

// What is wrong with an id; empty if nothing is.
std::string fault_of_id(const std::string& id) {
  if (is_blank(id)) return "missing id";
  if (id.size() > Document::longest_id_bytes) {
    return "an id of " + std::to_string(id.size()) + " bytes is longer than the " +
           std::to_string(Document::longest_id_bytes) + " allowed";
  }
  if (std::any_of(id.begin(), id.end(), is_control)) return "the id holds a control character";
  return {};
}

}  // namespace

CheckedReader::CheckedReader(std::unique_ptr<Reader> inner) : inner_(std::move(inner)) {}

bool CheckedReader::repair(Document& document) {
  // The id's control characters are an error, so only its encoding is repaired.
  bool repaired = repair_utf8(document.id) > 0;
  for (std::string* text : {&document.title, &document.url, &document.text}) repaired |= repair_text(*text);
  std::map<std::string, std::vector<std::string>> facets;
  for (auto& [name, values] : document.facets) {
    std::string sound_name = name;
    repaired |= repair_text(sound_name);
    for (std::string& value : values) repaired |= repair_text(value);
    auto& kept = facets[std::move(sound_name)];
    kept.insert(kept.end(), std::move_iterator(values.begin()), std::move_iterator(values.end()));
  }
  document.facets = std::move(facets);
  return repaired;
}

void CheckedReader::sift_facets(Document& document) {
  for (auto facet = document.facets.begin(); facet != document.facets.end();) {
    const bool named = !is_blank(facet->first) && facet->first.size() <= Document::longest_facet_name_bytes;
    std::vector<std::string> kept;
    for (std::string& value : facet->second) {
      if (value.empty()) continue;
      if (!named || value.size() > Document::longest_facet_value_bytes) {
        ++unfit_facet_values_;
      } else if (std::find(kept.begin(), kept.end(), value) == kept.end()) {
        kept.push_back(std::move(value));
      }
    }
    facet->second = std::move(kept);
    facet = facet->second.empty() ? document.facets.erase(facet) : std::next(facet);
  }
}

ReadOutcome CheckedReader::next() {
  ReadOutcome outcome = inner_->next();
  if (std::holds_alternative<ReadError>(outcome)) ++errors_;
  Document* const document = std::get_if<Document>(&outcome);
  if (document == nullptr) return outcome;

  const auto refuse = [&](std::string what) {
    ++errors_;
    const RecordPosition position = inner_->position();
    return ReadError{std::string(position.file), position.line, std::move(what), false};
  };
  const bool repaired = repair(*document);
  if (std::string fault = fault_of_id(document->id); !fault.empty()) return refuse(std::move(fault));
  if (is_blank(document->title) && is_blank(document->text)) {
    return refuse("empty document '" + document->id + "': neither title nor text");
  }
  if (!ids_.insert(document->id)) return refuse("duplicate id '" + document->id + "'");
  sift_facets(*document);
  ++documents_;
  if (repaired) ++repaired_;
  return outcome;
}

ReadProgress CheckedReader::progress() const {
  const ReadProgress inner = inner_->progress();
  return ReadProgress{documents_, errors_, repaired_ + inner.repaired, inner.fraction};
}

std::vector<std::string> CheckedReader::notes() const {
  std::vector<std::string> notes = inner_->notes();
  if (const std::uint64_t repaired = progress().repaired; repaired > 0) {
    notes.push_back("text that was not valid UTF-8 was replaced by U+FFFD in " + std::to_string(repaired) +
                    (repaired == 1 ? " record" : " records"));
  }
  if (unfit_facet_values_ > 0) {
    notes.push_back(std::to_string(unfit_facet_values_) + " values are no facets and were left out: longer than " +
                    std::to_string(Document::longest_facet_value_bytes) +
                    " bytes, or their field's name is blank or longer than " +
                    std::to_string(Document::longest_facet_name_bytes));
  }
  return notes;
}

}  // namespace hedgerow
