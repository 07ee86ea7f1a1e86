// MediaWiki's mark-up as plain text. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hedgerow {

// What a wiki calls two of its namespaces, beside their English names, which hold in every wiki. In lower case as far
// as ASCII goes.
struct WikiNames {
  std::vector<std::string> file;      // "datei"
  std::vector<std::string> category;  // "kategorie"
};

struct ReducedWikitext {
  std::string text;
  // Each once, in the order of the page; the first 1000.
  std::vector<std::string> categories;
};

// Templates (nested as they may be), references, comments, files, formulas and links to other languages are dropped; of
// links the text is kept, of tables the cells, of lists and headings the lines; what <nowiki> and <pre> hold is taken
// as it stands. Linear in the text, however its marks nest or fail to close. wikitext is valid UTF-8.
ReducedWikitext reduce_wikitext(std::string_view wikitext, const WikiNames& names = {});

}  // namespace hedgerow
