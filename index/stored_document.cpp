#include "index/stored_document.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

namespace hedgerow {

namespace {

std::string_view cut_at_character(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return text;
  std::size_t end = longest;
  // A byte 10xxxxxx goes on with the character before it.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) --end;
  return text.substr(0, end);
}

constexpr std::size_t length_bytes = 4;

void put_length(std::string& out, std::size_t length) {
  for (std::size_t i = 0; i < length_bytes; ++i) out.push_back(static_cast<char>(length >> (8 * i) & 0xff));
}

std::size_t length_at(std::string_view value, std::size_t at) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) {
    length |= static_cast<std::size_t>(static_cast<unsigned char>(value[at + i])) << (8 * i);
  }
  return length;
}

Error corrupt_document() { return {Errc::corrupt, "a document is not what the index stores"}; }

// The data's object; discarded where it is none, or has no text.
nlohmann::json data_of(std::string_view data) {
  auto json = nlohmann::json::parse(data, nullptr, false);
  const bool whole = json.is_object() && json.contains("text") && json["text"].is_string() && json.contains("facets");
  return whole ? json : nlohmann::json(nlohmann::json::value_t::discarded);
}

}  // namespace

std::string encode_shown_document(const Document& document) {
  const std::string_view title = cut_at_character(document.title, longest_stored_title);
  std::string value;
  put_length(value, document.id.size());
  put_length(value, title.size());
  value += document.id;
  value += title;
  if (document.url.size() <= longest_stored_url) value += document.url;
  return value;
}

result<ShownDocument> decode_shown_document(std::string_view value) {
  constexpr std::size_t lengths = 2 * length_bytes;
  if (value.size() < lengths) return corrupt_document();
  const std::size_t id = length_at(value, 0), title = length_at(value, length_bytes);
  if (id + title > value.size() - lengths) return corrupt_document();
  return ShownDocument{std::string(value.substr(lengths, id)), std::string(value.substr(lengths + id, title)),
                       std::string(value.substr(lengths + id + title))};
}

std::string encode_stored_data(const Document& document) {
  const nlohmann::ordered_json data{{"text", cut_at_character(document.text, longest_stored_text)}, {"facets", document.facets}};
  return data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

result<std::string> decode_stored_text(std::string_view data) {
  auto json = data_of(data);
  if (json.is_discarded()) return corrupt_document();
  return std::move(json["text"].get_ref<std::string&>());
}

result<StoredDocument> decode_stored_document(std::string_view value, std::string_view data) {
  auto shown = decode_shown_document(value);
  if (shown.has_error()) return shown.error();
  auto json = data_of(data);
  if (json.is_discarded()) return corrupt_document();
  StoredDocument document{std::move(*shown), std::move(json["text"].get_ref<std::string&>()), {}};
  document.facets_json = json["facets"].dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return document;
}

}  // namespace hedgerow
