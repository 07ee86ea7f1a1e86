// HdrHistogram's binary form, version 2, which its implementations in Java, C, Go, JavaScript, … read and write: counts
// of log-linear buckets, zeros run-length coded, numbers in few bytes, then zlib, then base64 ("HISTFAAAA…").
//
// Written from the format's definition in the Java implementation (org.HdrHistogram, version 2.1): big-endian
//   cookie 0x1c849313, length of the counts, normalizing offset, significant digits   32 bits each
//   lowest discernible value, highest trackable value                                 64 bits each
//   conversion ratio of a histogram of doubles (1 for whole numbers)                  64-bit float; JavaScript's: a whole number
//   the counts, each as ZigZag LEB128 of at most 9 bytes; a negative number is a run of so many zeros
// and compressed: cookie 0x1c849314, length, and the above as zlib's stream. A histogram of doubles has 16 bytes before
// its compressed whole numbers: cookie 0x0c72124f, digits, ratio. Our base/histogram has the same buckets, so that nothing is
// rounded on the way. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/histogram.hpp"

namespace hedgerow::lab::hdr {

// The significant decimal digits of a histogram of that precision: 4 bits 1, 7 bits 2, 10 bits 3, 14 bits 4. Others are a
// programmer's mistake.
int digits_of(const Histogram& histogram);

// Without zlib: for comparisons, since two zlibs may write the same bytes differently.
std::string encode(const Histogram& histogram);
// What stands in the last column of an interval log.
std::string encode_base64(const Histogram& histogram);

struct Decoded {
  int digits = 0;
  // Rising; in the histogram's unit, which no file tells. Of doubles, rounded to a whole number.
  std::vector<Histogram::Bucket> buckets;
};

// Never more than 64 MiB, however well they are packed. Errors: corrupt; unsupported for versions 0 and 1.
result<Decoded> decode(std::string_view bytes);
result<Decoded> decode_base64(std::string_view text);
// zlib's stream out of the compressed form, for comparisons. Errors as decode.
result<std::string> unpacked(std::string_view base64);

}  // namespace hedgerow::lab::hdr
