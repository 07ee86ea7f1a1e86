// The messages by which hits are found and shown.
#include "wire/codec_messages.hpp"

namespace hedgerow::wire {

namespace {

List<FetchedDocument> shown_documents(const std::vector<FetchedDocument>& documents) {
  return {documents, [](CborWriter& writer, const FetchedDocument& document) {
            put_all(writer, document.id, document.title, document.url);
          }};
}
std::vector<FetchedDocument> shown_documents_from(Fields& f, const CodecLimits& limits) {
  std::vector<FetchedDocument> read;
  for (Fields documents = f.array(limits.most_documents); documents.more();) {
    Fields document = documents.array(3);
    FetchedDocument& fetched = read.emplace_back();
    fetched.id = document.text();
    fetched.title = document.text();
    fetched.url = document.text();
    document.end();
  }
  return read;
}

}  // namespace

void put_message(CborWriter& w, const Hello& m) {
  put_all(w, 0U, m.version, m.name, m.sent_at_ns, m.collection, m.generation, m.partitions, m.spelling, m.twin);
}
Message hello_from(Fields& f, const CodecLimits& limits) {
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

void put_message(CborWriter& w, const SearchCall& m) {
  const List<Tie> ties{m.ties, [](CborWriter& writer, const Tie& tie) { put_all(writer, tie.partition, tie.tie, tie.twin_address); }};
  put_all(w, 1U, m.call, m.time, m.generation, m.plan, m.partitions, m.k, m.titles, m.score_threshold, m.service_class, m.kind, ties);
}
Message search_call_from(Fields& f, const CodecLimits& limits) {
  SearchCall m;
  m.call = f.id<CallId>();
  m.time = f.time_limit();
  m.generation = f.id<Generation>();
  m.plan = f.plan(limits);
  m.partitions = f.partitions(limits.most_partitions);
  m.k = f.number<std::uint32_t>();
  m.titles = f.number<std::uint32_t>();
  m.score_threshold = f.real();
  m.service_class = f.choice(ServiceClass::batch);
  m.kind = f.choice(AttemptKind::probe);
  for (Fields ties = f.array(limits.most_partitions); ties.more();) {
    Fields tie = ties.array(3);
    const auto partition = tie.id<PartitionId>();
    const auto number = tie.number<std::uint64_t>();
    m.ties.push_back({partition, number, tie.text(limits.longest_address)});
    tie.end();
  }
  f.end();
  return m;
}

void put_message(CborWriter& w, const PartitionAnswer& m) {
  put_all(w, 2U, m.call, m.partition, m.documents, m.scores, shown_documents(m.shown), m.matches, m.matches_exact, m.queue_time, m.service_time,
          m.load, m.fault);
}
Message partition_answer_from(Fields& f, const CodecLimits& limits) {
  PartitionAnswer m;
  m.call = f.id<CallId>();
  m.partition = f.id<PartitionId>();
  m.documents = f.row<std::uint32_t>(limits.most_documents);
  m.scores = f.row<double>(limits.most_documents);
  if (m.documents.size() != m.scores.size()) throw Malformed{"documents and scores differ in number"};
  m.shown = shown_documents_from(f, limits);
  m.matches = f.number<std::uint64_t>();
  m.matches_exact = f.truth();
  m.queue_time = f.duration();
  m.service_time = f.duration();
  m.load = f.load();
  m.fault = f.text();
  f.end();
  return m;
}

void put_message(CborWriter& w, const PartitionFailure& m) {
  put_all(w, 3U, m.call, m.partition, m.reason, m.detail, m.queue_time, m.started, m.load, m.fault);
}
Message partition_failure_from(Fields& f, const CodecLimits&) {
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

void put_message(CborWriter& w, const TieStarted& m) {
  put_all(w, 16U, m.tie, m.call, m.partition);
}
Message tie_started_from(Fields& f, const CodecLimits&) {
  TieStarted m;
  m.tie = f.number<std::uint64_t>();
  m.call = f.id<CallId>();
  m.partition = f.id<PartitionId>();
  f.end();
  return m;
}

void put_message(CborWriter& w, const Cancel& m) {
  put_all(w, 4U, m.call, m.partitions);
}
Message cancel_from(Fields& f, const CodecLimits& limits) {
  Cancel m;
  m.call = f.id<CallId>();
  m.partitions = f.partitions(limits.most_partitions);
  f.end();
  return m;
}

void put_message(CborWriter& w, const FetchCall& m) {
  put_all(w, 5U, m.call, m.time, m.generation, Addresses{m.documents}, m.service_class);
}
Message fetch_call_from(Fields& f, const CodecLimits& limits) {
  FetchCall m;
  m.call = f.id<CallId>();
  m.time = f.time_limit();
  m.generation = f.id<Generation>();
  m.documents = f.addresses(limits);
  m.service_class = f.choice(ServiceClass::batch);
  f.end();
  return m;
}

void put_message(CborWriter& w, const FetchAnswer& m) {
  put_all(w, 6U, m.call, shown_documents(m.documents), m.load, m.fault);
}
Message fetch_answer_from(Fields& f, const CodecLimits& limits) {
  FetchAnswer m;
  m.call = f.id<CallId>();
  m.documents = shown_documents_from(f, limits);
  m.load = f.load();
  m.fault = f.text();
  f.end();
  return m;
}

void put_message(CborWriter& w, const CallFailure& m) {
  put_all(w, 7U, m.call, m.reason, m.detail, m.fault);
}
Message call_failure_from(Fields& f, const CodecLimits&) {
  CallFailure m;
  m.call = f.id<CallId>();
  m.reason = f.choice(FailureReason::failed);
  m.detail = f.text();
  m.fault = f.text();
  f.end();
  return m;
}

}  // namespace hedgerow::wire
