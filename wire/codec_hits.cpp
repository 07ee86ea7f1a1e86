// The messages by which hits are found and shown.
#include "wire/codec_messages.hpp"

namespace hedgerow::wire {

json fields_of(const Hello& m) {
  return {0, m.version, m.name, m.sent_at_ns, m.collection, m.generation.value, partitions_of(m.partitions),
          m.spelling, m.twin};
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
  m.twin = f.truth();
  f.end();
  return m;
}

json fields_of(const SearchCall& m) {
  json ties = json::array();
  for (const auto& tie : m.ties) ties.push_back({tie.partition.value, tie.tie, tie.twin_address});
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
          static_cast<std::uint8_t>(m.kind),
          std::move(ties)};
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
  for (const json& tie : f.array(limits.most_partitions)) {
    if (!tie.is_array() || tie.size() != 3 || !tie[0].is_number_unsigned() || tie[0].get<std::uint64_t>() > UINT32_MAX ||
        !tie[1].is_number_unsigned() || !tie[2].is_string()) {
      throw Malformed{"a tie is not a partition, a number and an address"};
    }
    if (tie[2].get_ref<const std::string&>().size() > limits.longest_address) throw Malformed{"an address is too long"};
    m.ties.push_back({PartitionId{tie[0].get<std::uint32_t>()}, tie[1].get<std::uint64_t>(), tie[2].get<std::string>()});
  }
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
          m.started,
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
  m.started = f.truth();
  m.load = f.load();
  m.fault = f.text();
  f.end();
  return m;
}

json fields_of(const TieStarted& m) { return {16, m.tie, m.call.value, m.partition.value}; }
Message tie_started_from(Fields f, const CodecLimits&) {
  TieStarted m;
  m.tie = f.number<std::uint64_t>();
  m.call = f.id<CallId>();
  m.partition = f.id<PartitionId>();
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
          documents_of(m.documents),
          static_cast<std::uint8_t>(m.service_class)};
}
Message fetch_call_from(Fields f, const CodecLimits& limits) {
  FetchCall m;
  m.call = f.id<CallId>();
  m.time = f.time_limit();
  m.generation = f.id<Generation>();
  m.documents = addresses_from(f, limits);
  m.service_class = f.choice(ServiceClass::batch);
  f.end();
  return m;
}

json fields_of(const FetchAnswer& m) {
  json documents = json::array();
  for (const auto& document : m.documents) documents.push_back({document.id, document.title, document.url});
  return {6, m.call.value, std::move(documents), m.load.queued, m.load.running, m.fault};
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
  m.fault = f.text();
  f.end();
  return m;
}

json fields_of(const CallFailure& m) {
  return {7, m.call.value, static_cast<std::uint8_t>(m.reason), m.detail, m.fault};
}
Message call_failure_from(Fields f, const CodecLimits&) {
  CallFailure m;
  m.call = f.id<CallId>();
  m.reason = f.choice(FailureReason::failed);
  m.detail = f.text();
  m.fault = f.text();
  f.end();
  return m;
}

}  // namespace hedgerow::wire
