// Messages to bytes and back: CBOR (RFC 8949), by libcbor. Only the codec's own files know it.
//
// A frame is one CBOR array of indefinite length, so that a writer can append messages while the frame before is on its
// way, and send them in one piece. A message is an array of fields in fixed order behind its type's number; numbers
// that come in rows are typed arrays (RFC 8746), little-endian; texts that come in rows are a typed array of lengths and
// their bytes in one piece.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "wire/messages.hpp"

namespace hedgerow::wire {

// Bounds on what a peer may send; a frame beyond them is a protocol error.
struct CodecLimits {
  std::size_t most_items = 262'144;  // of one frame: numbers, texts, arrays and all
  std::size_t most_partitions = 65'536;
  std::size_t most_documents = 65'536;
  std::size_t most_terms = 4'096;
  std::size_t most_words = 1'024;         // of one spelling call
  std::size_t most_facets = 256;          // of one facet call
  std::size_t most_facet_values = 65'536; // of one facet in one partition
  // In bytes.
  std::size_t longest_word = 1'024;  // words, facets' names, terms
  std::size_t longest_facet_value = 65'536;
  std::size_t longest_snippet = 65'536;
  std::size_t longest_document_id = 65'536;
  std::size_t longest_address = 512;  // of a leaf: a host's name has at most 253 bytes
  std::size_t longest_document_part = 8 << 20;  // a document's title, url, text, facets
};

class FrameBuilder {
 public:
  void append(const Message& message);
  // Spoils the frame with bytes that are no message, and begin with a break code: for injected faults.
  void append_garbage(std::string_view bytes);
  bool empty() const { return bytes_.empty(); }
  std::size_t size() const { return bytes_.size(); }
  // The finished frame; the builder is empty again.
  std::string take();

 private:
  std::string bytes_;
};

// Errors: protocol, for anything that a FrameBuilder would not have made; but of a greeting of another protocol version
// nothing is read beyond that version, nor of its frame.
result<std::vector<Message>> decode_frame(std::string_view frame, const CodecLimits& limits = {});

}  // namespace hedgerow::wire
