// One encode and one decode a message. Of the codec alone; the type's number, first of a message's fields, is its place in
// the variant.
#pragma once

#include "wire/codec_fields.hpp"

namespace hedgerow::wire {

void put_message(CborWriter& w, const Hello& m);
void put_message(CborWriter& w, const SearchCall& m);
void put_message(CborWriter& w, const PartitionAnswer& m);
void put_message(CborWriter& w, const PartitionFailure& m);
void put_message(CborWriter& w, const Cancel& m);
void put_message(CborWriter& w, const FetchCall& m);
void put_message(CborWriter& w, const FetchAnswer& m);
void put_message(CborWriter& w, const CallFailure& m);
void put_message(CborWriter& w, const SnippetCall& m);
void put_message(CborWriter& w, const SnippetAnswer& m);
void put_message(CborWriter& w, const FacetCall& m);
void put_message(CborWriter& w, const FacetAnswer& m);
void put_message(CborWriter& w, const SpellCall& m);
void put_message(CborWriter& w, const SpellAnswer& m);
void put_message(CborWriter& w, const LookupCall& m);
void put_message(CborWriter& w, const LookupAnswer& m);
void put_message(CborWriter& w, const TieStarted& m);

Message hello_from(Fields& f, const CodecLimits& limits);
Message search_call_from(Fields& f, const CodecLimits& limits);
Message partition_answer_from(Fields& f, const CodecLimits& limits);
Message partition_failure_from(Fields& f, const CodecLimits& limits);
Message cancel_from(Fields& f, const CodecLimits& limits);
Message fetch_call_from(Fields& f, const CodecLimits& limits);
Message fetch_answer_from(Fields& f, const CodecLimits& limits);
Message call_failure_from(Fields& f, const CodecLimits& limits);
Message snippet_call_from(Fields& f, const CodecLimits& limits);
Message snippet_answer_from(Fields& f, const CodecLimits& limits);
Message facet_call_from(Fields& f, const CodecLimits& limits);
Message facet_answer_from(Fields& f, const CodecLimits& limits);
Message spell_call_from(Fields& f, const CodecLimits& limits);
Message spell_answer_from(Fields& f, const CodecLimits& limits);
Message lookup_call_from(Fields& f, const CodecLimits& limits);
Message lookup_answer_from(Fields& f, const CodecLimits& limits);
Message tie_started_from(Fields& f, const CodecLimits& limits);

}  // namespace hedgerow::wire
