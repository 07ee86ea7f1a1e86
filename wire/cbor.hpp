// Items of CBOR (RFC 8949), written and read one after another, by libcbor's streaming half. Of the codec alone.
//
// Nothing is allocated for an item: texts and bytes that are read lie in the frame, and what is written goes to the end of
// it. Nothing recurs, so nesting costs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hedgerow::wire {

// What is thrown inside decoding and caught at its border.
struct Malformed {
  const char* what;
};

class CborWriter {
 public:
  // Everything is written behind what `out` holds already.
  explicit CborWriter(std::string& out) : out_(out) {}

  void put(std::uint64_t value);
  void put(std::int64_t value);
  void put(double value);
  void put(bool value);
  void text(std::string_view text);
  void bytes(std::string_view bytes);
  void tag(std::uint64_t tag);
  void array(std::size_t items);
  void open_array();  // of indefinite length, until close_array
  void close_array();

 private:
  template <class Encode>
  void append(Encode&& encode);
  std::string& out_;
};

struct CborItem {
  enum class Kind : std::uint8_t {
    number,      // an unsigned one
    negative,    // -1 - number
    real,
    truth,
    text,
    bytes,
    tag,         // of the item behind it
    array,       // of `number` items
    open_array,  // until the end
    end,
    other,       // what no message holds: maps, null, strings in pieces
  };
  Kind kind = Kind::other;
  std::uint64_t number = 0;
  double real = 0;
  bool truth = false;
  std::string_view bytes;  // of text too
};

class CborReader {
 public:
  CborReader(std::string_view frame, std::size_t most_items) : frame_(frame), items_left_(most_items) {}

  // Throws Malformed where the frame ends, is broken, or holds more items than it may.
  CborItem next();
  bool at_end() const { return at_ == frame_.size(); }

 private:
  std::string_view frame_;
  std::size_t at_ = 0;
  std::size_t items_left_;
};

}  // namespace hedgerow::wire
