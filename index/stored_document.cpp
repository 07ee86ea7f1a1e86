#include "index/stored_document.hpp"

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

}  // namespace

std::string encode_stored_document(const Document& document) {
  const nlohmann::ordered_json data{{"id", document.id},
                                    {"title", cut_at_character(document.title, longest_stored_title)},
                                    {"url", document.url.size() <= longest_stored_url ? document.url : ""},
                                    {"text", cut_at_character(document.text, longest_stored_text)},
                                    {"facets", document.facets}};
  return data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
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
