#include <xapian.h>

#include <cassert>

#include "index/query_tree.hpp"

namespace hedgerow {

namespace {

using Q = Xapian::Query;

Q engine_query(const QueryNode& node);

Q combined(Q::op op, const QueryNode& node) {
  std::vector<Q> children;
  children.reserve(node.children.size());
  for (const auto& child : node.children) children.push_back(engine_query(child));
  const bool positional = op == Q::OP_PHRASE || op == Q::OP_NEAR;
  return Q(op, children.begin(), children.end(), positional ? node.window : 0);
}

Q range(const QueryNode& node) {
  if (node.end.empty()) return Q(Q::OP_VALUE_GE, node.slot, node.begin);
  if (node.begin.empty()) return Q(Q::OP_VALUE_LE, node.slot, node.end);
  return Q(Q::OP_VALUE_RANGE, node.slot, node.begin, node.end);
}

Q engine_query(const QueryNode& node) {
  switch (node.op) {
    case QueryOperator::term: return Q(node.term, node.query_frequency, node.position);
    case QueryOperator::all_of: return combined(Q::OP_AND, node);
    case QueryOperator::any_of: return combined(Q::OP_OR, node);
    case QueryOperator::and_not: return combined(Q::OP_AND_NOT, node);
    case QueryOperator::and_maybe: return combined(Q::OP_AND_MAYBE, node);
    case QueryOperator::phrase: return combined(Q::OP_PHRASE, node);
    case QueryOperator::near: return combined(Q::OP_NEAR, node);
    case QueryOperator::unscored: return Q(Q::OP_SCALE_WEIGHT, engine_query(node.children.front()), 0.0);
    case QueryOperator::range: return range(node);
    case QueryOperator::prefix: break;
  }
  assert(!"a prefix in a plan");
  return Q();
}

}  // namespace

std::string write_query(const QueryNode& root) {
  const Q query = engine_query(root);
  return query.empty() ? std::string() : query.serialise();
}

}  // namespace hedgerow
