#include "wire/codec.hpp"

#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

namespace hedgerow::wire {

std::string_view to_string(FailureReason reason) {
  switch (reason) {
    case FailureReason::refused: return "refused";
    case FailureReason::expired: return "expired";
    case FailureReason::cancelled: return "cancelled";
    case FailureReason::not_served: return "not_served";
    case FailureReason::bad_query: return "bad_query";
    case FailureReason::failed: return "failed";
  }
  return "failed";
}

namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "typed arrays are copied as they lie in memory");

constexpr char indefinite_array = '\x9f';
constexpr char break_code = '\xff';

// RFC 8746 tags.
constexpr std::uint64_t tag_uint32_little_endian = 70;
constexpr std::uint64_t tag_uint64_little_endian = 71;
constexpr std::uint64_t tag_float64_little_endian = 86;

// What is thrown inside decoding and caught at its border.
struct Malformed {
  const char* what;
};

template <class T>
constexpr std::uint64_t tag_of() {
  if (std::is_same_v<T, double>) return tag_float64_little_endian;
  return std::is_same_v<T, std::uint64_t> ? tag_uint64_little_endian : tag_uint32_little_endian;
}

template <class T>
json typed_array(const std::vector<T>& values) {
  std::vector<std::uint8_t> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return json::binary(std::move(bytes), tag_of<T>());
}

template <class T>
std::vector<T> typed_array_from(const json& value, std::size_t most) {
  if (!value.is_binary()) throw Malformed{"a row of numbers is not a typed array"};
  const auto& bytes = value.get_binary();
  if (!bytes.has_subtype() || bytes.subtype() != tag_of<T>()) throw Malformed{"a typed array has another type"};
  if (bytes.size() % sizeof(T) != 0 || bytes.size() / sizeof(T) > most) throw Malformed{"a typed array's length is wrong"};
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

json bytes_of(const std::string& text) { return json::binary(std::vector<std::uint8_t>(text.begin(), text.end())); }

// Texts that come in rows: their lengths, and all their bytes in one piece. Two items however many they are, since each
// item costs whoever reads it much memory.
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

// Reads a message's fields one after another; every mismatch is a Malformed.
class Fields {
 public:
  // first: where the fields begin; in a message behind its type's number.
  explicit Fields(const json& array, std::size_t first = 1) : array_(array), at_(first) {}

  const json& next() {
    if (at_ >= array_.size()) throw Malformed{"a message has too few fields"};
    return array_[at_++];
  }
  void end() const {
    if (at_ != array_.size()) throw Malformed{"a message has too many fields"};
  }
  template <class Unsigned>
  Unsigned number() {
    const json& value = next();
    if (!value.is_number_unsigned()) throw Malformed{"a field is not an unsigned number"};
    const auto wide = value.get<std::uint64_t>();
    if (wide > std::numeric_limits<Unsigned>::max()) throw Malformed{"a number is too large for its field"};
    return static_cast<Unsigned>(wide);
  }
  std::int64_t signed_number() {
    const json& value = next();
    if (!value.is_number_integer()) throw Malformed{"a field is not a whole number"};
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
      throw Malformed{"a number is too large for its field"};
    }
    return value.get<std::int64_t>();
  }
  double real() {
    const json& value = next();
    if (!value.is_number_float()) throw Malformed{"a field is not a real number"};
    return value.get<double>();
  }
  bool truth() {
    const json& value = next();
    if (!value.is_boolean()) throw Malformed{"a field is not true or false"};
    return value.get<bool>();
  }
  std::string text(std::size_t longest = std::numeric_limits<std::size_t>::max()) {
    const json& value = next();
    if (!value.is_string()) throw Malformed{"a field is not text"};
    if (value.get_ref<const std::string&>().size() > longest) throw Malformed{"a text is too long"};
    return value.get<std::string>();
  }
  // Two fields: see lengths_of.
  std::vector<std::string> texts(std::size_t most, std::size_t longest) {
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
  std::string bytes() {
    const json& value = next();
    if (!value.is_binary()) throw Malformed{"a field is not bytes"};
    const auto& binary = value.get_binary();
    return std::string(binary.begin(), binary.end());
  }
  const json& array(std::size_t most) {
    const json& value = next();
    if (!value.is_array() || value.size() > most) throw Malformed{"a field is not an array, or too long"};
    return value;
  }
  template <class Enum>
  Enum choice(Enum last) {
    const auto value = number<std::uint8_t>();
    if (value > static_cast<std::uint8_t>(last)) throw Malformed{"a field holds an unknown choice"};
    return static_cast<Enum>(value);
  }
  Duration duration() { return Duration{signed_number()}; }
  template <class AnyId>
  AnyId id() {
    return AnyId{number<typename AnyId::representation>()};
  }
  Load load() {
    const auto queued = number<std::uint32_t>();
    return {queued, number<std::uint32_t>()};
  }
  TimeLimit time_limit() {
    const auto sent_at_ns = signed_number();
    return {sent_at_ns, duration()};
  }
  std::vector<PartitionId> partitions(std::size_t most) {
    std::vector<PartitionId> out;
    for (const auto value : typed_array_from<std::uint32_t>(next(), most)) out.push_back(PartitionId{value});
    return out;
  }

 private:
  const json& array_;
  std::size_t at_;
};

json partitions_of(const std::vector<PartitionId>& partitions) {
  std::vector<std::uint32_t> values;
  values.reserve(partitions.size());
  for (const auto partition : partitions) values.push_back(partition.value);
  return typed_array(values);
}

// A query plan is one field of its message.
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

// Addresses of documents are two fields: two rows of numbers.
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

// One encode and one decode a message; the type's number is its place in the variant.

json fields_of(const Hello& m) {
  return {0, m.version, m.name, m.sent_at_ns, m.collection, m.generation.value, partitions_of(m.partitions),
          m.spelling};
}
Message hello_from(Fields f, const CodecLimits& limits) {
  Hello m;
  m.version = f.number<std::uint32_t>();
  // Behind the version everything may differ in another version; who asks for the version gets it all the same.
  if (m.version != protocol_version) return m;
  m.name = f.text();
  m.sent_at_ns = f.signed_number();
  m.collection = f.text();
  m.generation = f.id<Generation>();
  m.partitions = f.partitions(limits.most_partitions);
  m.spelling = f.truth();
  f.end();
  return m;
}

json fields_of(const SearchCall& m) {
  return {1,
          m.call.value,
          m.time.sent_at_ns,
          m.time.remaining.count(),
          m.generation.value,
          plan_of(m.plan),
          partitions_of(m.partitions),
          m.k,
          m.score_threshold,
          static_cast<std::uint8_t>(m.service_class),
          static_cast<std::uint8_t>(m.kind)};
}
Message search_call_from(Fields f, const CodecLimits& limits) {
  SearchCall m;
  m.call = f.id<CallId>();
  m.time = f.time_limit();
  m.generation = f.id<Generation>();
  m.plan = plan_from(f.next(), limits);
  m.partitions = f.partitions(limits.most_partitions);
  m.k = f.number<std::uint32_t>();
  m.score_threshold = f.real();
  m.service_class = f.choice(ServiceClass::batch);
  m.kind = f.choice(AttemptKind::probe);
  f.end();
  return m;
}

json fields_of(const PartitionAnswer& m) {
  return {2,
          m.call.value,
          m.partition.value,
          typed_array(m.documents),
          typed_array(m.scores),
          m.matches,
          m.matches_exact,
          m.queue_time.count(),
          m.service_time.count(),
          m.load.queued,
          m.load.running,
          m.fault};
}
Message partition_answer_from(Fields f, const CodecLimits& limits) {
  PartitionAnswer m;
  m.call = f.id<CallId>();
  m.partition = f.id<PartitionId>();
  m.documents = typed_array_from<std::uint32_t>(f.next(), limits.most_documents);
  m.scores = typed_array_from<double>(f.next(), limits.most_documents);
  if (m.documents.size() != m.scores.size()) throw Malformed{"documents and scores differ in number"};
  m.matches = f.number<std::uint64_t>();
  m.matches_exact = f.truth();
  m.queue_time = f.duration();
  m.service_time = f.duration();
  m.load = f.load();
  m.fault = f.text();
  f.end();
  return m;
}

json fields_of(const PartitionFailure& m) {
  return {3,
          m.call.value,
          m.partition.value,
          static_cast<std::uint8_t>(m.reason),
          m.detail,
          m.queue_time.count(),
          m.load.queued,
          m.load.running,
          m.fault};
}
Message partition_failure_from(Fields f, const CodecLimits&) {
  PartitionFailure m;
  m.call = f.id<CallId>();
  m.partition = f.id<PartitionId>();
  m.reason = f.choice(FailureReason::failed);
  m.detail = f.text();
  m.queue_time = f.duration();
  m.load = f.load();
  m.fault = f.text();
  f.end();
  return m;
}

json fields_of(const Cancel& m) { return {4, m.call.value, partitions_of(m.partitions)}; }
Message cancel_from(Fields f, const CodecLimits& limits) {
  Cancel m;
  m.call = f.id<CallId>();
  m.partitions = f.partitions(limits.most_partitions);
  f.end();
  return m;
}

json fields_of(const FetchCall& m) {
  return {5,
          m.call.value,
          m.time.sent_at_ns,
          m.time.remaining.count(),
          m.generation.value,
          partitions_of(m.documents),
          documents_of(m.documents)};
}
Message fetch_call_from(Fields f, const CodecLimits& limits) {
  FetchCall m;
  m.call = f.id<CallId>();
  m.time = f.time_limit();
  m.generation = f.id<Generation>();
  m.documents = addresses_from(f, limits);
  f.end();
  return m;
}

json fields_of(const FetchAnswer& m) {
  json documents = json::array();
  for (const auto& document : m.documents) documents.push_back({document.id, document.title, document.url});
  return {6, m.call.value, std::move(documents), m.load.queued, m.load.running};
}
Message fetch_answer_from(Fields f, const CodecLimits& limits) {
  FetchAnswer m;
  m.call = f.id<CallId>();
  for (const json& document : f.array(limits.most_documents)) {
    if (!document.is_array() || document.size() != 3 || !document[0].is_string() || !document[1].is_string() ||
        !document[2].is_string()) {
      throw Malformed{"a fetched document is not three texts"};
    }
    m.documents.push_back(
        {document[0].get<std::string>(), document[1].get<std::string>(), document[2].get<std::string>()});
  }
  m.load = f.load();
  f.end();
  return m;
}

json fields_of(const CallFailure& m) {
  return {7, m.call.value, static_cast<std::uint8_t>(m.reason), m.detail};
}
Message call_failure_from(Fields f, const CodecLimits&) {
  CallFailure m;
  m.call = f.id<CallId>();
  m.reason = f.choice(FailureReason::failed);
  m.detail = f.text();
  f.end();
  return m;
}

json fields_of(const SnippetCall& m) {
  return {8,
          m.call.value,
          m.time.sent_at_ns,
          m.time.remaining.count(),
          m.generation.value,
          plan_of(m.plan),
          partitions_of(m.documents),
          documents_of(m.documents),
          static_cast<std::uint8_t>(m.service_class)};
}
Message snippet_call_from(Fields f, const CodecLimits& limits) {
  SnippetCall m;
  m.call = f.id<CallId>();
  m.time = f.time_limit();
  m.generation = f.id<Generation>();
  m.plan = plan_from(f.next(), limits);
  m.documents = addresses_from(f, limits);
  m.service_class = f.choice(ServiceClass::batch);
  f.end();
  return m;
}

json fields_of(const SnippetAnswer& m) {
  return {9,
          m.call.value,
          lengths_of(m.snippets),
          joined(m.snippets),
          m.load.queued,
          m.load.running,
          m.service_time.count()};
}
Message snippet_answer_from(Fields f, const CodecLimits& limits) {
  SnippetAnswer m;
  m.call = f.id<CallId>();
  m.snippets = f.texts(limits.most_documents, limits.longest_snippet);
  m.load = f.load();
  m.service_time = f.duration();
  f.end();
  return m;
}

json fields_of(const FacetCall& m) {
  return {10,
          m.call.value,
          m.time.sent_at_ns,
          m.time.remaining.count(),
          m.generation.value,
          plan_of(m.plan),
          partitions_of(m.partitions),
          lengths_of(m.facets),
          joined(m.facets),
          m.most_values,
          static_cast<std::uint8_t>(m.service_class)};
}
Message facet_call_from(Fields f, const CodecLimits& limits) {
  FacetCall m;
  m.call = f.id<CallId>();
  m.time = f.time_limit();
  m.generation = f.id<Generation>();
  m.plan = plan_from(f.next(), limits);
  m.partitions = f.partitions(limits.most_partitions);
  m.facets = f.texts(limits.most_facets, limits.longest_word);
  m.most_values = f.number<std::uint32_t>();
  m.service_class = f.choice(ServiceClass::batch);
  f.end();
  return m;
}

json fields_of(const FacetAnswer& m) {
  json facets = json::array();
  for (const auto& facet : m.facets) {
    facets.push_back({lengths_of(facet.values), joined(facet.values), typed_array(facet.counts), facet.cut});
  }
  return {11,
          m.call.value,
          m.partition.value,
          std::move(facets),
          m.load.queued,
          m.load.running,
          m.service_time.count()};
}
Message facet_answer_from(Fields f, const CodecLimits& limits) {
  FacetAnswer m;
  m.call = f.id<CallId>();
  m.partition = f.id<PartitionId>();
  for (const json& facet : f.array(limits.most_facets)) {
    if (!facet.is_array()) throw Malformed{"a facet's counts are not an array"};
    Fields inside(facet, 0);
    FacetValueCounts counts;
    counts.values = inside.texts(limits.most_facet_values, limits.longest_facet_value);
    counts.counts = typed_array_from<std::uint64_t>(inside.next(), limits.most_facet_values);
    if (counts.values.size() != counts.counts.size()) throw Malformed{"values and counts differ in number"};
    for (std::size_t i = 1; i < counts.values.size(); ++i) {
      if (!(counts.values[i - 1] < counts.values[i])) throw Malformed{"facet values are not in rising order"};
    }
    counts.cut = inside.truth();
    inside.end();
    m.facets.push_back(std::move(counts));
  }
  m.load = f.load();
  m.service_time = f.duration();
  f.end();
  return m;
}

json fields_of(const SpellCall& m) {
  return {12,
          m.call.value,
          m.time.sent_at_ns,
          m.time.remaining.count(),
          m.generation.value,
          lengths_of(m.words),
          joined(m.words)};
}
Message spell_call_from(Fields f, const CodecLimits& limits) {
  SpellCall m;
  m.call = f.id<CallId>();
  m.time = f.time_limit();
  m.generation = f.id<Generation>();
  m.words = f.texts(limits.most_words, limits.longest_word);
  f.end();
  return m;
}

json fields_of(const SpellAnswer& m) {
  return {13,
          m.call.value,
          lengths_of(m.suggestions),
          joined(m.suggestions),
          typed_array(m.document_frequencies),
          m.load.queued,
          m.load.running,
          m.service_time.count()};
}
Message spell_answer_from(Fields f, const CodecLimits& limits) {
  SpellAnswer m;
  m.call = f.id<CallId>();
  m.suggestions = f.texts(limits.most_words, limits.longest_word);
  m.document_frequencies = typed_array_from<std::uint32_t>(f.next(), limits.most_words);
  if (m.suggestions.size() != m.document_frequencies.size()) {
    throw Malformed{"suggestions and document frequencies differ in number"};
  }
  m.load = f.load();
  m.service_time = f.duration();
  f.end();
  return m;
}

json fields_of(const LookupCall& m) {
  return {14,
          m.call.value,
          m.time.sent_at_ns,
          m.time.remaining.count(),
          m.generation.value,
          m.partition.value,
          m.id,
          m.most_terms};
}
Message lookup_call_from(Fields f, const CodecLimits& limits) {
  LookupCall m;
  m.call = f.id<CallId>();
  m.time = f.time_limit();
  m.generation = f.id<Generation>();
  m.partition = f.id<PartitionId>();
  m.id = f.text(limits.longest_document_id);
  m.most_terms = f.number<std::uint32_t>();
  f.end();
  return m;
}

json fields_of(const LookupAnswer& m) {
  return {15,
          m.call.value,
          m.found,
          m.document.value,
          m.shown.id,
          m.shown.title,
          m.shown.url,
          m.text,
          m.facets_json,
          lengths_of(m.terms),
          joined(m.terms),
          typed_array(m.counts),
          m.load.queued,
          m.load.running};
}
Message lookup_answer_from(Fields f, const CodecLimits& limits) {
  LookupAnswer m;
  m.call = f.id<CallId>();
  m.found = f.truth();
  m.document = f.id<DocumentNumber>();
  m.shown.id = f.text(limits.longest_document_id);
  m.shown.title = f.text(limits.longest_document_part);
  m.shown.url = f.text(limits.longest_document_part);
  m.text = f.text(limits.longest_document_part);
  m.facets_json = f.text(limits.longest_document_part);
  m.terms = f.texts(limits.most_terms, limits.longest_word);
  m.counts = typed_array_from<std::uint32_t>(f.next(), limits.most_terms);
  if (m.terms.size() != m.counts.size()) throw Malformed{"terms and counts differ in number"};
  m.load = f.load();
  f.end();
  return m;
}

using Decoder = Message (*)(Fields, const CodecLimits&);
constexpr Decoder decoders[] = {hello_from,        search_call_from,    partition_answer_from, partition_failure_from,
                                cancel_from,       fetch_call_from,     fetch_answer_from,     call_failure_from,
                                snippet_call_from, snippet_answer_from, facet_call_from,       facet_answer_from,
                                spell_call_from,   spell_answer_from,   lookup_call_from,      lookup_answer_from};
static_assert(std::size(decoders) == std::variant_size_v<Message>);

// The library reads nested containers by recursion, and makes a large object of every byte that is an item: hostile
// nesting would end the process, and hostile numbers of items would fill its memory. So the frame's skeleton is walked
// first, without recursion: true when every container is closed within the bounds on depth and number.
bool structure_is_bounded(std::string_view frame, std::size_t deepest, std::size_t most_items) {
  constexpr std::uint64_t until_break = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::uint64_t> open;  // items still to come, for each open container
  std::size_t at = 0, items = 0;
  do {
    if (at >= frame.size() || ++items > most_items) return false;
    const auto initial = static_cast<unsigned char>(frame[at++]);
    const unsigned major = initial >> 5, additional = initial & 31;
    if (initial == 0xff) {
      if (open.empty() || open.back() != until_break) return false;
      open.pop_back();
    } else {
      std::uint64_t argument = additional;
      if (additional >= 24 && additional <= 27) {
        const std::size_t width = std::size_t{1} << (additional - 24);
        if (frame.size() - at < width) return false;
        argument = 0;
        for (std::size_t i = 0; i < width; ++i) argument = argument << 8 | static_cast<unsigned char>(frame[at++]);
      } else if (additional == 31 ? major != 4 : additional > 27) {
        return false;  // only arrays come in indefinite length
      }
      if (major == 2 || major == 3) {
        if (argument > frame.size() - at) return false;
        at += argument;
      } else if (major == 4 && (additional == 31 || argument > 0)) {
        if (open.size() == deepest) return false;
        open.push_back(additional == 31 ? until_break : argument);
        continue;  // the array itself counts when it closes
      } else if (major == 5) {
        return false;  // no message holds a map
      } else if (major == 6) {
        // A tag is no item of its own. Ours stand before bytes alone; the library follows tags before tags by recursion.
        if (at >= frame.size() || static_cast<unsigned char>(frame[at]) >> 5 != 2) return false;
        continue;
      }
    }
    while (!open.empty() && open.back() != until_break && --open.back() == 0) open.pop_back();
  } while (!open.empty());
  return at == frame.size();
}

Error malformed(const std::string& what) { return {Errc::protocol, "a frame that is no message: " + what}; }

}  // namespace

void FrameBuilder::append(const Message& message) {
  if (bytes_.empty()) bytes_ += indefinite_array;
  const json fields = std::visit([](const auto& m) { return fields_of(m); }, message);
  json::to_cbor(fields, nlohmann::detail::output_adapter<char>(bytes_));
}

std::string FrameBuilder::take() {
  bytes_ += break_code;
  return std::exchange(bytes_, {});
}

result<std::vector<Message>> decode_frame(std::string_view frame, const CodecLimits& limits) {
  if (!structure_is_bounded(frame, limits.deepest, limits.most_items)) {
    return malformed("its structure is broken, nested too deep, or has too many parts");
  }
  try {
    const json array = json::from_cbor(frame, true, true, json::cbor_tag_handler_t::store);
    if (!array.is_array()) return malformed("not an array");
    std::vector<Message> messages;
    messages.reserve(array.size());
    for (const json& fields : array) {
      if (!fields.is_array() || fields.empty() || !fields[0].is_number_unsigned()) return malformed("no type");
      const auto type = fields[0].get<std::uint64_t>();
      if (type >= std::size(decoders)) return malformed("unknown type " + std::to_string(type));
      messages.push_back(decoders[type](Fields(fields), limits));
    }
    return messages;
  } catch (const Malformed& problem) {
    return malformed(problem.what);
  } catch (const json::exception& problem) {
    return malformed(problem.what());
  }
}

}  // namespace hedgerow::wire
