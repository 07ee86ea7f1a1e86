#include "lab/hdr/encoding.hpp"

#include <openssl/evp.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>
#include <optional>

namespace hedgerow::lab::hdr {

namespace {

// A cookie's second last half byte is the word size, of which 1 stands for "as many bytes as needed".
constexpr std::uint32_t plain_cookie = 0x1c849313, compressed_cookie = 0x1c849314, compressed_doubles_cookie = 0x0c72124f;
constexpr std::uint64_t word_size_bits = 0xf0;
// Versions 0 and 1, plain and compressed.
constexpr std::uint32_t old_cookies[] = {0x1c849308, 0x1c849309, 0x1c849301, 0x1c849302};
constexpr std::size_t most_bytes = 64u << 20;

Error corrupt(const char* what) { return {Errc::corrupt, std::string("a histogram in HdrHistogram's form: ") + what}; }

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out.push_back(static_cast<char>((value >> shift) & 0xff));
}

void put_count(std::string& out, std::int64_t value) {
  auto rest = (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
  for (int byte = 0; byte < 8; ++byte, rest >>= 7) {
    if (rest < 0x80) {
      out.push_back(static_cast<char>(rest));
      return;
    }
    out.push_back(static_cast<char>(rest | 0x80));
  }
  out.push_back(static_cast<char>(rest));
}

// Takes big-endian numbers from the front; nullopt when too little is left.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  bool done() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  void keep(std::size_t bytes) { rest_ = rest_.substr(0, bytes); }

  std::optional<std::uint64_t> number(std::size_t bytes) {
    if (rest_.size() < bytes) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value = (value << 8) | static_cast<unsigned char>(rest_[i]);
    rest_.remove_prefix(bytes);
    return value;
  }

  std::optional<std::int64_t> count() {
    std::uint64_t value = 0;
    for (int byte = 0; byte < 9; ++byte) {
      const auto next = number(1);
      if (!next) return std::nullopt;
      const bool last = byte == 8;
      value |= (last ? *next : *next & 0x7f) << (7 * byte);
      if (last || *next < 0x80) break;
    }
    return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
  }

 private:
  std::string_view rest_;
};

result<std::string> inflated(std::string_view packed) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return Error{Errc::internal, "zlib does not start"};
  // zlib's interface takes what it only reads as not const.
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string out;
  int state = Z_OK;
  while (state == Z_OK && out.size() <= most_bytes) {
    char block[1 << 16];
    stream.next_out = reinterpret_cast<Bytef*>(block);
    stream.avail_out = sizeof block;
    state = inflate(&stream, Z_NO_FLUSH);
    out.append(block, sizeof block - stream.avail_out);
  }
  inflateEnd(&stream);
  if (out.size() > most_bytes) return Error{Errc::too_large, "a histogram in HdrHistogram's form: beyond 64 MiB"};
  if (state != Z_STREAM_END) return corrupt("its compressed part is damaged or cut off");
  return out;
}

result<std::string> from_base64(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0) return corrupt("no base64 of whole groups");
  if (text.size() > most_bytes) return Error{Errc::too_large, "a histogram in HdrHistogram's form: beyond 64 MiB"};
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  if (size < 0) return corrupt("no base64");
  // What stands for the padding is decoded as zeros.
  bytes.resize(static_cast<std::size_t>(size) - (text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0));
  return bytes;
}

// The part behind a compressed form's head, unpacked.
result<std::string> unpack(std::string_view bytes) {
  Reader reader(bytes);
  auto cookie = reader.number(4);
  if (cookie == compressed_doubles_cookie) {
    // Digits and ratio; what is wanted of them stands in the head of the whole numbers once more.
    if (!reader.number(4) || !reader.number(8)) return corrupt("cut off");
    cookie = reader.number(4);
  }
  if (!cookie) return corrupt("cut off");
  for (const auto old : old_cookies) {
    if ((*cookie & ~word_size_bits) == old) return Error{Errc::unsupported, "a histogram in HdrHistogram's form: of a version before 2"};
  }
  if (*cookie != compressed_cookie) return corrupt("it does not begin as one");
  const auto length = reader.number(4);
  if (!length || *length > reader.rest().size()) return corrupt("cut off");
  return inflated(reader.rest().substr(0, *length));
}

// How values fall into buckets, from what a head tells.
struct Shape {
  int unit_magnitude = 0;  // values below 2^that are not told apart
  int half_magnitude = 0;  // 2^that buckets for each further power of two

  // The values of the index-th bucket; nullopt beyond 63 bits.
  std::optional<Histogram::Bucket> bucket(std::uint64_t index) const {
    const std::uint64_t half = std::uint64_t{1} << half_magnitude;
    std::uint64_t power = index >> half_magnitude, place = (index & (half - 1)) + half;
    if (power == 0) {
      place -= half;
    } else {
      --power;
    }
    const std::uint64_t shift = power + static_cast<std::uint64_t>(unit_magnitude);
    if (shift + static_cast<std::uint64_t>(half_magnitude) + 1 > 63) return std::nullopt;
    const std::uint64_t lowest = place << shift;
    return Histogram::Bucket{lowest, lowest + ((std::uint64_t{1} << shift) - 1), 0};
  }
};

result<Decoded> decode_plain(std::string_view bytes) {
  Reader reader(bytes);
  const auto cookie = reader.number(4), length = reader.number(4), offset = reader.number(4), digits = reader.number(4);
  const auto lowest = reader.number(8), highest = reader.number(8), ratio_bits = reader.number(8);
  if (!ratio_bits) return corrupt("its head is cut off");
  if (*cookie != plain_cookie) return corrupt("it does not begin as one");
  if (*digits > 5 || *lowest < 1 || *lowest > *highest) return corrupt("its head makes no sense");
  // The JavaScript implementation writes the whole number 1 where the others have a float.
  const auto ratio = *ratio_bits == 1 ? 1.0 : std::bit_cast<double>(*ratio_bits);
  if (!(ratio > 0) || !std::isfinite(ratio)) return corrupt("its head makes no sense");
  if (*length > reader.rest().size()) return corrupt("its counts are cut off");
  reader.keep(*length);
  // Counts are written in the order of their values, whatever the offset is: it only says where a memory holds them.
  (void)offset;

  // So many buckets that two values of the first 2·10^digits are never in one.
  const auto apart = static_cast<std::uint64_t>(2 * std::pow(10, static_cast<double>(*digits)));
  Shape shape;
  shape.half_magnitude = std::max(1, static_cast<int>(std::bit_width(apart - 1))) - 1;
  shape.unit_magnitude = static_cast<int>(std::bit_width(*lowest)) - 1;

  Decoded decoded{static_cast<int>(*digits), {}};
  std::uint64_t index = 0, total = 0;
  while (!reader.done()) {
    const auto count = reader.count();
    if (!count) return corrupt("its counts are cut off");
    if (*count <= 0) {
      index += *count == 0 ? 1 : std::uint64_t{0} - static_cast<std::uint64_t>(*count);
      if (index > std::numeric_limits<std::uint32_t>::max()) return corrupt("a bucket beyond all values");
      continue;
    }
    auto bucket = shape.bucket(index++);
    if (!bucket) return corrupt("a bucket beyond all values");
    bucket->count = static_cast<std::uint64_t>(*count);
    if (total + bucket->count < total) return corrupt("its counts do not add up");
    total += bucket->count;
    if (ratio != 1) {
      const double first = static_cast<double>(bucket->lowest) * ratio, last = static_cast<double>(bucket->highest) * ratio;
      if (!(last < 9e18)) return corrupt("a bucket beyond all values");
      bucket->lowest = static_cast<std::uint64_t>(std::llround(first));
      bucket->highest = static_cast<std::uint64_t>(std::llround(last));
    }
    decoded.buckets.push_back(*bucket);
  }
  return decoded;
}

}  // namespace

int digits_of(const Histogram& histogram) {
  switch (histogram.precision_bits()) {
    case 4: return 1;
    case 7: return 2;
    case 10: return 3;
    case 14: return 4;
    default: break;
  }
  assert(!"a precision of whole decimal digits");
  return 3;
}

std::string encode(const Histogram& histogram) {
  std::string counts;
  const auto put_zeros = [&](std::uint64_t zeros) {
    if (zeros > 0) put_count(counts, zeros == 1 ? 0 : -static_cast<std::int64_t>(zeros));
  };
  std::uint64_t next = 0;
  for (const auto& bucket : histogram.buckets()) {
    const int shift = std::max(0, static_cast<int>(std::bit_width(bucket.lowest)) - 1 - histogram.precision_bits());
    const std::uint64_t index = (static_cast<std::uint64_t>(shift) << histogram.precision_bits()) + (bucket.lowest >> shift);
    put_zeros(index - next);
    put_count(counts, static_cast<std::int64_t>(bucket.count));
    next = index + 1;
  }
  // Of an empty histogram, its first bucket.
  if (next == 0) put_zeros(1);

  std::string out;
  put(out, plain_cookie, 4);
  put(out, counts.size(), 4);
  put(out, 0, 4);
  put(out, static_cast<std::uint64_t>(digits_of(histogram)), 4);
  put(out, 1, 8);
  put(out, histogram.highest(), 8);
  put(out, std::bit_cast<std::uint64_t>(1.0), 8);
  return out + counts;
}

std::string encode_base64(const Histogram& histogram) {
  const std::string plain = encode(histogram);
  std::string packed(compressBound(plain.size()), '\0');
  uLongf size = packed.size();
  [[maybe_unused]] const int state = compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                                               reinterpret_cast<const Bytef*>(plain.data()), plain.size(), Z_DEFAULT_COMPRESSION);
  assert(state == Z_OK);
  std::string bytes;
  put(bytes, compressed_cookie, 4);
  put(bytes, size, 4);
  bytes.append(packed, 0, size);
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

result<Decoded> decode(std::string_view bytes) {
  const auto plain = unpack(bytes);
  if (!plain) return plain.error();
  return decode_plain(*plain);
}

result<Decoded> decode_base64(std::string_view text) {
  const auto bytes = from_base64(text);
  if (!bytes) return bytes.error();
  return decode(*bytes);
}

result<std::string> unpacked(std::string_view base64) {
  const auto bytes = from_base64(base64);
  if (!bytes) return bytes.error();
  return unpack(*bytes);
}

}  // namespace hedgerow::lab::hdr
