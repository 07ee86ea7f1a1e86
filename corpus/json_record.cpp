#include "corpus/json_record.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace hedgerow {

namespace {

using nlohmann::json;

// Receives the parser's events. Depth 1 is the record, depth 2 inside an array its elements; what lies deeper is passed
// over. Returning false stops the parser.
class RecordHandler final : public nlohmann::json_sax<json> {
 public:
  bool null() override { return depth_ == 0 ? no_object() : true; }
  bool boolean(bool value) override { return scalar(value ? "true" : "false", "true or false"); }
  bool number_integer(number_integer_t value) override { return scalar(std::to_string(value), whole_number); }
  bool number_unsigned(number_unsigned_t value) override { return scalar(std::to_string(value), whole_number); }
  bool number_float(number_float_t, const string_t& written) override { return scalar(written, "a number"); }
  bool string(string_t& value) override { return scalar(std::move(value), a_string); }
  bool binary(binary_t&) override { return false; }  // does not occur in JSON text

  bool start_object(std::size_t) override {
    if (depth_ == 0) return ++depth_, true;
    if (depth_ == 1 && own_field() != nullptr) return wrong_kind("an object");
    return pass_over();
  }
  bool start_array(std::size_t) override {
    if (depth_ == 0) return no_object();
    if (depth_ == 1 && own_field() != nullptr) return wrong_kind("an array");
    if (depth_ > 1) return pass_over();
    in_array_ = true;
    return ++depth_, true;
  }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }

  bool key(string_t& name) override {
    if (depth_ != 1) return true;
    key_ = std::move(name);
    // A second field of the same name takes the place of the first.
    if (std::string* own = own_field()) {
      own->clear();
    } else {
      record.document.facets.erase(key_);
    }
    return true;
  }

  bool parse_error(std::size_t byte, const std::string&, const nlohmann::detail::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error while parsing value - invalid
    // literal; last read: 'nul,'; expected ...": the middle is for people; the last token may be as long as the line.
    std::string_view detail = error.what();
    if (const std::size_t dash = detail.find(" - "); dash != std::string_view::npos) detail.remove_prefix(dash + 3);
    detail = detail.substr(0, detail.find("; last read"));
    fault = "not JSON at byte " + std::to_string(byte) + ": " + std::string(detail.substr(0, 120));
    return false;
  }

  // "_id" is the id where there is no "id"; it was taken for a facet until that was known.
  void settle_id() {
    const auto underscored = record.document.facets.find("_id");
    if (has_id_ || underscored == record.document.facets.end() || underscored->second.size() != 1) return;
    record.document.id = std::move(underscored->second.front());
    record.document.facets.erase(underscored);
  }

  JsonRecord record;
  std::string fault;

 private:
  static constexpr const char* a_string = "a string";
  static constexpr const char* whole_number = "a whole number";

  // Where a field that is not a facet goes.
  std::string* own_field() {
    Document& document = record.document;
    if (key_ == "id") return &document.id;
    if (key_ == "title") return &document.title;
    if (key_ == "text") return &document.text;
    if (key_ == "url") return &document.url;
    return nullptr;
  }

  bool scalar(std::string value, const char* kind) {
    if (depth_ == 0) return no_object();
    if (depth_ > 2 || (depth_ == 2 && !in_array_)) return true;
    has_id_ |= key_ == "id";
    std::string* const own = own_field();
    if (own == nullptr) {
      record.document.facets[key_].push_back(std::move(value));
      return true;
    }
    if (kind != a_string && !(key_ == "id" && kind == whole_number)) return wrong_kind(kind);
    *own = std::move(value);
    return true;
  }

  bool pass_over() {
    if (record.nested_field.empty()) {
      record.nested_field = key_.size() <= Document::longest_facet_name_bytes ? key_ : "(a long name)";
    }
    return ++depth_, true;
  }
  bool leave() {
    if (--depth_ == 1) in_array_ = false;
    return true;
  }
  bool no_object() {
    fault = "a JSON object is expected";
    return false;
  }
  bool wrong_kind(const char* kind) {
    fault = "'" + key_ + "' is " + kind + ", and " + (key_ == "id" ? "a string or a whole number" : "a string") +
            " is expected";
    return false;
  }

  std::uint64_t depth_ = 0;
  bool in_array_ = false;
  bool has_id_ = false;
  std::string key_;
};

}  // namespace

result<JsonRecord> parse_json_record(std::string_view line) {
  RecordHandler handler;
  try {
    if (json::sax_parse(line.begin(), line.end(), &handler)) {
      handler.settle_id();
      return std::move(handler.record);
    }
  } catch (const std::exception& error) {
    handler.fault = error.what();
  }
  return Error{Errc::input, std::move(handler.fault)};
}

}  // namespace hedgerow
