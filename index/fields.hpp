// How the fields of a document become terms and values of the index: the one place that knows the prefixes and slots.
// Pure.
//
//   word            a word of title or text, in lower case; title words count title_weight times (see Manifest)
//   Zstem           its stem
//   Sword, ZSstem   a word of the title, and its stem: what title: looks for
//   Qid             the document with that external id
//   XNname          a name of the document as a whole: its id, and its title, in lower case
//   XFname:value    a facet value, in lower case
//
// A facet has two value slots: one holds its values as they were given (what facet counts read), the other the first
// value as a number, where it is a number or a date (what ranges read).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hedgerow::fields {

// The name of the field that is no facet. A facet of that name is counted and shown as any other, but "title:" in a
// query always means the title.
inline constexpr std::string_view title = "title";
inline constexpr std::string_view title_prefix = "S";
inline constexpr std::string_view id_prefix = "Q";
inline constexpr std::string_view name_prefix = "XN";
inline constexpr std::string_view facet_prefix = "XF";

// The term of a document's external id; an id that is too long for a term is hashed.
std::string id_term(std::string_view id);

// The term by which a word or stem of the text is found in titles: "ZSeditor" for "Zeditor". Nothing for terms of other
// kinds: of the title already, of an id, a name or a facet.
std::optional<std::string> title_term_of(std::string_view term);

// The term of a name, an id or a title as a whole: in lower case, blanks as one. Nothing for a blank one, and for one
// longer than longest_name_bytes, which nobody types.
std::optional<std::string> name_term(std::string_view name);
inline constexpr std::size_t longest_name_bytes = 200;

// "XFname:", and the whole term. A colon in the name is written as the byte 1 (which no name holds), so that no two
// facets share a term. Nothing for a value that is too long for a term, as a few facet values of some 80 characters are
// that need more bytes in lower case: such a value is counted, but no filter finds it.
std::string facet_term_prefix(std::string_view name);
std::optional<std::string> facet_term(std::string_view name, std::string_view value);

// Lower case, by Unicode; ill-formed UTF-8 stays as it is.
std::string in_lower_case(std::string_view text);

// Whether text of this character has no spaces between words, so that it is indexed by characters and pairs of them:
// Chinese, Japanese, Korean; and what stands behind them in Unicode (symbols), which makes no words of letters either.
constexpr bool is_indexed_by_characters(unsigned character) {
  return (character >= 0x1100 && character <= 0x11ff) || character >= 0x2e80;
}

// Even for the values as given, odd for the number. Drawn from the name's hash, so that every worker of a build knows
// them: two names of one collection share a slot once in some 10^7 collections of ten facets; a build notices.
std::uint32_t values_slot(std::string_view name);
std::uint32_t number_slot(std::string_view name);

// What a list of hits shows of a document (see stored_document): a slot beyond all of the facets'.
inline constexpr std::uint32_t shown_slot = 0xffff'fffe;

// What the values slot holds: each value behind a byte with its length. Values are as Document promises; one of more
// than 255 bytes, or of none, is left out.
std::string encode_values(const std::vector<std::string>& values);

// The first value of what is left of an encoded slot, taken off its front; empty once nothing is left, or where the
// bytes are not what encode_values makes. The view points into what the caller holds.
inline std::string_view take_value(std::string_view& encoded) {
  if (encoded.empty()) return {};
  const std::size_t length = static_cast<unsigned char>(encoded.front());
  if (length >= encoded.size()) {
    encoded = {};
    return {};
  }
  const std::string_view value = encoded.substr(1, length);
  encoded.remove_prefix(1 + length);
  return value;
}

// All of them.
std::vector<std::string> decode_values(std::string_view encoded);

// What a facet's value is, for ranges.
enum class ValueKind { category, number, date };

// "category", "number", "date"; and back.
std::string_view name_of(ValueKind kind);
std::optional<ValueKind> kind_of(std::string_view name);

struct RangeValue {
  ValueKind kind = ValueKind::number;
  double first = 0;  // the number; of a date its first second since 1970, UTC
  double last = 0;   // the same number; of a date its last second: "2024-02" ends with February
};

// "42", "-1.5", "2024-02-29", "2024-02", "2024-02-29T12:00:00Z" (the Z may be left out: all times are UTC).
// Nothing for what is neither, and for dates that do not exist.
std::optional<RangeValue> parse_range_value(std::string_view text);

}  // namespace hedgerow::fields
