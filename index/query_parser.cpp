#include "index/query_parser.hpp"

#include <xapian.h>

#include <algorithm>
#include <cctype>

#include "index/facet_filter.hpp"
#include "index/statistics.hpp"

namespace hedgerow {

namespace {

constexpr unsigned parser_flags = Xapian::QueryParser::FLAG_PHRASE | Xapian::QueryParser::FLAG_LOVEHATE |
                                  Xapian::QueryParser::FLAG_BOOLEAN | Xapian::QueryParser::FLAG_WILDCARD |
                                  Xapian::QueryParser::FLAG_CJK_NGRAM;

// No word begins with it.
constexpr char filter_mark = '\1';

const Error nothing_to_search_for{
    Errc::invalid_argument,
    "nothing to search for: a query needs a word that is not excluded, beside those that are"};

// Turns the number of a filter into a term that is replaced afterwards: an exception, or a query that matches nothing,
// would not come through the parser well.
class FilterProcessor final : public Xapian::FieldProcessor {
 public:
  Xapian::Query operator()(const std::string& number) override {
    return Xapian::Query(std::string(1, filter_mark) + number);
  }
};

// Whether the text excludes something by "-word", "-\"phrase\"" or "-(…)", outside of quotes.
bool has_exclusion_mark(std::string_view text) {
  bool quoted = false;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (quoted || text[i] != '-') continue;
    const bool starts_word = i == 0 || std::string_view(" \t\r\n(").find(text[i - 1]) != std::string_view::npos;
    const auto next = static_cast<unsigned char>(text[i + 1]);
    if (starts_word && (next >= 0x80 || std::isalnum(next) != 0 || next == '"' || next == '(')) return true;
  }
  return false;
}

bool excludes_something(const QueryNode& node) {
  return node.op == QueryOperator::and_not ||
         std::any_of(node.children.begin(), node.children.end(), excludes_something);
}

result<std::string> parse(const QueryText& text, const CollectionStatistics& statistics) {
  Xapian::QueryParser parser;
  parser.set_database(statistics.database());
  parser.set_stemmer(Xapian::Stem(statistics.stemmer()));
  parser.set_stemming_strategy(Xapian::QueryParser::STEM_SOME);
  parser.set_default_op(Xapian::Query::OP_OR);
  parser.add_prefix(std::string(fields::title), std::string(fields::title_prefix));
  for (std::size_t i = 0; i < statistics.facets().size(); ++i) {
    parser.add_boolean_prefix(text.mark + std::to_string(i), (new FilterProcessor)->release());
  }
  try {
    const Xapian::Query query = parser.parse_query(text.text, parser_flags);
    if (query.empty()) return nothing_to_search_for;
    return query.serialise();
  } catch (const Xapian::QueryParserError& error) {
    const std::string& reason = error.get_msg();
    // The parser's own word for everything but an operator without its words.
    if (reason != "parse error") {
      // "Syntax: <expression> AND <expression>"
      std::string shown = reason.substr(reason.starts_with("Syntax: ") ? 8 : 0);
      for (std::size_t at = 0; (at = shown.find("<expression>", at)) != std::string::npos;) shown.replace(at, 12, "words");
      return Error{Errc::invalid_argument, "cannot be read as a query: an operator lacks its words; write '" + shown + "'"};
    }
    if (has_exclusion_mark(text.text)) return nothing_to_search_for;
    return Error{Errc::invalid_argument, "cannot be read as a query: an operator or a parenthesis is out of place"};
  }
}

// Puts the filters in the places of their marks.
result<void> place_filters(QueryNode& node, const QueryText& text, const CollectionStatistics& statistics) {
  if (node.op == QueryOperator::term && node.term.front() == filter_mark) {
    const FacetFilter& filter = text.filters.at(std::stoul(node.term.substr(1)));
    auto placed = filter_node(filter, statistics.facets().at(filter.facet), statistics);
    if (!placed) return placed.error();
    node = std::move(*placed);
    return {};
  }
  for (auto& child : node.children) {
    if (auto placed = place_filters(child, text, statistics); !placed) return placed;
  }
  return {};
}

}  // namespace

result<QueryNode> parse_query(const QueryText& text, const CollectionStatistics& statistics, std::size_t most_terms) {
  const auto serialised = parse(text, statistics);
  if (!serialised) return serialised.error();
  auto tree = read_query(*serialised, {.most_terms = most_terms, .with_prefixes = true});
  if (!tree) {
    // What the parser understands and we do not offer is the asker's to mend, like any other query.
    const bool too_large = tree.error().code == Errc::too_large;
    return Error{too_large ? Errc::too_large : Errc::invalid_argument, tree.error().context};
  }
  // Where nothing stands beside an excluded word, the parser drops the mark and looks for the word. Better say so.
  if (has_exclusion_mark(text.text) && !excludes_something(*tree)) return nothing_to_search_for;
  if (auto placed = place_filters(*tree, text, statistics); !placed) return placed.error();
  return std::move(*tree);
}

}  // namespace hedgerow
