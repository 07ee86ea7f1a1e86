// The messages of the optional subsystems and of single documents.
#include "wire/codec_messages.hpp"

namespace hedgerow::wire {

void put_message(CborWriter& w, const SnippetCall& m) {
  put_all(w, 8U, m.call, m.time, m.generation, m.plan, Addresses{m.documents}, m.service_class);
}
Message snippet_call_from(Fields& f, const CodecLimits& limits) {
  SnippetCall m;
  m.call = f.id<CallId>();
  m.time = f.time_limit();
  m.generation = f.id<Generation>();
  m.plan = f.plan(limits);
  m.documents = f.addresses(limits);
  m.service_class = f.choice(ServiceClass::batch);
  f.end();
  return m;
}

void put_message(CborWriter& w, const SnippetAnswer& m) {
  put_all(w, 9U, m.call, Texts{m.snippets}, m.load, m.service_time, m.fault);
}
Message snippet_answer_from(Fields& f, const CodecLimits& limits) {
  SnippetAnswer m;
  m.call = f.id<CallId>();
  m.snippets = f.texts(limits.most_documents, limits.longest_snippet);
  m.load = f.load();
  m.service_time = f.duration();
  m.fault = f.text();
  f.end();
  return m;
}

void put_message(CborWriter& w, const FacetCall& m) {
  put_all(w, 10U, m.call, m.time, m.generation, m.plan, m.partitions, Texts{m.facets}, m.most_values, m.service_class);
}
Message facet_call_from(Fields& f, const CodecLimits& limits) {
  FacetCall m;
  m.call = f.id<CallId>();
  m.time = f.time_limit();
  m.generation = f.id<Generation>();
  m.plan = f.plan(limits);
  m.partitions = f.partitions(limits.most_partitions);
  m.facets = f.texts(limits.most_facets, limits.longest_word);
  m.most_values = f.number<std::uint32_t>();
  m.service_class = f.choice(ServiceClass::batch);
  f.end();
  return m;
}

void put_message(CborWriter& w, const FacetAnswer& m) {
  const List<FacetValueCounts> facets{m.facets, [](CborWriter& writer, const FacetValueCounts& facet) {
                                        put_all(writer, Texts{facet.values}, facet.counts, facet.cut);
                                      }};
  put_all(w, 11U, m.call, m.partition, facets, m.load, m.service_time, m.fault);
}
Message facet_answer_from(Fields& f, const CodecLimits& limits) {
  FacetAnswer m;
  m.call = f.id<CallId>();
  m.partition = f.id<PartitionId>();
  for (Fields facets = f.array(limits.most_facets); facets.more();) {
    Fields inside = facets.array(4);
    FacetValueCounts counts;
    counts.values = inside.texts(limits.most_facet_values, limits.longest_facet_value);
    counts.counts = inside.row<std::uint64_t>(limits.most_facet_values);
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

void put_message(CborWriter& w, const SpellCall& m) {
  put_all(w, 12U, m.call, m.time, m.generation, Texts{m.words});
}
Message spell_call_from(Fields& f, const CodecLimits& limits) {
  SpellCall m;
  m.call = f.id<CallId>();
  m.time = f.time_limit();
  m.generation = f.id<Generation>();
  m.words = f.texts(limits.most_words, limits.longest_word);
  f.end();
  return m;
}

void put_message(CborWriter& w, const SpellAnswer& m) {
  put_all(w, 13U, m.call, Texts{m.suggestions}, m.document_frequencies, m.load, m.service_time, m.fault);
}
Message spell_answer_from(Fields& f, const CodecLimits& limits) {
  SpellAnswer m;
  m.call = f.id<CallId>();
  m.suggestions = f.texts(limits.most_words, limits.longest_word);
  m.document_frequencies = f.row<std::uint32_t>(limits.most_words);
  if (m.suggestions.size() != m.document_frequencies.size()) {
    throw Malformed{"suggestions and document frequencies differ in number"};
  }
  m.load = f.load();
  m.service_time = f.duration();
  m.fault = f.text();
  f.end();
  return m;
}

void put_message(CborWriter& w, const LookupCall& m) {
  put_all(w, 14U, m.call, m.time, m.generation, m.partition, m.id, m.most_terms);
}
Message lookup_call_from(Fields& f, const CodecLimits& limits) {
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

void put_message(CborWriter& w, const LookupAnswer& m) {
  put_all(w, 15U, m.call, m.found, m.document, m.shown.id, m.shown.title, m.shown.url, m.text, m.facets_json, Texts{m.terms},
          m.counts, m.load, m.fault);
}
Message lookup_answer_from(Fields& f, const CodecLimits& limits) {
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
  m.counts = f.row<std::uint32_t>(limits.most_terms);
  if (m.terms.size() != m.counts.size()) throw Malformed{"terms and counts differ in number"};
  m.load = f.load();
  m.fault = f.text();
  f.end();
  return m;
}

}  // namespace hedgerow::wire
