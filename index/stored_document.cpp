#include "index/stored_document.hpp"

#include <bitset>
#include <iterator>
#include <nlohmann/json.hpp>

namespace hedgerow {

namespace {

std::string_view cut_at_character(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return text;
  std::size_t end = longest;
  // A byte 10xxxxxx goes on with the character before it.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) --end;
  return text.substr(0, end);
}

bool take_string(const nlohmann::json& object, const char* name, std::string& out) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return false;
  out = found->get<std::string>();
  return true;
}

// Reads an object's fields until all that a list of hits shows are there; of what comes behind them nothing is looked at.
class ShownReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  // Whether everything was found. The parser's own verdict says only whether it came to the end.
  bool complete() const { return found_.all(); }
  ShownDocument document;

  bool key(string_t& name) override {
    wanted_ = nullptr;
    for (const Field& field : fields_) {
      if (depth_ == 1 && name == field.name) wanted_ = &field;
    }
    return true;
  }
  bool string(string_t& text) override {
    if (!wanted_) return true;
    document.*wanted_->part = std::move(text);
    found_.set(static_cast<std::size_t>(wanted_ - fields_));
    wanted_ = nullptr;
    return !complete();
  }
  bool start_object(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_array() override { return close(); }
  bool null() override { return other(); }
  bool boolean(bool) override { return other(); }
  bool number_integer(number_integer_t) override { return other(); }
  bool number_unsigned(number_unsigned_t) override { return other(); }
  bool number_float(number_float_t, const string_t&) override { return other(); }
  bool binary(binary_t&) override { return other(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override { return false; }

 private:
  // None of ours: a wanted field of another kind ends the reading.
  bool other() const { return !wanted_; }
  bool open() {
    ++depth_;
    return !wanted_;
  }
  bool close() {
    --depth_;
    return true;
  }

  struct Field {
    const char* name;
    std::string ShownDocument::*part;
  };
  static constexpr Field fields_[] = {{"id", &ShownDocument::id}, {"title", &ShownDocument::title}, {"url", &ShownDocument::url}};

  std::size_t depth_ = 0;
  std::bitset<std::size(fields_)> found_;
  const Field* wanted_ = nullptr;
};

}  // namespace

std::string encode_stored_document(const Document& document) {
  const nlohmann::ordered_json data{{"id", document.id},
                                    {"title", cut_at_character(document.title, longest_stored_title)},
                                    {"url", document.url.size() <= longest_stored_url ? document.url : ""},
                                    {"text", cut_at_character(document.text, longest_stored_text)},
                                    {"facets", document.facets}};
  return data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

result<ShownDocument> decode_shown_document(std::string_view data) {
  ShownReader reader;
  nlohmann::json::sax_parse(data, &reader);
  if (!reader.complete()) return Error{Errc::corrupt, "a document's data is not what the index stores"};
  return std::move(reader.document);
}

result<StoredDocument> decode_stored_document(std::string_view data) {
  const auto json = nlohmann::json::parse(data, nullptr, false);
  StoredDocument document;
  if (json.is_discarded() || !json.is_object() || !take_string(json, "id", document.id) ||
      !take_string(json, "title", document.title) || !take_string(json, "url", document.url) ||
      !take_string(json, "text", document.text) || !json.contains("facets")) {
    return Error{Errc::corrupt, "a document's data is not what the index stores"};
  }
  document.facets_json = json["facets"].dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return document;
}

}  // namespace hedgerow
