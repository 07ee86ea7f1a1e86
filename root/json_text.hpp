// JSON that is written as it is told, without a tree of it in between: for answers, of which there are many.
#pragma once

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/utf8.hpp"

namespace hedgerow::root {

class JsonText {
 public:
  JsonText() : writer_(buffer_) {}
  JsonText(const JsonText&) = delete;
  JsonText& operator=(const JsonText&) = delete;

  // Members and elements are written by `inside`, between the brackets.
  template <class Inside>
  void object(Inside&& inside) {
    writer_.StartObject();
    inside();
    writer_.EndObject();
  }
  template <class Inside>
  void array(Inside&& inside) {
    writer_.StartArray();
    inside();
    writer_.EndArray();
  }

  void key(std::string_view name) { writer_.Key(name.data(), size_of(name)); }

  // What is not UTF-8 is replaced by U+FFFD.
  void value(std::string_view text) {
    if (is_valid_utf8(text)) {
      writer_.String(text.data(), size_of(text));
    } else {
      std::string repaired(text);
      repair_utf8(repaired);
      writer_.String(repaired.data(), size_of(repaired));
    }
  }
  void value(const char* text) { value(std::string_view(text)); }
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(bool truth) { writer_.Bool(truth); }
  void value(std::unsigned_integral auto number) { writer_.Uint64(number); }
  // null where it is no number.
  void value(double number) {
    if (std::isfinite(number)) {
      writer_.Double(number);
    } else {
      writer_.Null();
    }
  }

  template <class Value>
  void member(std::string_view name, const Value& value_of_it) {
    key(name);
    value(value_of_it);
  }
  template <class Inside>
  void object(std::string_view name, Inside&& inside) {
    key(name);
    object(inside);
  }
  template <class Inside>
  void array(std::string_view name, Inside&& inside) {
    key(name);
    array(inside);
  }

  std::string_view text() const { return {buffer_.GetString(), buffer_.GetSize()}; }

 private:
  static rapidjson::SizeType size_of(std::string_view text) { return static_cast<rapidjson::SizeType>(text.size()); }

  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> writer_;
};

}  // namespace hedgerow::root
