#include <doctest/doctest.h>

#include <xapian.h>

#include <algorithm>

#include "base/random.hpp"
#include "index/query_tree.hpp"
#include "index/searcher.hpp"
#include "query_mixture.hpp"
#include "small_collection.hpp"
#include "temporary_directory.hpp"

namespace hedgerow::test {

namespace {

using Q = Xapian::Query;

Q rebuild(const QueryNode& node) {
  if (node.op == QueryOperator::term) return Q(node.term, node.query_frequency);
  std::vector<Q> children;
  for (const auto& child : node.children) children.push_back(rebuild(child));
  switch (node.op) {
    case QueryOperator::all_of: return Q(Q::OP_AND, children.begin(), children.end());
    case QueryOperator::any_of: return Q(Q::OP_OR, children.begin(), children.end());
    case QueryOperator::and_not: return Q(Q::OP_AND_NOT, children.begin(), children.end());
    case QueryOperator::and_maybe: return Q(Q::OP_AND_MAYBE, children.begin(), children.end());
    case QueryOperator::phrase: return Q(Q::OP_PHRASE, children.begin(), children.end(), node.window);
    case QueryOperator::near: return Q(Q::OP_NEAR, children.begin(), children.end(), node.window);
    case QueryOperator::unscored: return Q(Q::OP_SCALE_WEIGHT, children.front(), 0.0);
    case QueryOperator::range:
      if (node.end.empty()) return Q(Q::OP_VALUE_GE, node.slot, node.begin);
      if (node.begin.empty()) return Q(Q::OP_VALUE_LE, node.slot, node.end);
      return Q(Q::OP_VALUE_RANGE, node.slot, node.begin, node.end);
    case QueryOperator::prefix: return Q(Q::OP_WILDCARD, node.term);
    case QueryOperator::term: break;
  }
  return Q();
}

// The same with the positions of the words.
Q rebuild_with_positions(const QueryNode& node) {
  if (node.op == QueryOperator::term) return Q(node.term, node.query_frequency, node.position);
  if (node.op == QueryOperator::range) return rebuild(node);
  std::vector<Q> children;
  for (const auto& child : node.children) children.push_back(rebuild_with_positions(child));
  switch (node.op) {
    case QueryOperator::all_of: return Q(Q::OP_AND, children.begin(), children.end());
    case QueryOperator::any_of: return Q(Q::OP_OR, children.begin(), children.end());
    case QueryOperator::and_not: return Q(Q::OP_AND_NOT, children.begin(), children.end());
    case QueryOperator::and_maybe: return Q(Q::OP_AND_MAYBE, children.begin(), children.end());
    case QueryOperator::phrase: return Q(Q::OP_PHRASE, children.begin(), children.end(), node.window);
    case QueryOperator::near: return Q(Q::OP_NEAR, children.begin(), children.end(), node.window);
    case QueryOperator::unscored: return Q(Q::OP_SCALE_WEIGHT, children.front(), 0.0);
    default: return Q();
  }
}

// Xapian's description without the positions that the words had in the query.
std::string described(const Q& query) {
  std::string text = query.get_description();
  for (auto at = text.find('@'); at != std::string::npos; at = text.find('@', at)) {
    const auto end = text.find_first_not_of("0123456789", at + 1);
    text.erase(at, end - at);
  }
  return text;
}

Q parse(const std::string& text) {
  Xapian::QueryParser parser;
  parser.set_stemmer(Xapian::Stem("english"));
  parser.set_stemming_strategy(Xapian::QueryParser::STEM_SOME);
  return parser.parse_query(text, Xapian::QueryParser::FLAG_PHRASE | Xapian::QueryParser::FLAG_LOVEHATE |
                                      Xapian::QueryParser::FLAG_BOOLEAN);
}

QueryPlan plan_of(std::string serialised) {
  QueryPlan plan;
  plan.serialised_query = std::move(serialised);
  plan.collection_documents = 1000;
  plan.average_length = 20;
  plan.generation = Generation{1};
  return plan;
}

}  // namespace

TEST_CASE("Reading a serialised query gives the query that Xapian wrote") {
  const auto documents = small_collection(300, 41);
  QueryMixture mixture(material_of(documents, 42), 43);
  std::vector<Q> queries;
  for (int i = 0; i < 520; ++i) queries.push_back(parse(mixture.next()));
  // Lengths on both sides of each change of encoding.
  for (const std::size_t length : {1u, 15u, 16u, 17u, 245u, 270u, 271u, 400u}) queries.emplace_back(std::string(length, 'x'), 3, 7);
  for (const Xapian::termcount frequency : {1u, 254u, 255u, 256u, 100'000u}) queries.emplace_back("word", frequency, frequency);
  for (const std::size_t count : {2u, 7u, 8u, 9u, 300u}) {
    std::vector<Q> words;
    for (std::size_t i = 0; i < count; ++i) words.emplace_back("w" + std::to_string(i));
    for (const auto op : {Q::OP_AND, Q::OP_OR, Q::OP_AND_NOT, Q::OP_AND_MAYBE}) {
      queries.emplace_back(op, words.begin(), words.end());
    }
    queries.emplace_back(Q::OP_PHRASE, words.begin(), words.end(), count);
    queries.emplace_back(Q::OP_NEAR, words.begin(), words.end(), count + 300);
  }
  for (const Xapian::valueno slot : {0u, 14u, 15u, 16u, 269u, 270u, 0x7fff'ffffu, 0xffff'fffdu}) {
    for (const std::size_t length : {1u, 9u, 254u, 255u, 300u}) {
      const std::string value(length, 'v');
      queries.emplace_back(Q::OP_VALUE_GE, slot, value);
      queries.emplace_back(Q::OP_VALUE_LE, slot, value);
      queries.emplace_back(Q::OP_VALUE_RANGE, slot, "a", value);
      queries.emplace_back(Q::OP_VALUE_RANGE, slot, value, "w");
    }
  }
  queries.emplace_back(Q::OP_SCALE_WEIGHT, Q(Q::OP_OR, Q("a"), Q("b")), 0.0);
  queries.emplace_back(Q::OP_OR, Q(Q::OP_SCALE_WEIGHT, Q(Q::OP_VALUE_GE, 3, "x"), 0.0), Q("b"));
  for (const Q& query : queries) {
    CAPTURE(query.get_description());
    const auto tree = read_query(query.serialise());
    REQUIRE(tree.has_value());
    CHECK(described(rebuild(*tree)) == described(query));
    // And what we write is what Xapian writes.
    CHECK(write_query(*tree) == rebuild_with_positions(*tree).serialise());
    const auto again = read_query(write_query(*tree));
    REQUIRE(again.has_value());
    CHECK(described(rebuild(*again)) == described(query));
  }
}

TEST_CASE("A filter is read as parts that score nothing, and a prefix only where it may be") {
  const auto filter = read_query(Q(Q::OP_FILTER, Q("a"), Q(Q::OP_OR, Q("b"), Q("c"))).serialise());
  REQUIRE(filter.has_value());
  CHECK(described(rebuild(*filter)) == "Query((a AND 0 * (b OR c)))");

  const std::string with_prefix = Q(Q::OP_AND, Q("a"), Q(Q::OP_WILDCARD, "Swo")).serialise();
  CHECK(read_query(with_prefix).error().code == Errc::unsupported);
  const auto read = read_query(with_prefix, {.with_prefixes = true});
  REQUIRE(read.has_value());
  CHECK(described(rebuild(*read)) == "Query((a AND WILDCARD SYNONYM Swo))");
}

TEST_CASE("Parts that match nothing are left out of what is written") {
  const QueryNode word{.term = "a", .children = {}};
  const QueryNode nothing{.op = QueryOperator::any_of, .term = {}, .children = {}};
  const auto of = [](QueryOperator op, std::vector<QueryNode> children) {
    return QueryNode{.op = op, .term = {}, .children = std::move(children)};
  };
  const std::string a = Q("a").serialise();
  CHECK(write_query(nothing).empty());
  CHECK(write_query(of(QueryOperator::unscored, {nothing})).empty());
  CHECK(write_query(of(QueryOperator::any_of, {word, nothing})) == a);
  CHECK(write_query(of(QueryOperator::any_of, {word})) == a);
  CHECK(write_query(of(QueryOperator::all_of, {word, nothing})).empty());
  CHECK(write_query(of(QueryOperator::and_not, {word, nothing})) == a);
  CHECK(write_query(of(QueryOperator::and_not, {nothing, word})).empty());
  CHECK(write_query(of(QueryOperator::and_maybe, {word, nothing})) == a);
  CHECK(write_query(of(QueryOperator::and_maybe, {nothing, word})).empty());
}

TEST_CASE("Operators that no plan holds are refused before Xapian sees them") {
  const Q word("word");
  const std::string refused[] = {
      Q(Q::OP_SYNONYM, Q("a"), Q("b")).serialise(),
      Q(Q::OP_MAX, Q("a"), Q("b")).serialise(),
      Q(Q::OP_XOR, Q("a"), Q("b")).serialise(),
      Q(Q::OP_WILDCARD, "wo").serialise(),
      Q(Q::OP_SCALE_WEIGHT, word, 2.0).serialise(),
      Q(Q::OP_OR, word, Q(Q::OP_WILDCARD, "wo")).serialise(),
      Q(Q::OP_SCALE_WEIGHT, word, 1e-300).serialise(),
      std::string("\x0d\x06", 2),          // a factor without its mantissa
      std::string("\x0d\x06\x00", 3),      // a factor of nothing
      std::string("\x0d\x06\x01\x51x", 5),  // a factor of 1
      std::string("\x37", 1),              // ranges without values, without an end, and over no slot
      std::string("\x37\x05x", 3),
      std::string("\x27\x00\x00", 3),
      std::string("\x37\x00", 2),
      std::string("\x3f\xff\x7f\x7f\x7f\x7f\x8f\x01x", 9),
      Q(Q::OP_OR, word, Q::MatchAll).serialise(),
      Q::MatchAll.serialise(),
      Q("word", 0).serialise(),
      std::string(1, '\x00'),
      std::string("\x82\x51", 2),
      word.serialise() + "x",
  };
  for (const auto& bytes : refused) {
    const auto prepared = PreparedQuery::prepare(plan_of(bytes));
    REQUIRE(!prepared);
    CHECK(prepared.error().code == Errc::protocol);
  }
}

TEST_CASE("Size, depth and the number of terms are bounded") {
  // An AND of two, whose second is an AND of two, and so on: 0x82 is AND over 2, 0x51 a term of 1 byte.
  const auto nested = [](int depth) {
    std::string bytes;
    for (int i = 1; i < depth; ++i) bytes += "\x82\x51z";
    return bytes + "\x51z";
  };
  CHECK(read_query(nested(256)).has_value());
  const auto deep = read_query(nested(257));
  REQUIRE(!deep);
  CHECK(deep.error().code == Errc::too_large);
  const auto deepest = read_query(nested(20'000));
  REQUIRE(!deepest);
  CHECK(deepest.error().code == Errc::too_large);

  const auto big = read_query(std::string((64 << 10) + 1, '\x82'));
  REQUIRE(!big);
  CHECK(big.error().code == Errc::too_large);

  std::vector<Q> words(1025, Q("w"));
  const auto many = read_query(Q(Q::OP_OR, words.begin(), words.end()).serialise());
  REQUIRE(!many);
  CHECK(many.error().code == Errc::too_large);
}

TEST_CASE("A plan must hold the document frequency of each of its terms, and possible numbers") {
  QueryPlan plan = plan_of(Q("word").serialise());
  CHECK(PreparedQuery::prepare(plan).error().code == Errc::protocol);
  plan.terms = {{"word", 1001}};
  CHECK(PreparedQuery::prepare(plan).error().code == Errc::protocol);
  plan.terms = {{"word", 1000}};
  CHECK(PreparedQuery::prepare(plan).has_value());
  plan.average_length = -1;
  CHECK(PreparedQuery::prepare(plan).error().code == Errc::protocol);
  plan.average_length = std::numeric_limits<double>::quiet_NaN();
  CHECK(PreparedQuery::prepare(plan).error().code == Errc::protocol);
  plan = plan_of("");
  CHECK(PreparedQuery::prepare(plan).has_value());
}

TEST_CASE("Damaged queries are refused or run, and never more than that") {
  const auto documents = small_collection(300, 51);
  const TemporaryDirectory directory;
  const Manifest manifest = build_small(documents, directory.path(), 1);
  auto searcher = PartitionSearcher::open(directory.path(), manifest, PartitionId{0});
  REQUIRE(searcher.has_value());
  QueryMixture mixture(material_of(documents, 52), 53);
  Random random(54);
  int ran = 0;
  int refused = 0;
  for (int i = 0; i < 4000; ++i) {
    Q query = parse(mixture.next());
    if (random.chance(0.3)) query = Q(Q::OP_FILTER, query, Q(Q::OP_VALUE_RANGE, 5, "\x20", "\xf0"));
    if (random.chance(0.2)) query = Q(Q::OP_OR, query, Q(Q::OP_SCALE_WEIGHT, Q(Q::OP_VALUE_GE, 20, "a"), 0.0));
    std::string bytes = query.serialise();
    for (std::uint64_t damage = 1 + random.below(4); damage > 0 && !bytes.empty(); --damage) {
      const std::size_t at = random.below(bytes.size());
      switch (random.below(5)) {
        case 0: bytes[at] = static_cast<char>(random.next()); break;
        case 1: bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8))); break;
        case 2: bytes.erase(at, 1 + random.below(4)); break;
        case 3: bytes.insert(at, 1 + random.below(3), static_cast<char>(random.next())); break;
        default: bytes.insert(at, bytes.substr(random.below(bytes.size()))); break;
      }
    }
    QueryPlan plan = plan_of(bytes);
    plan.collection_documents = 300;
    const auto tree = read_query(bytes);
    if (tree) {
      // Whatever its terms are, let it be planned.
      std::vector<const QueryNode*> nodes{&*tree};
      while (!nodes.empty()) {
        const QueryNode* node = nodes.back();
        nodes.pop_back();
        if (node->op == QueryOperator::term) plan.terms.push_back({node->term, 30});
        for (const auto& child : node->children) nodes.push_back(&child);
      }
    }
    const auto prepared = PreparedQuery::prepare(plan);
    if (!prepared) {
      ++refused;
      continue;
    }
    const auto found = searcher->search(*prepared, 10, 0, nullptr);
    REQUIRE_MESSAGE(found.has_value(), to_string(found.error()));
    ++ran;
  }
  CHECK(ran > 100);
  CHECK(refused > 100);
}

}  // namespace hedgerow::test
