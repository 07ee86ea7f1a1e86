#include "wire/codec.hpp"

#include <utility>

#include "wire/codec_messages.hpp"

namespace hedgerow::wire {

std::string_view to_string(FailureReason reason) {
  switch (reason) {
    case FailureReason::refused: return "refused";
    case FailureReason::expired: return "expired";
    case FailureReason::cancelled: return "cancelled";
    case FailureReason::superseded: return "superseded";
    case FailureReason::not_served: return "not_served";
    case FailureReason::bad_query: return "bad_query";
    case FailureReason::failed: return "failed";
  }
  return "failed";
}

namespace {

using Decoder = Message (*)(Fields&, const CodecLimits&);
constexpr Decoder decoders[] = {hello_from,        search_call_from,    partition_answer_from, partition_failure_from,
                                cancel_from,       fetch_call_from,     fetch_answer_from,     call_failure_from,
                                snippet_call_from, snippet_answer_from, facet_call_from,       facet_answer_from,
                                spell_call_from,   spell_answer_from,   lookup_call_from,      lookup_answer_from,
                                tie_started_from};
static_assert(std::size(decoders) == std::variant_size_v<Message>);

Error malformed(const std::string& what) { return {Errc::protocol, "a frame that is no message: " + what}; }

}  // namespace

void FrameBuilder::append(const Message& message) {
  CborWriter writer(bytes_);
  if (bytes_.empty()) writer.open_array();
  std::visit([&](const auto& m) { put_message(writer, m); }, message);
}

void FrameBuilder::append_garbage(std::string_view bytes) {
  if (bytes_.empty()) CborWriter(bytes_).open_array();
  bytes_ += bytes;
}

std::string FrameBuilder::take() {
  CborWriter(bytes_).close_array();
  return std::exchange(bytes_, {});
}

result<std::vector<Message>> decode_frame(std::string_view frame, const CodecLimits& limits) {
  using Kind = CborItem::Kind;
  try {
    CborReader reader(frame, limits.most_items);
    if (reader.next().kind != Kind::open_array) return malformed("not an array");
    std::vector<Message> messages;
    for (CborItem item = reader.next(); item.kind != Kind::end; item = reader.next()) {
      if (item.kind != Kind::array || item.number == 0) return malformed("no type");
      Fields fields(reader, item.number);
      const auto type = fields.number<std::uint64_t>();
      if (type >= std::size(decoders)) return malformed("unknown type " + std::to_string(type));
      messages.push_back(decoders[type](fields, limits));
      // What is behind the version of another one's greeting may be of any kind.
      const auto* greeting = std::get_if<Hello>(&messages.back());
      if (greeting && greeting->version != protocol_version) return messages;
    }
    if (!reader.at_end()) return malformed("bytes behind its end");
    return messages;
  } catch (const Malformed& problem) {
    return malformed(problem.what);
  }
}

}  // namespace hedgerow::wire
