#include "wire/codec_fields.hpp"

#include <bit>

namespace hedgerow::wire {

static_assert(std::endian::native == std::endian::little, "typed arrays are copied as they lie in memory");

json bytes_of(const std::string& text) { return json::binary(std::vector<std::uint8_t>(text.begin(), text.end())); }

json lengths_of(const std::vector<std::string>& texts) {
  std::vector<std::uint32_t> lengths;
  lengths.reserve(texts.size());
  for (const auto& text : texts) lengths.push_back(static_cast<std::uint32_t>(text.size()));
  return typed_array(lengths);
}
json joined(const std::vector<std::string>& texts) {
  std::vector<std::uint8_t> bytes;
  for (const auto& text : texts) bytes.insert(bytes.end(), text.begin(), text.end());
  return json::binary(std::move(bytes));
}

std::vector<std::string> Fields::texts(std::size_t most, std::size_t longest) {
  const auto lengths = typed_array_from<std::uint32_t>(next(), most);
  const json& value = next();
  if (!value.is_binary() || value.get_binary().has_subtype()) throw Malformed{"a row of texts has no bytes"};
  const auto& bytes = value.get_binary();
  std::vector<std::string> out;
  out.reserve(lengths.size());
  std::size_t at = 0;
  for (const std::size_t length : lengths) {
    if (length > longest || length > bytes.size() - at) throw Malformed{"a text in a row is too long"};
    out.emplace_back(reinterpret_cast<const char*>(bytes.data()) + at, length);
    at += length;
  }
  if (at != bytes.size()) throw Malformed{"a row of texts has bytes left over"};
  return out;
}

json partitions_of(const std::vector<PartitionId>& partitions) {
  std::vector<std::uint32_t> values;
  values.reserve(partitions.size());
  for (const auto partition : partitions) values.push_back(partition.value);
  return typed_array(values);
}

json plan_of(const PlannedQuery& plan) {
  json terms = json::array();
  for (const auto& term : plan.terms) terms.push_back(bytes_of(term));
  return {bytes_of(plan.query), std::move(terms), typed_array(plan.document_frequencies), plan.collection_documents,
          plan.average_length};
}
PlannedQuery plan_from(const json& value, const CodecLimits& limits) {
  if (!value.is_array()) throw Malformed{"a query plan is not an array"};
  Fields f(value, 0);
  PlannedQuery plan;
  plan.query = f.bytes();
  for (const json& term : f.array(limits.most_terms)) {
    if (!term.is_binary()) throw Malformed{"a term is not bytes"};
    plan.terms.emplace_back(term.get_binary().begin(), term.get_binary().end());
  }
  plan.document_frequencies = typed_array_from<std::uint32_t>(f.next(), limits.most_terms);
  if (plan.document_frequencies.size() != plan.terms.size()) {
    throw Malformed{"terms and document frequencies differ in number"};
  }
  plan.collection_documents = f.number<std::uint64_t>();
  plan.average_length = f.real();
  f.end();
  return plan;
}

json partitions_of(const std::vector<DocumentAddress>& addresses) {
  std::vector<std::uint32_t> values;
  values.reserve(addresses.size());
  for (const auto& address : addresses) values.push_back(address.partition.value);
  return typed_array(values);
}
json documents_of(const std::vector<DocumentAddress>& addresses) {
  std::vector<std::uint32_t> values;
  values.reserve(addresses.size());
  for (const auto& address : addresses) values.push_back(address.document.value);
  return typed_array(values);
}
std::vector<DocumentAddress> addresses_from(Fields& f, const CodecLimits& limits) {
  const auto partitions = typed_array_from<std::uint32_t>(f.next(), limits.most_documents);
  const auto documents = typed_array_from<std::uint32_t>(f.next(), limits.most_documents);
  if (partitions.size() != documents.size()) throw Malformed{"partitions and documents differ in number"};
  std::vector<DocumentAddress> addresses;
  addresses.reserve(partitions.size());
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    addresses.push_back({PartitionId{partitions[i]}, DocumentNumber{documents[i]}});
  }
  return addresses;
}

}  // namespace hedgerow::wire
