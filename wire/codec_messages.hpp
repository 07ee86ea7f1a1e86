// One encode and one decode a message. Of the codec alone; the type's number, first of a message's fields, is its place in
// the variant.
#pragma once

#include "wire/codec_fields.hpp"

namespace hedgerow::wire {

json fields_of(const Hello& m);
json fields_of(const SearchCall& m);
json fields_of(const PartitionAnswer& m);
json fields_of(const PartitionFailure& m);
json fields_of(const Cancel& m);
json fields_of(const FetchCall& m);
json fields_of(const FetchAnswer& m);
json fields_of(const CallFailure& m);
json fields_of(const SnippetCall& m);
json fields_of(const SnippetAnswer& m);
json fields_of(const FacetCall& m);
json fields_of(const FacetAnswer& m);
json fields_of(const SpellCall& m);
json fields_of(const SpellAnswer& m);
json fields_of(const LookupCall& m);
json fields_of(const LookupAnswer& m);
json fields_of(const TieStarted& m);

Message hello_from(Fields f, const CodecLimits& limits);
Message search_call_from(Fields f, const CodecLimits& limits);
Message partition_answer_from(Fields f, const CodecLimits& limits);
Message partition_failure_from(Fields f, const CodecLimits& limits);
Message cancel_from(Fields f, const CodecLimits& limits);
Message fetch_call_from(Fields f, const CodecLimits& limits);
Message fetch_answer_from(Fields f, const CodecLimits& limits);
Message call_failure_from(Fields f, const CodecLimits& limits);
Message snippet_call_from(Fields f, const CodecLimits& limits);
Message snippet_answer_from(Fields f, const CodecLimits& limits);
Message facet_call_from(Fields f, const CodecLimits& limits);
Message facet_answer_from(Fields f, const CodecLimits& limits);
Message spell_call_from(Fields f, const CodecLimits& limits);
Message spell_answer_from(Fields f, const CodecLimits& limits);
Message lookup_call_from(Fields f, const CodecLimits& limits);
Message lookup_answer_from(Fields f, const CodecLimits& limits);
Message tie_started_from(Fields f, const CodecLimits& limits);

}  // namespace hedgerow::wire
