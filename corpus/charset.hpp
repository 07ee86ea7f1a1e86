// Text in whatever encoding as UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hedgerow {

struct DecodedText {
  std::string text;          // valid UTF-8, without a byte order mark
  std::size_t replaced = 0;  // ill-formed parts that became U+FFFD
};

// A byte order mark (UTF-8, UTF-16) counts most, then the label that the text itself declares ("iso-8859-1", in any
// case; as on the web that means Windows-1252), where it is one of the web's encodings; then UTF-8. Bytes that are not
// UTF-8 are taken for Windows-1252, unless more of the characters beyond ASCII are well-formed UTF-8 than not: then
// those that are not are replaced.
DecodedText decode_text(std::string bytes, std::string_view label = {});

}  // namespace hedgerow
