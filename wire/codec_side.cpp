// The messages of the optional subsystems and of single documents.
#include "wire/codec_messages.hpp"

namespace hedgerow::wire {

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
          m.service_time.count(),
          m.fault};
}
Message snippet_answer_from(Fields f, const CodecLimits& limits) {
  SnippetAnswer m;
  m.call = f.id<CallId>();
  m.snippets = f.texts(limits.most_documents, limits.longest_snippet);
  m.load = f.load();
  m.service_time = f.duration();
  m.fault = f.text();
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
          m.service_time.count(),
          m.fault};
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
  m.fault = f.text();
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
          m.service_time.count(),
          m.fault};
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
  m.fault = f.text();
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
          m.load.running,
          m.fault};
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
  m.fault = f.text();
  f.end();
  return m;
}

}  // namespace hedgerow::wire
