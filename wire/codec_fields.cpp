#include "wire/codec_fields.hpp"

#include <bit>

namespace hedgerow::wire {

static_assert(std::endian::native == std::endian::little, "typed arrays are copied as they lie in memory");

namespace {

using Kind = CborItem::Kind;

// A row of uint32, one by one.
template <class Each, class Value>
void put_row(CborWriter& w, const std::vector<Each>& all, Value&& value_of) {
  std::vector<std::uint32_t> values;
  values.reserve(all.size());
  for (const Each& each : all) values.push_back(value_of(each));
  put(w, values);
}

}  // namespace

void put(CborWriter& w, const std::vector<PartitionId>& partitions) {
  put_row(w, partitions, [](PartitionId partition) { return partition.value; });
}

void put(CborWriter& w, Texts field) {
  put_row(w, field.texts, [](const std::string& text) { return static_cast<std::uint32_t>(text.size()); });
  std::string joined;
  for (const auto& text : field.texts) joined += text;
  w.bytes(joined);
}

void put(CborWriter& w, Addresses field) {
  put_row(w, field.addresses, [](const DocumentAddress& address) { return address.partition.value; });
  put_row(w, field.addresses, [](const DocumentAddress& address) { return address.document.value; });
}

void put(CborWriter& w, const Load& load) {
  put(w, load.queued);
  put(w, load.running);
}

void put(CborWriter& w, const TimeLimit& time) {
  put(w, time.sent_at_ns);
  put(w, time.remaining);
}

void put(CborWriter& w, const PlannedQuery& plan) {
  const List<std::string> terms{plan.terms, [](CborWriter& writer, const std::string& term) { writer.bytes(term); }};
  put_all(w, Bytes{plan.query}, terms, plan.document_frequencies, plan.collection_documents, plan.average_length);
}

PlannedQuery Fields::plan(const CodecLimits& limits) {
  Fields f = array(std::numeric_limits<std::uint64_t>::max());
  PlannedQuery plan;
  plan.query = f.bytes();
  for (Fields terms = f.array(limits.most_terms); terms.more();) plan.terms.push_back(terms.bytes());
  plan.document_frequencies = f.row<std::uint32_t>(limits.most_terms);
  if (plan.document_frequencies.size() != plan.terms.size()) {
    throw Malformed{"terms and document frequencies differ in number"};
  }
  plan.collection_documents = f.number<std::uint64_t>();
  plan.average_length = f.real();
  f.end();
  return plan;
}

std::int64_t Fields::signed_number() {
  const CborItem item = next();
  if (item.kind != Kind::number && item.kind != Kind::negative) throw Malformed{"a field is not a whole number"};
  if (item.number > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) throw Malformed{"a number is too large for its field"};
  const auto value = static_cast<std::int64_t>(item.number);
  return item.kind == Kind::negative ? -1 - value : value;
}

double Fields::real() {
  const CborItem item = next();
  if (item.kind != Kind::real) throw Malformed{"a field is not a real number"};
  return item.real;
}

bool Fields::truth() {
  const CborItem item = next();
  if (item.kind != Kind::truth) throw Malformed{"a field is not true or false"};
  return item.truth;
}

std::string Fields::text(std::size_t longest) {
  const CborItem item = next();
  if (item.kind != Kind::text) throw Malformed{"a field is not text"};
  if (item.bytes.size() > longest) throw Malformed{"a text is too long"};
  return std::string(item.bytes);
}

std::string Fields::bytes() {
  const CborItem item = next();
  if (item.kind != Kind::bytes) throw Malformed{"a field is not bytes"};
  return std::string(item.bytes);
}

Fields Fields::array(std::uint64_t most) {
  const CborItem item = next();
  if (item.kind != Kind::array || item.number > most) throw Malformed{"a field is not an array, or too long"};
  return {reader_, item.number};
}

std::string_view Fields::row_bytes(std::uint64_t tag, std::size_t width, std::size_t most) {
  const CborItem tagged = next();
  if (tagged.kind != Kind::tag) throw Malformed{"a row of numbers is not a typed array"};
  if (tagged.number != tag) throw Malformed{"a typed array has another type"};
  const CborItem item = reader_.next();  // a tag is no item of its own
  if (item.kind != Kind::bytes) throw Malformed{"a row of numbers is not a typed array"};
  if (item.bytes.size() % width != 0 || item.bytes.size() / width > most) throw Malformed{"a typed array's length is wrong"};
  return item.bytes;
}

std::vector<PartitionId> Fields::partitions(std::size_t most) {
  std::vector<PartitionId> out;
  const auto values = row<std::uint32_t>(most);
  out.reserve(values.size());
  for (const auto value : values) out.push_back(PartitionId{value});
  return out;
}

std::vector<std::string> Fields::texts(std::size_t most, std::size_t longest) {
  const auto lengths = row<std::uint32_t>(most);
  const CborItem joined = next();
  if (joined.kind != Kind::bytes) throw Malformed{"a row of texts has no bytes"};
  std::vector<std::string> out;
  out.reserve(lengths.size());
  std::string_view left = joined.bytes;
  for (const std::size_t length : lengths) {
    if (length > longest || length > left.size()) throw Malformed{"a text in a row is too long"};
    out.emplace_back(left.substr(0, length));
    left.remove_prefix(length);
  }
  if (!left.empty()) throw Malformed{"a row of texts has bytes left over"};
  return out;
}

std::vector<DocumentAddress> Fields::addresses(const CodecLimits& limits) {
  const auto partitions = row<std::uint32_t>(limits.most_documents);
  const auto documents = row<std::uint32_t>(limits.most_documents);
  if (partitions.size() != documents.size()) throw Malformed{"partitions and documents differ in number"};
  std::vector<DocumentAddress> addresses;
  addresses.reserve(partitions.size());
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    addresses.push_back({PartitionId{partitions[i]}, DocumentNumber{documents[i]}});
  }
  return addresses;
}

}  // namespace hedgerow::wire
