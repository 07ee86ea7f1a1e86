#include "wire/cbor.hpp"

#include <cbor.h>

namespace hedgerow::wire {

namespace {

// The longest item but for the bytes of a string: an initial byte and eight.
constexpr std::size_t longest_head = 9;

using Kind = CborItem::Kind;

CborItem& item(void* context) { return *static_cast<CborItem*>(context); }

template <class Unsigned, Kind kind>
void on_number(void* context, Unsigned value) {
  item(context).kind = kind;
  item(context).number = value;
}
template <class Real>
void on_real(void* context, Real value) {
  item(context).kind = Kind::real;
  item(context).real = value;
}
template <Kind kind>
void on_string(void* context, cbor_data data, std::size_t size) {
  item(context).kind = kind;
  item(context).bytes = {reinterpret_cast<const char*>(data), size};
}
template <Kind kind>
void on_mark(void* context) {
  item(context).kind = kind;
}

// What is not named here leaves the item as it was, Kind::other.
cbor_callbacks callbacks_of_items() {
  cbor_callbacks callbacks = cbor_empty_callbacks;
  callbacks.uint8 = on_number<std::uint8_t, Kind::number>;
  callbacks.uint16 = on_number<std::uint16_t, Kind::number>;
  callbacks.uint32 = on_number<std::uint32_t, Kind::number>;
  callbacks.uint64 = on_number<std::uint64_t, Kind::number>;
  callbacks.negint8 = on_number<std::uint8_t, Kind::negative>;
  callbacks.negint16 = on_number<std::uint16_t, Kind::negative>;
  callbacks.negint32 = on_number<std::uint32_t, Kind::negative>;
  callbacks.negint64 = on_number<std::uint64_t, Kind::negative>;
  callbacks.byte_string = on_string<Kind::bytes>;
  callbacks.string = on_string<Kind::text>;
  callbacks.array_start = on_number<std::size_t, Kind::array>;
  callbacks.indef_array_start = on_mark<Kind::open_array>;
  callbacks.indef_break = on_mark<Kind::end>;
  callbacks.tag = on_number<std::uint64_t, Kind::tag>;
  callbacks.float2 = on_real<float>;
  callbacks.float4 = on_real<float>;
  callbacks.float8 = on_real<double>;
  callbacks.boolean = [](void* context, bool value) {
    item(context).kind = Kind::truth;
    item(context).truth = value;
  };
  return callbacks;
}

}  // namespace

template <class Encode>
void CborWriter::append(Encode&& encode) {
  unsigned char head[longest_head];
  out_.append(reinterpret_cast<const char*>(head), encode(head));
}

void CborWriter::put(std::uint64_t value) {
  append([&](unsigned char* head) { return cbor_encode_uint(value, head, longest_head); });
}
void CborWriter::put(std::int64_t value) {
  if (value >= 0) return put(static_cast<std::uint64_t>(value));
  append([&](unsigned char* head) { return cbor_encode_negint(~static_cast<std::uint64_t>(value), head, longest_head); });
}
void CborWriter::put(double value) {
  append([&](unsigned char* head) { return cbor_encode_double(value, head, longest_head); });
}
void CborWriter::put(bool value) {
  append([&](unsigned char* head) { return cbor_encode_bool(value, head, longest_head); });
}
void CborWriter::text(std::string_view text) {
  append([&](unsigned char* head) { return cbor_encode_string_start(text.size(), head, longest_head); });
  out_.append(text);
}
void CborWriter::bytes(std::string_view bytes) {
  append([&](unsigned char* head) { return cbor_encode_bytestring_start(bytes.size(), head, longest_head); });
  out_.append(bytes);
}
void CborWriter::tag(std::uint64_t tag) {
  append([&](unsigned char* head) { return cbor_encode_tag(tag, head, longest_head); });
}
void CborWriter::array(std::size_t items) {
  append([&](unsigned char* head) { return cbor_encode_array_start(items, head, longest_head); });
}
void CborWriter::open_array() {
  append([&](unsigned char* head) { return cbor_encode_indef_array_start(head, longest_head); });
}
void CborWriter::close_array() {
  append([&](unsigned char* head) { return cbor_encode_break(head, longest_head); });
}

CborItem CborReader::next() {
  static const cbor_callbacks callbacks = callbacks_of_items();
  if (items_left_ == 0) throw Malformed{"it has too many parts"};
  --items_left_;
  CborItem read;
  const auto result = cbor_stream_decode(reinterpret_cast<cbor_data>(frame_.data()) + at_, frame_.size() - at_, &callbacks, &read);
  if (result.status == CBOR_DECODER_NEDATA) throw Malformed{"it ends too soon"};
  if (result.status != CBOR_DECODER_FINISHED) throw Malformed{"its structure is broken"};
  at_ += result.read;
  return read;
}

}  // namespace hedgerow::wire
