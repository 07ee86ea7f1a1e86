// What kind of text a file is, by its name and its first bytes. Pure.
#pragma once

#include <string_view>

namespace hedgerow {

enum class TextKind { text, markdown, rst, html, binary };

// As the facet "type" has it: "markdown".
std::string_view to_string(TextKind kind);

// So many of a file's first bytes are enough to tell.
inline constexpr std::size_t telling_bytes = 8192;

// path without the ending of a compression, head unpacked. Binary is what holds NUL or many other control characters
// (UTF-16 with its mark is text), and PDF; HTML goes by its ending or by how it begins, the others by their endings.
TextKind kind_of(std::string_view path, std::string_view head);

// Whether a file begins as one of the compressions that ByteStream knows does. ("lzma" is left out: its beginning is no
// clear mark.)
bool is_packed(std::string_view head);

// "changelog" of "changelog.gz".
std::string_view without_packing_suffix(std::string_view path);

}  // namespace hedgerow
