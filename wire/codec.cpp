#include "wire/codec.hpp"

#include <limits>

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

constexpr char indefinite_array = '\x9f';
constexpr char break_code = '\xff';

using Decoder = Message (*)(Fields, const CodecLimits&);
constexpr Decoder decoders[] = {hello_from,        search_call_from,    partition_answer_from, partition_failure_from,
                                cancel_from,       fetch_call_from,     fetch_answer_from,     call_failure_from,
                                snippet_call_from, snippet_answer_from, facet_call_from,       facet_answer_from,
                                spell_call_from,   spell_answer_from,   lookup_call_from,      lookup_answer_from,
                                tie_started_from};
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

void FrameBuilder::append_garbage(std::string_view bytes) {
  if (bytes_.empty()) bytes_ += indefinite_array;
  bytes_ += bytes;
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
