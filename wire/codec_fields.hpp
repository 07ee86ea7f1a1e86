// What the codec's files share: fields of CBOR, read one after another, and rows of numbers and texts. Of the codec alone.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "wire/codec.hpp"
#include "wire/messages.hpp"

namespace hedgerow::wire {

using nlohmann::json;

// What is thrown inside decoding and caught at its border.
struct Malformed {
  const char* what;
};

// RFC 8746 tags.
constexpr std::uint64_t tag_uint32_little_endian = 70;
constexpr std::uint64_t tag_uint64_little_endian = 71;
constexpr std::uint64_t tag_float64_little_endian = 86;

template <class T>
constexpr std::uint64_t tag_of() {
  if (std::is_same_v<T, double>) return tag_float64_little_endian;
  return std::is_same_v<T, std::uint64_t> ? tag_uint64_little_endian : tag_uint32_little_endian;
}

template <class T>
json typed_array(const std::vector<T>& values) {
  std::vector<std::uint8_t> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return json::binary(std::move(bytes), tag_of<T>());
}

template <class T>
std::vector<T> typed_array_from(const json& value, std::size_t most) {
  if (!value.is_binary()) throw Malformed{"a row of numbers is not a typed array"};
  const auto& bytes = value.get_binary();
  if (!bytes.has_subtype() || bytes.subtype() != tag_of<T>()) throw Malformed{"a typed array has another type"};
  if (bytes.size() % sizeof(T) != 0 || bytes.size() / sizeof(T) > most) throw Malformed{"a typed array's length is wrong"};
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

json bytes_of(const std::string& text);

// Texts that come in rows: their lengths, and all their bytes in one piece. Two items however many they are, since each
// item costs whoever reads it much memory.
json lengths_of(const std::vector<std::string>& texts);
json joined(const std::vector<std::string>& texts);

// Reads a message's fields one after another; every mismatch is a Malformed.
class Fields {
 public:
  // first: where the fields begin; in a message behind its type's number.
  explicit Fields(const json& array, std::size_t first = 1) : array_(array), at_(first) {}

  const json& next() {
    if (at_ >= array_.size()) throw Malformed{"a message has too few fields"};
    return array_[at_++];
  }
  void end() const {
    if (at_ != array_.size()) throw Malformed{"a message has too many fields"};
  }
  template <class Unsigned>
  Unsigned number() {
    const json& value = next();
    if (!value.is_number_unsigned()) throw Malformed{"a field is not an unsigned number"};
    const auto wide = value.get<std::uint64_t>();
    if (wide > std::numeric_limits<Unsigned>::max()) throw Malformed{"a number is too large for its field"};
    return static_cast<Unsigned>(wide);
  }
  std::int64_t signed_number() {
    const json& value = next();
    if (!value.is_number_integer()) throw Malformed{"a field is not a whole number"};
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
      throw Malformed{"a number is too large for its field"};
    }
    return value.get<std::int64_t>();
  }
  double real() {
    const json& value = next();
    if (!value.is_number_float()) throw Malformed{"a field is not a real number"};
    return value.get<double>();
  }
  bool truth() {
    const json& value = next();
    if (!value.is_boolean()) throw Malformed{"a field is not true or false"};
    return value.get<bool>();
  }
  std::string text(std::size_t longest = std::numeric_limits<std::size_t>::max()) {
    const json& value = next();
    if (!value.is_string()) throw Malformed{"a field is not text"};
    if (value.get_ref<const std::string&>().size() > longest) throw Malformed{"a text is too long"};
    return value.get<std::string>();
  }
  // Two fields: see lengths_of.
  std::vector<std::string> texts(std::size_t most, std::size_t longest);
  std::string bytes() {
    const json& value = next();
    if (!value.is_binary()) throw Malformed{"a field is not bytes"};
    const auto& binary = value.get_binary();
    return std::string(binary.begin(), binary.end());
  }
  const json& array(std::size_t most) {
    const json& value = next();
    if (!value.is_array() || value.size() > most) throw Malformed{"a field is not an array, or too long"};
    return value;
  }
  template <class Enum>
  Enum choice(Enum last) {
    const auto value = number<std::uint8_t>();
    if (value > static_cast<std::uint8_t>(last)) throw Malformed{"a field holds an unknown choice"};
    return static_cast<Enum>(value);
  }
  Duration duration() { return Duration{signed_number()}; }
  template <class AnyId>
  AnyId id() {
    return AnyId{number<typename AnyId::representation>()};
  }
  Load load() {
    const auto queued = number<std::uint32_t>();
    return {queued, number<std::uint32_t>()};
  }
  TimeLimit time_limit() {
    const auto sent_at_ns = signed_number();
    return {sent_at_ns, duration()};
  }
  std::vector<PartitionId> partitions(std::size_t most) {
    std::vector<PartitionId> out;
    for (const auto value : typed_array_from<std::uint32_t>(next(), most)) out.push_back(PartitionId{value});
    return out;
  }

 private:
  const json& array_;
  std::size_t at_;
};

json partitions_of(const std::vector<PartitionId>& partitions);

// A query plan is one field of its message.
json plan_of(const PlannedQuery& plan);
PlannedQuery plan_from(const json& value, const CodecLimits& limits);

// Addresses of documents are two fields: two rows of numbers.
json partitions_of(const std::vector<DocumentAddress>& addresses);
json documents_of(const std::vector<DocumentAddress>& addresses);
std::vector<DocumentAddress> addresses_from(Fields& f, const CodecLimits& limits);

}  // namespace hedgerow::wire
