// What the codec's files share: a message's fields, written and read one after another; rows of numbers and texts. Of the
// codec alone.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "wire/cbor.hpp"
#include "wire/codec.hpp"
#include "wire/messages.hpp"

namespace hedgerow::wire {

// RFC 8746 tags.
constexpr std::uint64_t tag_uint32_little_endian = 70;
constexpr std::uint64_t tag_uint64_little_endian = 71;
constexpr std::uint64_t tag_float64_little_endian = 86;

template <class T>
constexpr std::uint64_t tag_of() {
  if (std::is_same_v<T, double>) return tag_float64_little_endian;
  return std::is_same_v<T, std::uint64_t> ? tag_uint64_little_endian : tag_uint32_little_endian;
}

// Fields that are more than one value; how many items each is says items_of.

// Bytes, which need not be UTF-8.
struct Bytes {
  std::string_view bytes;
};
// Texts that come in rows: their lengths, and all their bytes in one piece. Two items however many they are.
struct Texts {
  const std::vector<std::string>& texts;
};
// Two rows of numbers: partitions and documents.
struct Addresses {
  const std::vector<DocumentAddress>& addresses;
};
// An array, each element of which `put` writes.
template <class T>
struct List {
  const std::vector<T>& elements;
  void (*put)(CborWriter&, const T&);
};

template <class Unsigned>
  requires std::unsigned_integral<Unsigned>
void put(CborWriter& w, Unsigned value) {
  if constexpr (std::is_same_v<Unsigned, bool>) {
    w.put(value);
  } else {
    w.put(std::uint64_t{value});
  }
}
inline void put(CborWriter& w, std::int64_t value) { w.put(value); }
inline void put(CborWriter& w, double value) { w.put(value); }
inline void put(CborWriter& w, const std::string& text) { w.text(text); }
inline void put(CborWriter& w, Bytes field) { w.bytes(field.bytes); }
inline void put(CborWriter& w, Duration duration) { w.put(std::int64_t{duration.count()}); }
template <class Enum>
  requires std::is_enum_v<Enum>
void put(CborWriter& w, Enum choice) {
  w.put(std::uint64_t{static_cast<std::uint8_t>(choice)});
}
template <class AnyId>
  requires requires(AnyId id) { typename AnyId::representation; }
void put(CborWriter& w, AnyId id) {
  w.put(std::uint64_t{id.value});
}
template <class T>
  requires std::is_arithmetic_v<T>
void put(CborWriter& w, const std::vector<T>& values) {
  w.tag(tag_of<T>());
  w.bytes({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}
template <class T>
void put(CborWriter& w, const List<T>& list) {
  w.array(list.elements.size());
  for (const T& element : list.elements) list.put(w, element);
}
void put(CborWriter& w, const std::vector<PartitionId>& partitions);
void put(CborWriter& w, const PlannedQuery& plan);  // one array
void put(CborWriter& w, Texts texts);
void put(CborWriter& w, Addresses addresses);
void put(CborWriter& w, const Load& load);
void put(CborWriter& w, const TimeLimit& time);

template <class Field>
constexpr std::size_t items_of() {
  return std::is_same_v<Field, Texts> || std::is_same_v<Field, Addresses> || std::is_same_v<Field, Load> || std::is_same_v<Field, TimeLimit> ? 2 : 1;
}

// An array of these fields.
template <class... Field>
void put_all(CborWriter& w, const Field&... fields) {
  w.array((items_of<Field>() + ...));
  (put(w, fields), ...);
}

// Reads an array's items one after another; every mismatch is a Malformed. Of two at a time, the one within the other must be
// read to its end first.
class Fields {
 public:
  // Of an array with so many items, which are the reader's next.
  Fields(CborReader& reader, std::uint64_t items) : reader_(reader), left_(items) {}

  bool more() const { return left_ > 0; }
  void end() const {
    if (left_ != 0) throw Malformed{"a message has too many fields"};
  }
  template <class Unsigned>
  Unsigned number() {
    const CborItem item = next();
    if (item.kind != CborItem::Kind::number) throw Malformed{"a field is not an unsigned number"};
    if (item.number > std::numeric_limits<Unsigned>::max()) throw Malformed{"a number is too large for its field"};
    return static_cast<Unsigned>(item.number);
  }
  std::int64_t signed_number();
  double real();
  bool truth();
  std::string text(std::size_t longest = std::numeric_limits<std::size_t>::max());
  // Two fields: see Texts.
  std::vector<std::string> texts(std::size_t most, std::size_t longest);
  std::string bytes();
  // The items of an array within this one.
  Fields array(std::uint64_t most);
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
  // A row of numbers.
  template <class T>
  std::vector<T> row(std::size_t most) {
    const std::string_view bytes = row_bytes(tag_of<T>(), sizeof(T), most);
    std::vector<T> values(bytes.size() / sizeof(T));
    bytes.copy(reinterpret_cast<char*>(values.data()), bytes.size());
    return values;
  }
  std::vector<PartitionId> partitions(std::size_t most);
  // Two fields.
  std::vector<DocumentAddress> addresses(const CodecLimits& limits);
  PlannedQuery plan(const CodecLimits& limits);

 private:
  CborItem next() {
    if (left_ == 0) throw Malformed{"a message has too few fields"};
    --left_;
    return reader_.next();
  }
  std::string_view row_bytes(std::uint64_t tag, std::size_t width, std::size_t most);

  CborReader& reader_;
  std::uint64_t left_;
};

}  // namespace hedgerow::wire
