#include "index/query_tree.hpp"

#include <limits>
#include <optional>

namespace hedgerow {

namespace {

class QueryReader {
 public:
  QueryReader(std::string_view bytes, const QueryBounds& bounds) : rest_(bytes), bounds_(bounds) {}

  result<QueryNode> read() {
    auto node = read_node(1);
    if (node && !rest_.empty()) return Error{Errc::protocol, "query: bytes are left over"};
    return node;
  }

 private:
  Error truncated() const { return {Errc::protocol, "query: ends too early"}; }

  // A number below 255 is one byte; from 255 on, 0xff and the rest in groups of 7 bits, the last one marked.
  std::optional<std::uint64_t> read_number() {
    if (rest_.empty()) return std::nullopt;
    const auto first = take_byte();
    if (first != 0xff) return first;
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift <= 28; shift += 7) {
      if (rest_.empty()) return std::nullopt;
      const auto byte = take_byte();
      number |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80u) != 0) {
        number += 255;
        if (number > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
        return number;
      }
    }
    return std::nullopt;
  }

  unsigned char take_byte() {
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }

  result<QueryNode> read_node(std::size_t depth) {
    if (depth > bounds_.deepest) {
      return Error{Errc::too_large, "query: nested deeper than " + std::to_string(bounds_.deepest)};
    }
    if (rest_.empty()) return truncated();
    const auto head = take_byte();
    if ((head & 0x80u) != 0) return read_branch(head, depth);
    if ((head & 0x40u) != 0) return read_term(head);
    if ((head & 0x20u) != 0) return read_range(head);
    if (head == 0x0d) return read_unscored(depth);
    if (head == 0x0b && bounds_.with_prefixes) return read_prefix();
    return Error{Errc::unsupported, "query: operator with code " + std::to_string(head)};
  }

  // 01ccLLLL: length in LLLL (0: 16 and a number follow), then the bytes; wqf and position by cc.
  result<QueryNode> read_term(unsigned char head) {
    if (const auto counted = count_term(); !counted) return counted.error();
    std::uint64_t length = head & 0x0fu;
    if (length == 0) {
      const auto more = read_number();
      if (!more) return truncated();
      length = *more + 16;
    }
    if (length > rest_.size()) return truncated();
    QueryNode node;
    node.term = rest_.substr(0, length);
    rest_.remove_prefix(length);
    const unsigned code = (head >> 4) & 3u;
    if (code == 0) return Error{Errc::protocol, "query: a term that counts for nothing"};
    if (code == 3) {
      const auto frequency = read_number();
      if (!frequency) return truncated();
      if (*frequency == 0) return Error{Errc::protocol, "query: a term that counts for nothing"};
      node.query_frequency = static_cast<std::uint32_t>(*frequency);
    }
    if (code >= 2) {
      const auto position = read_number();
      if (!position) return truncated();
      node.position = static_cast<std::uint32_t>(*position);
    }
    return node;
  }

  result<void> count_term() {
    if (++terms_ <= bounds_.most_terms) return {};
    return Error{Errc::too_large, "query: more than " + std::to_string(bounds_.most_terms) + " terms"};
  }

  // A length and so many bytes.
  std::optional<std::string> read_string() {
    const auto length = read_number();
    if (!length || *length > rest_.size()) return std::nullopt;
    std::string bytes(rest_.substr(0, *length));
    rest_.remove_prefix(*length);
    return bytes;
  }

  // 001tssss: slot in ssss (15: 15 more than the number that follows); t=1: only a lowest value follows, t=0: both.
  result<QueryNode> read_range(unsigned char head) {
    if (const auto counted = count_term(); !counted) return counted.error();
    QueryNode node;
    node.op = QueryOperator::range;
    node.slot = head & 0x0fu;
    if (node.slot == 15) {
      const auto more = read_number();
      if (!more) return truncated();
      if (*more > std::numeric_limits<std::uint32_t>::max() - 16) {
        return Error{Errc::protocol, "query: a range over no slot"};
      }
      node.slot += static_cast<std::uint32_t>(*more);
    }
    auto begin = read_string();
    if (!begin) return truncated();
    node.begin = std::move(*begin);
    if ((head & 0x10u) == 0) {
      auto end = read_string();
      if (!end) return truncated();
      node.end = std::move(*end);
    }
    if (node.begin.empty() && node.end.empty()) return Error{Errc::protocol, "query: a range without an end"};
    return node;
  }

  // A factor as Xapian writes doubles, 0 only: a byte with the exponent, and a mantissa of a 0.
  result<QueryNode> read_unscored(std::size_t depth) {
    if (rest_.size() < 2) return truncated();
    const auto exponent = take_byte();
    const auto mantissa = take_byte();
    const bool one_byte_of_mantissa = (exponent & 0x70u) == 0 && (exponent & 0x0fu) < 14;
    if (!one_byte_of_mantissa || mantissa != 0) {
      return Error{Errc::unsupported, "query: weights scaled by another factor than 0"};
    }
    auto child = read_node(depth + 1);
    if (!child) return child.error();
    return unscored(std::move(*child));
  }

  static QueryNode unscored(QueryNode child) {
    QueryNode node;
    node.op = QueryOperator::unscored;
    node.children.push_back(std::move(child));
    return node;
  }

  // How far it expands is ours to say, and so is how its words are put together.
  result<QueryNode> read_prefix() {
    if (const auto counted = count_term(); !counted) return counted.error();
    QueryNode node;
    node.op = QueryOperator::prefix;
    if (!read_number() || rest_.size() < 2) return truncated();
    rest_.remove_prefix(2);
    auto pattern = read_string();
    if (!pattern) return truncated();
    node.term = std::move(*pattern);
    return node;
  }

  // 1ccccnnn: operator cccc over nnn queries (0: 8 and a number follow); a window follows for near and phrase.
  result<QueryNode> read_branch(unsigned char head, std::size_t depth) {
    std::uint64_t count = head & 0x07u;
    if (count == 0) {
      const auto more = read_number();
      if (!more) return truncated();
      count = *more + 8;
    }
    QueryNode node;
    const bool is_filter = ((head >> 3) & 0x0fu) == 5;
    switch ((head >> 3) & 0x0fu) {
      case 0: node.op = QueryOperator::all_of; break;
      case 1: node.op = QueryOperator::any_of; break;
      case 2: node.op = QueryOperator::and_not; break;
      case 3: return Error{Errc::unsupported, "XOR is not offered; write (a OR b) NOT (a AND b)"};
      case 4: node.op = QueryOperator::and_maybe; break;
      case 5: node.op = QueryOperator::all_of; break;
      case 14: node.op = QueryOperator::near; break;
      case 15: node.op = QueryOperator::phrase; break;
      default: return Error{Errc::unsupported, "query: operator with code " + std::to_string(head)};
    }
    const bool positional = node.op == QueryOperator::near || node.op == QueryOperator::phrase;
    if (positional) {
      const auto window = read_number();
      if (!window) return truncated();
      node.window = static_cast<std::uint32_t>(*window);
    }
    if (count < 2) return Error{Errc::protocol, "query: an operator over a single query"};
    // Every query takes two bytes at least, so a count cannot make us reserve more than we were sent.
    if (count > rest_.size()) return truncated();
    if (positional && node.window < count) return Error{Errc::protocol, "query: a window smaller than its phrase"};
    node.children.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      auto child = read_node(depth + 1);
      if (!child) return child.error();
      if (positional && child->op != QueryOperator::term) {
        return Error{Errc::unsupported, "query: a phrase of more than words"};
      }
      const bool filters = is_filter && i > 0;
      node.children.push_back(filters ? unscored(std::move(*child)) : std::move(*child));
    }
    return node;
  }

  std::string_view rest_;
  const QueryBounds& bounds_;
  std::size_t terms_ = 0;
};

}  // namespace

result<QueryNode> read_query(std::string_view serialised, const QueryBounds& bounds) {
  if (serialised.size() > bounds.most_bytes) {
    return Error{Errc::too_large, "query: " + std::to_string(serialised.size()) + " bytes, at most " +
                                      std::to_string(bounds.most_bytes) + " are allowed"};
  }
  return QueryReader(serialised, bounds).read();
}

}  // namespace hedgerow
