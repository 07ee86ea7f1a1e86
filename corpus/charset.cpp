#include "corpus/charset.hpp"

#include <iconv.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/utf8.hpp"

namespace hedgerow {

namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

// Labels beside the names themselves, as the Encoding standard has them; the list is closed, since some of the
// converters of a C library are not fit for hostile input.
struct Label {
  std::string_view label;
  const char* name;
};
constexpr Label labels[] = {
    {"iso-8859-1", "WINDOWS-1252"},   {"iso8859-1", "WINDOWS-1252"},     {"latin1", "WINDOWS-1252"},
    {"latin-1", "WINDOWS-1252"},      {"us-ascii", "WINDOWS-1252"},      {"ascii", "WINDOWS-1252"},
    {"windows-1252", "WINDOWS-1252"}, {"cp1252", "WINDOWS-1252"},        {"windows-1250", "WINDOWS-1250"},
    {"windows-1251", "WINDOWS-1251"}, {"windows-1253", "WINDOWS-1253"},  {"windows-1254", "WINDOWS-1254"},
    {"windows-1255", "WINDOWS-1255"}, {"windows-1256", "WINDOWS-1256"},  {"windows-1257", "WINDOWS-1257"},
    {"windows-1258", "WINDOWS-1258"}, {"iso-8859-2", "ISO-8859-2"},      {"latin2", "ISO-8859-2"},
    {"iso-8859-3", "ISO-8859-3"},     {"iso-8859-4", "ISO-8859-4"},      {"iso-8859-5", "ISO-8859-5"},
    {"iso-8859-6", "ISO-8859-6"},     {"iso-8859-7", "ISO-8859-7"},      {"iso-8859-8", "ISO-8859-8"},
    {"iso-8859-9", "WINDOWS-1254"},   {"iso-8859-10", "ISO-8859-10"},    {"iso-8859-13", "ISO-8859-13"},
    {"iso-8859-14", "ISO-8859-14"},   {"iso-8859-15", "ISO-8859-15"},    {"latin-9", "ISO-8859-15"},
    {"iso-8859-16", "ISO-8859-16"},   {"koi8-r", "KOI8-R"},              {"koi8-u", "KOI8-U"},
    {"ibm866", "IBM866"},             {"cp866", "IBM866"},               {"macintosh", "MACINTOSH"},
    {"gbk", "GBK"},                   {"gb2312", "GBK"},                 {"gb18030", "GB18030"},
    {"big5", "BIG5"},                 {"euc-jp", "EUC-JP"},              {"shift_jis", "SHIFT_JIS"},
    {"shift-jis", "SHIFT_JIS"},       {"sjis", "SHIFT_JIS"},             {"euc-kr", "EUC-KR"},
    {"ks_c_5601-1987", "EUC-KR"},     {"tis-620", "TIS-620"},            {"windows-874", "TIS-620"},
};

const char* converter_of(std::string_view label) {
  std::string lower(label);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  for (const Label& known : labels) {
    if (known.label == lower) return known.name;
  }
  return nullptr;
}

// Nothing where the system lacks the converter.
std::optional<DecodedText> convert(std::string_view bytes, const char* from, std::size_t unit) {
  const iconv_t converter = ::iconv_open("UTF-8", from);
  if (converter == reinterpret_cast<iconv_t>(-1)) return std::nullopt;
  DecodedText decoded;
  char buffer[16 * 1024];
  // iconv takes no const, and does not write there either.
  char* in = const_cast<char*>(bytes.data());
  std::size_t left = bytes.size();
  while (left > 0) {
    char* out = buffer;
    std::size_t room = sizeof buffer;
    const std::size_t status = ::iconv(converter, &in, &left, &out, &room);
    const int fault = errno;
    decoded.text.append(buffer, sizeof buffer - room);
    if (status != static_cast<std::size_t>(-1) || fault == E2BIG) continue;
    decoded.text += replacement;
    ++decoded.replaced;
    const std::size_t skipped = std::min(unit, left);
    in += skipped;
    left -= skipped;
  }
  ::iconv_close(converter);
  return decoded;
}

std::size_t characters_beyond_ascii(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0xc0; }));
}

}  // namespace

DecodedText decode_text(std::string bytes, std::string_view label) {
  for (const auto& [mark, name] : {std::pair{"\xff\xfe", "UTF-16LE"}, std::pair{"\xfe\xff", "UTF-16BE"}}) {
    if (!bytes.starts_with(mark)) continue;
    if (auto decoded = convert(std::string_view(bytes).substr(2), name, 2)) return std::move(*decoded);
  }
  if (bytes.starts_with("\xef\xbb\xbf")) {
    bytes.erase(0, 3);
  } else if (const char* const name = converter_of(label)) {
    if (auto decoded = convert(bytes, name, 1)) return std::move(*decoded);
  }
  if (is_valid_utf8(bytes)) return {std::move(bytes), 0};
  std::string repaired = bytes;
  const std::size_t replaced = repair_utf8(repaired);
  if (characters_beyond_ascii(repaired) <= 2 * replaced) {
    if (auto decoded = convert(bytes, "WINDOWS-1252", 1)) return std::move(*decoded);
  }
  return {std::move(repaired), replaced};
}

}  // namespace hedgerow
