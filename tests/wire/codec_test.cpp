#include "wire/codec.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/random.hpp"

using namespace hedgerow;
using namespace hedgerow::wire;

namespace {

template <class T>
constexpr T highest = std::numeric_limits<T>::max();
template <class T>
constexpr T lowest = std::numeric_limits<T>::lowest();

// Every field of every message, so that none is forgotten on the way.
bool same(const Load& a, const Load& b) { return a.queued == b.queued && a.running == b.running; }
bool same(const TimeLimit& a, const TimeLimit& b) { return a.sent_at_ns == b.sent_at_ns && a.remaining == b.remaining; }
bool same(const Hello& a, const Hello& b) {
  return a.version == b.version && a.name == b.name && a.sent_at_ns == b.sent_at_ns && a.collection == b.collection &&
         a.generation == b.generation && a.partitions == b.partitions && a.spelling == b.spelling && a.twin == b.twin;
}
bool same(const PlannedQuery& a, const PlannedQuery& b) {
  return a.query == b.query && a.terms == b.terms && a.document_frequencies == b.document_frequencies &&
         a.collection_documents == b.collection_documents && a.average_length == b.average_length;
}
bool same(const std::vector<DocumentAddress>& a, const std::vector<DocumentAddress>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const DocumentAddress& x, const DocumentAddress& y) {
    return x.partition == y.partition && x.document == y.document;
  });
}
bool same(const FetchedDocument& a, const FetchedDocument& b) {
  return a.id == b.id && a.title == b.title && a.url == b.url;
}
bool same(const std::vector<FetchedDocument>& a, const std::vector<FetchedDocument>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) { return same(x, y); });
}
bool same(const Tie& a, const Tie& b) {
  return a.partition == b.partition && a.tie == b.tie && a.twin_address == b.twin_address;
}
bool same(const SearchCall& a, const SearchCall& b) {
  return a.call == b.call && same(a.time, b.time) && a.generation == b.generation && same(a.plan, b.plan) &&
         a.partitions == b.partitions && a.k == b.k && a.titles == b.titles && a.score_threshold == b.score_threshold &&
         a.service_class == b.service_class && a.kind == b.kind &&
         std::equal(a.ties.begin(), a.ties.end(), b.ties.begin(), b.ties.end(),
                    [](const Tie& x, const Tie& y) { return same(x, y); });
}
bool same(const PartitionAnswer& a, const PartitionAnswer& b) {
  return a.call == b.call && a.partition == b.partition && a.documents == b.documents && a.scores == b.scores &&
         same(a.shown, b.shown) && a.matches == b.matches && a.matches_exact == b.matches_exact && a.queue_time == b.queue_time &&
         a.service_time == b.service_time && same(a.load, b.load) && a.fault == b.fault;
}
bool same(const PartitionFailure& a, const PartitionFailure& b) {
  return a.call == b.call && a.partition == b.partition && a.reason == b.reason && a.detail == b.detail &&
         a.queue_time == b.queue_time && a.started == b.started && same(a.load, b.load) && a.fault == b.fault;
}
bool same(const TieStarted& a, const TieStarted& b) {
  return a.tie == b.tie && a.call == b.call && a.partition == b.partition;
}
bool same(const Cancel& a, const Cancel& b) { return a.call == b.call && a.partitions == b.partitions; }
bool same(const FetchCall& a, const FetchCall& b) {
  return a.call == b.call && same(a.time, b.time) && a.generation == b.generation && same(a.documents, b.documents) &&
         a.service_class == b.service_class;
}
bool same(const FetchAnswer& a, const FetchAnswer& b) {
  return a.call == b.call && same(a.documents, b.documents) && same(a.load, b.load) && a.fault == b.fault;
}
bool same(const CallFailure& a, const CallFailure& b) {
  return a.call == b.call && a.reason == b.reason && a.detail == b.detail && a.fault == b.fault;
}
bool same(const SnippetCall& a, const SnippetCall& b) {
  return a.call == b.call && same(a.time, b.time) && a.generation == b.generation && same(a.plan, b.plan) &&
         same(a.documents, b.documents) && a.service_class == b.service_class;
}
bool same(const SnippetAnswer& a, const SnippetAnswer& b) {
  return a.call == b.call && a.snippets == b.snippets && same(a.load, b.load) && a.service_time == b.service_time &&
         a.fault == b.fault;
}
bool same(const FacetCall& a, const FacetCall& b) {
  return a.call == b.call && same(a.time, b.time) && a.generation == b.generation && same(a.plan, b.plan) &&
         a.partitions == b.partitions && a.facets == b.facets && a.most_values == b.most_values &&
         a.service_class == b.service_class;
}
bool same(const FacetAnswer& a, const FacetAnswer& b) {
  const auto same_counts = [](const FacetValueCounts& x, const FacetValueCounts& y) {
    return x.values == y.values && x.counts == y.counts && x.cut == y.cut;
  };
  return a.call == b.call && a.partition == b.partition && same(a.load, b.load) && a.service_time == b.service_time &&
         a.fault == b.fault && std::equal(a.facets.begin(), a.facets.end(), b.facets.begin(), b.facets.end(), same_counts);
}
bool same(const SpellCall& a, const SpellCall& b) {
  return a.call == b.call && same(a.time, b.time) && a.generation == b.generation && a.words == b.words;
}
bool same(const SpellAnswer& a, const SpellAnswer& b) {
  return a.call == b.call && a.suggestions == b.suggestions && a.document_frequencies == b.document_frequencies &&
         same(a.load, b.load) && a.service_time == b.service_time && a.fault == b.fault;
}
bool same(const LookupCall& a, const LookupCall& b) {
  return a.call == b.call && same(a.time, b.time) && a.generation == b.generation && a.partition == b.partition &&
         a.id == b.id && a.most_terms == b.most_terms;
}
bool same(const LookupAnswer& a, const LookupAnswer& b) {
  return a.call == b.call && a.found == b.found && a.document == b.document && same(a.shown, b.shown) && a.text == b.text &&
         a.facets_json == b.facets_json && a.terms == b.terms && a.counts == b.counts && same(a.load, b.load) &&
         a.fault == b.fault;
}
bool same(const Message& a, const Message& b) {
  if (a.index() != b.index()) return false;
  return std::visit([&](const auto& m) { return same(m, std::get<std::decay_t<decltype(m)>>(b)); }, a);
}

const CallId highest_call{highest<std::uint64_t>};
const PartitionId highest_partition{highest<std::uint32_t>};
const Generation highest_generation{highest<std::uint64_t>};
const std::string odd_bytes("\0\xff\x9f\xf6 \xc3\x28", 7);  // not UTF-8, and a break code

PlannedQuery extreme_plan() {
  return {odd_bytes,
          {"", odd_bytes, std::string(1000, 'x')},
          {0, highest<std::uint32_t>, 1},
          highest<std::uint64_t>,
          std::numeric_limits<double>::denorm_min()};
}

std::vector<Message> extreme_messages() {
  std::vector<Message> messages;
  messages.push_back(Hello{});
  messages.push_back(Hello{protocol_version, "leaf-0 ä", lowest<std::int64_t>, odd_bytes, highest_generation,
                           {PartitionId{0}, highest_partition, PartitionId{8}}, true, true});
  messages.push_back(SearchCall{});
  messages.push_back(SearchCall{highest_call,
                                {highest<std::int64_t>, Duration{lowest<std::int64_t>}},
                                highest_generation,
                                extreme_plan(),
                                {highest_partition},
                                highest<std::uint32_t>,
                                highest<std::uint32_t>,
                                lowest<double>,
                                ServiceClass::batch,
                                AttemptKind::probe,
                                {{highest_partition, highest<std::uint64_t>, odd_bytes}, {PartitionId{0}, 0, ""}}});
  messages.push_back(PartitionAnswer{});
  messages.push_back(PartitionAnswer{highest_call,
                                     highest_partition,
                                     {highest<std::uint32_t>, 0, 1},
                                     {highest<double>, -0.0, 0.1},
                                     {{odd_bytes, "", odd_bytes}, {}},
                                     highest<std::uint64_t>,
                                     true,
                                     Duration{highest<std::int64_t>},
                                     Duration{-1},
                                     {highest<std::uint32_t>, 7},
                                     odd_bytes});
  for (int reason = 0; reason <= static_cast<int>(FailureReason::failed); ++reason) {
    messages.push_back(PartitionFailure{highest_call, highest_partition, static_cast<FailureReason>(reason), odd_bytes,
                                        Duration{lowest<std::int64_t>}, true, {1, highest<std::uint32_t>}, "late"});
    messages.push_back(CallFailure{CallId{23}, static_cast<FailureReason>(reason), "why", odd_bytes});
  }
  messages.push_back(TieStarted{});
  messages.push_back(TieStarted{highest<std::uint64_t>, highest_call, highest_partition});
  messages.push_back(Cancel{});
  messages.push_back(Cancel{CallId{24}, {PartitionId{255}, PartitionId{256}}});
  messages.push_back(FetchCall{});
  messages.push_back(FetchCall{highest_call, {-1, Duration{1}}, highest_generation,
                               {{highest_partition, DocumentNumber{highest<std::uint32_t>}}, {PartitionId{0}, DocumentNumber{1}}},
                               ServiceClass::batch});
  messages.push_back(FetchAnswer{});
  messages.push_back(FetchAnswer{highest_call, {{"id", "title", "url"}, {"", odd_bytes, ""}}, {1, 2}, "late"});
  const TimeLimit time{lowest<std::int64_t>, Duration{highest<std::int64_t>}};
  const DocumentAddress address{highest_partition, DocumentNumber{highest<std::uint32_t>}};
  messages.push_back(SnippetCall{});
  messages.push_back(SnippetCall{highest_call, time, highest_generation, extreme_plan(), {address, {}}, ServiceClass::batch});
  messages.push_back(SnippetAnswer{});
  messages.push_back(SnippetAnswer{highest_call, {"", odd_bytes, "<b>x</b>", ""}, {3, 4}, Duration{-5}, "hold"});
  messages.push_back(FacetCall{});
  messages.push_back(FacetCall{highest_call, time, highest_generation, extreme_plan(), {highest_partition, PartitionId{1}},
                               {"section", odd_bytes, ""}, highest<std::uint32_t>, ServiceClass::batch});
  messages.push_back(FacetAnswer{});
  messages.push_back(FacetAnswer{highest_call, highest_partition,
                                 {{{}, {}, false},
                                  {{"", "a", "a\x01", "b"}, {0, 1, highest<std::uint64_t>, 2}, true},
                                  {{odd_bytes, odd_bytes + odd_bytes}, {5, 6}, false}},
                                 {5, 6}, Duration{highest<std::int64_t>}, odd_bytes});
  messages.push_back(SpellCall{});
  messages.push_back(SpellCall{highest_call, time, highest_generation, {odd_bytes, "", "wrod"}});
  messages.push_back(SpellAnswer{});
  messages.push_back(SpellAnswer{highest_call, {"", "word"}, {0, highest<std::uint32_t>}, {7, 8}, Duration{1}, "burn"});
  messages.push_back(LookupCall{});
  messages.push_back(LookupCall{highest_call, time, highest_generation, highest_partition, odd_bytes, highest<std::uint32_t>});
  messages.push_back(LookupAnswer{});
  messages.push_back(LookupAnswer{highest_call, true, DocumentNumber{highest<std::uint32_t>}, {"id", odd_bytes, "url"},
                                  "a text", "{}", {"Zgarden", odd_bytes}, {highest<std::uint32_t>, 0}, {9, 10}, "pause"});
  return messages;
}

std::string frame_of(const std::vector<Message>& messages) {
  FrameBuilder builder;
  for (const auto& message : messages) builder.append(message);
  return builder.take();
}

// From a buffer of exactly that size, so that a sanitizer sees a read beyond it. True when it decoded.
bool decodes_or_says_protocol(std::string_view bytes) {
  const std::vector<char> copy(bytes.begin(), bytes.end());
  const auto messages = decode_frame({copy.data(), copy.size()});
  if (messages.has_error()) CHECK(messages.error().code == Errc::protocol);
  return messages.has_value();
}

void refused(std::string_view bytes) {
  CAPTURE(bytes.size());
  CHECK(!decodes_or_says_protocol(bytes));
}

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text += static_cast<char>(value);
  return text;
}

}  // namespace

TEST_CASE("every message comes back as it was, at the ends of every field's range") {
  for (const auto& message : extreme_messages()) {
    CAPTURE(message.index());
    const auto decoded = decode_frame(frame_of({message}));
    REQUIRE_MESSAGE(decoded.has_value(), to_string(decoded.error()));
    REQUIRE(decoded->size() == 1);
    CHECK(same(decoded->front(), message));
  }
}

TEST_CASE("infinite and undefined real numbers come back as such") {
  for (const double value : {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()}) {
    SearchCall call;
    call.score_threshold = value;
    const auto decoded = decode_frame(frame_of({call}));
    REQUIRE(decoded.has_value());
    const double back = std::get<SearchCall>(decoded->front()).score_threshold;
    CHECK((back == value || (back != back && value != value)));
  }
}

TEST_CASE("a frame carries many messages in order, and the builder is empty after it") {
  const auto messages = extreme_messages();
  FrameBuilder builder;
  CHECK(builder.empty());
  for (const auto& message : messages) builder.append(message);
  CHECK(!builder.empty());
  const auto size = builder.size();
  const auto frame = builder.take();
  CHECK(frame.size() == size + 1);
  CHECK(builder.empty());
  const auto decoded = decode_frame(frame);
  REQUIRE(decoded.has_value());
  REQUIRE(decoded->size() == messages.size());
  for (std::size_t i = 0; i < messages.size(); ++i) CHECK(same((*decoded)[i], messages[i]));
}

TEST_CASE("a cancel on the wire is the bytes that RFC 8949 and RFC 8746 say") {
  // An array of indefinite length; in it an array of three: 4, 1, and tag 70 (uint32, little-endian) on 8 bytes.
  const auto expected = bytes({0x9f, 0x83, 0x04, 0x01, 0xd8, 70, 0x48, 2, 0, 0, 0, 0, 1, 0, 0, 0xff});
  CHECK(frame_of({Cancel{CallId{1}, {PartitionId{2}, PartitionId{256}}}}) == expected);
}

TEST_CASE("a greeting of another version is read as far as its version") {
  // 4,294,967,295 is the version; what stands behind it is of a kind that we do not know.
  const auto frame = bytes({0x9f, 0x83, 0x00, 0x1a, 0xff, 0xff, 0xff, 0xff, 0xf6, 0xff});
  const auto decoded = decode_frame(frame);
  REQUIRE(decoded.has_value());
  CHECK(std::get<Hello>(decoded->front()).version == 0xffffffff);
  // Nothing of its own behind it, but another message of such a peer.
  const auto bare = decode_frame(bytes({0x9f, 0x82, 0x00, 0x18, 0xc8, 0xa1, 0x01, 0x02, 0xff}));
  REQUIRE(bare.has_value());
  CHECK(bare->size() == 1);
  CHECK(std::get<Hello>(bare->front()).version == 200);
}

TEST_CASE("no beginning of a frame is a frame") {
  const auto frame = frame_of(extreme_messages());
  for (std::size_t size = 0; size < frame.size(); ++size) refused(std::string_view(frame).substr(0, size));
  refused(frame + '\0');
  refused(frame + frame);
}

TEST_CASE("a flipped bit gives other messages or a protocol error, and nothing else") {
  for (const auto& message : extreme_messages()) {
    auto frame = frame_of({message});
    for (std::size_t at = 0; at < frame.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        frame[at] = static_cast<char>(frame[at] ^ 1 << bit);
        decodes_or_says_protocol(frame);
        frame[at] = static_cast<char>(frame[at] ^ 1 << bit);
      }
    }
  }
}

TEST_CASE("frames with some bytes changed, cut out or put in, seeded, give messages or a protocol error") {
  const auto whole = frame_of(extreme_messages());
  Random random(1);
  for (int round = 0; round < 20'000; ++round) {
    auto frame = whole.substr(0, 1 + random.below(whole.size()));
    for (auto changes = 1 + random.below(4); changes > 0 && !frame.empty(); --changes) {
      const auto at = random.below(frame.size());
      switch (random.below(3)) {
        case 0: frame[at] = static_cast<char>(random.next()); break;
        case 1: frame.erase(at, 1 + random.below(8)); break;
        default: frame.insert(at, 1 + random.below(8), static_cast<char>(random.next())); break;
      }
    }
    decodes_or_says_protocol(frame);
  }
}

TEST_CASE("random bytes are no frame, or one of no consequence") {
  Random random(2);
  for (int round = 0; round < 20'000; ++round) {
    std::string frame(random.below(64), '\0');
    for (char& byte : frame) byte = static_cast<char>(random.next());
    if (!frame.empty() && random.chance(0.5)) frame[0] = '\x9f';
    decodes_or_says_protocol(frame);
  }
}

TEST_CASE("nesting as deep as a frame can hold is refused, and does not end the process") {
  constexpr std::size_t deep = 4'000'000;
  refused(std::string(deep, '\x9f'));
  refused(std::string(deep, '\x9f') + std::string(deep, '\xff'));
  refused(std::string(deep, '\x81') + '\0');
  refused('\x9f' + std::string(deep, '\x81') + "\x00\xff");
  // Tags in front of tags, short and long ones.
  refused(std::string(deep, '\xc6') + '\0');
  refused('\x9f' + std::string(deep, '\xc6') + std::string(1, '\0') + '\xff');
  std::string long_tags;
  for (int i = 0; i < 1'000'000; ++i) long_tags += "\xd8\x46";
  refused('\x9f' + long_tags + "\x40\xff");
}

TEST_CASE("a frame of nothing but small parts is refused before an object is made of each") {
  constexpr std::size_t many = 16 << 20;
  refused('\x9f' + std::string(many, '\x80') + '\xff');
  refused('\x9f' + std::string(many, '\x40') + '\xff');
  refused('\x9f' + std::string(many, '\0') + '\xff');
}

TEST_CASE("a frame holds so many parts and no more") {
  FrameBuilder builder;
  for (int i = 0; i < 5; ++i) builder.append(Cancel{CallId{1}, {}});
  const auto frame = builder.take();
  // Each is an array, two numbers, a tag and bytes; around them are the frame's own beginning and end.
  CodecLimits limits;
  limits.most_items = 27;
  CHECK(decode_frame(frame, limits).has_value());
  limits.most_items = 26;
  const auto refusal = decode_frame(frame, limits);
  REQUIRE(!refusal.has_value());
  CHECK(refusal.error().code == Errc::protocol);
}

TEST_CASE("lengths that no frame can hold are refused before anything is made for them") {
  for (const int major : {0x40, 0x60, 0x80, 0xa0}) {
    refused(bytes({0x9f, major | 26, 0xff, 0xff, 0xff, 0xff, 0xff}));
    refused(bytes({0x9f, major | 27, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}));
    refused(bytes({0x9f, major | 27, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}));
    refused(bytes({0x9f, major | 27, 0x00, 0xff, 0xff}));
  }
  // In the place of a cancel's partitions.
  refused(bytes({0x9f, 0x83, 0x04, 0x01, 0xd8, 70, 0x5b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf8, 0xff}));
}

TEST_CASE("what is not made of our messages is refused") {
  refused("");
  refused("GET / HTTP/1.1\r\n\r\n");
  refused(bytes({0xff}));
  refused(bytes({0x9f}));
  refused(bytes({0x00}));
  refused(bytes({0xf6}));
  refused(bytes({0xa0}));                                      // a map for the frame
  refused(bytes({0x9f, 0xa1, 0x00, 0x04, 0xff}));              // a map for a message
  refused(bytes({0x9f, 0x83, 0x04, 0x01, 0xa0, 0xff}));        // a map for a field
  refused(bytes({0x9f, 0x80, 0xff}));                          // a message of nothing
  refused(bytes({0x9f, 0x04, 0xff}));                          // a number for a message
  refused(bytes({0x9f, 0x81, 0x11, 0xff}));                    // an unknown type
  refused(bytes({0x9f, 0x81, 0x20, 0xff}));                    // a negative type
  refused(bytes({0x9f, 0x81, 0x61, 0x34, 0xff}));              // "4" for a type
  refused(bytes({0x9f, 0x81, 0x04, 0xff}));                    // too few fields
  refused(bytes({0x9f, 0x84, 0x04, 0x01, 0xd8, 70, 0x40, 0x00, 0xff}));  // too many
  refused(bytes({0x9f, 0x83, 0x04, 0x20, 0xd8, 70, 0x40, 0xff}));        // a negative id
  refused(bytes({0x9f, 0x83, 0x04, 0x01, 0x40, 0xff}));                  // bytes without a tag
  refused(bytes({0x9f, 0x83, 0x04, 0x01, 0xd8, 86, 0x40, 0xff}));        // real numbers for partitions
  refused(bytes({0x9f, 0x83, 0x04, 0x01, 0xd8, 70, 0x43, 0, 0, 0, 0xff}));  // three quarters of a number
  refused(bytes({0x9f, 0x83, 0x04, 0x01, 0xd8, 70, 0x00, 0xff}));        // a tag on a number
  refused(bytes({0x9f, 0x83, 0x04, 0x01, 0xc6, 0x40, 0xff}));            // another tag
  refused(bytes({0x9f, 0x83, 0x04, 0xc6, 0x01, 0xd8, 70, 0x40, 0xff}));  // a tag where none belongs
  refused(bytes({0x9f, 0x83, 0x04, 0x01, 0x5f, 0x40, 0xff, 0xff}));      // bytes in pieces
}

TEST_CASE("injected garbage spoils its frame, alone, behind messages and before them, and no other frame") {
  FrameBuilder builder;
  for (const bool message_before : {false, true}) {
    for (const bool message_behind : {false, true}) {
      for (const std::string& garbage : {bytes({0xff, 0x00}), bytes({0xff, 0xff}), bytes({0xff, 0x80, 0x9f})}) {
        if (message_before) builder.append(Cancel{CallId{1}, {}});
        builder.append_garbage(garbage);
        if (message_behind) builder.append(Cancel{CallId{2}, {}});
        refused(builder.take());
        builder.append(Cancel{CallId{3}, {}});
        CHECK(decode_frame(builder.take()).has_value());
      }
    }
  }
}

TEST_CASE("rows of different length, unknown choices and bounds are refused") {
  PartitionAnswer answer;
  answer.documents = {1, 2};
  answer.scores = {1};
  refused(frame_of({answer}));
  SearchCall call;
  call.plan.terms = {"a"};
  refused(frame_of({call}));
  call = {};
  call.kind = static_cast<AttemptKind>(6);
  refused(frame_of({call}));
  call = {};
  call.service_class = static_cast<ServiceClass>(2);
  refused(frame_of({call}));
  refused(frame_of({CallFailure{CallId{1}, static_cast<FailureReason>(7), ""}}));

  CodecLimits limits;
  limits.most_partitions = 2;
  limits.most_documents = 3;
  limits.most_terms = 1;
  const auto within = [&](const Message& message) { return decode_frame(frame_of({message}), limits).has_value(); };
  CHECK(within(Cancel{CallId{1}, std::vector<PartitionId>(2)}));
  CHECK(!within(Cancel{CallId{1}, std::vector<PartitionId>(3)}));
  answer.documents.resize(3);
  answer.scores.resize(3);
  CHECK(within(answer));
  answer.documents.resize(4);
  answer.scores.resize(4);
  CHECK(!within(answer));
  call = {};
  call.plan.terms = {"a"};
  call.plan.document_frequencies = {1};
  CHECK(within(call));
  call.plan.terms = {"a", "b"};
  call.plan.document_frequencies = {1, 1};
  CHECK(!within(call));
  FetchAnswer fetched;
  fetched.documents.resize(4);
  CHECK(!within(fetched));
}

TEST_CASE("a tie is a partition, a number and an address of bounded length, and there are no more of them than partitions") {
  SearchCall call;
  call.ties = {{highest_partition, highest<std::uint64_t>, std::string(512, 'a')}};
  CHECK(decode_frame(frame_of({call})).has_value());
  call.ties[0].twin_address += 'a';
  refused(frame_of({call}));

  CodecLimits limits;
  limits.most_partitions = 2;
  const auto within = [&](const Message& message) { return decode_frame(frame_of({message}), limits).has_value(); };
  call.ties.assign(2, {});
  CHECK(within(call));
  call.ties.emplace_back();
  CHECK(!within(call));

  // A search call's last field is its ties. In the place of one tie: nothing, too little, too much, and other kinds.
  call.ties.clear();
  const auto plain = frame_of({call});
  REQUIRE(plain.ends_with(bytes({0x80, 0xff})));
  const auto with_tie = [&](const std::string& tie) {
    return plain.substr(0, plain.size() - 2) + bytes({0x81}) + tie + bytes({0xff});
  };
  CHECK(decode_frame(with_tie(bytes({0x83, 0x01, 0x02, 0x61, 'x'}))).has_value());
  refused(with_tie(bytes({0x01})));
  refused(with_tie(bytes({0x80})));
  refused(with_tie(bytes({0x82, 0x01, 0x02})));
  refused(with_tie(bytes({0x84, 0x01, 0x02, 0x61, 'x', 0x00})));
  refused(with_tie(bytes({0x83, 0x1b, 0, 0, 0, 1, 0, 0, 0, 0, 0x02, 0x61, 'x'})));  // a partition beyond 32 bits
  refused(with_tie(bytes({0x83, 0x20, 0x02, 0x61, 'x'})));                          // a negative one
  refused(with_tie(bytes({0x83, 0x01, 0x20, 0x61, 'x'})));                          // a negative tie
  refused(with_tie(bytes({0x83, 0x01, 0xf5, 0x61, 'x'})));                          // true for a tie
  refused(with_tie(bytes({0x83, 0x01, 0x02, 0x41, 'x'})));                          // bytes for an address
}

TEST_CASE("the word that tied work has begun is three numbers and nothing else") {
  CHECK(decode_frame(bytes({0x9f, 0x84, 0x10, 0x07, 0x00, 0x00, 0xff})).has_value());
  refused(bytes({0x9f, 0x83, 0x10, 0x07, 0x00, 0xff}));
  refused(bytes({0x9f, 0x85, 0x10, 0x07, 0x00, 0x00, 0x00, 0xff}));
  refused(bytes({0x9f, 0x84, 0x10, 0x20, 0x00, 0x00, 0xff}));
  refused(bytes({0x9f, 0x84, 0x10, 0x61, '7', 0x00, 0x00, 0xff}));
  refused(bytes({0x9f, 0x84, 0x10, 0x07, 0x00, 0x1b, 0, 0, 0, 1, 0, 0, 0, 0, 0xff}));  // a partition beyond 32 bits
}

TEST_CASE("whether failed work had started is true or false") {
  // call 1, partition 2, failed, "", no time in the queue, started, load 0 and 0, no fault.
  const auto with_started = [](int byte) {
    return bytes({0x9f, 0x8a, 0x03, 0x01, 0x02, 0x06, 0x60, 0x00, byte, 0x00, 0x00, 0x60, 0xff});
  };
  for (const bool started : {true, false}) {
    const auto decoded = decode_frame(with_started(started ? 0xf5 : 0xf4));
    REQUIRE(decoded.has_value());
    CHECK(std::get<PartitionFailure>(decoded->front()).started == started);
    CHECK(std::get<PartitionFailure>(decoded->front()).reason == FailureReason::failed);
  }
  refused(with_started(0x01));
  refused(with_started(0xf6));
}

TEST_CASE("the parts of the optional subsystems' messages have the same number and order, or are refused") {
  FacetAnswer counts;
  counts.facets = {{{"a", "b"}, {1}, false}};
  refused(frame_of({counts}));
  counts.facets = {{{"b", "a"}, {1, 1}, false}};
  refused(frame_of({counts}));
  counts.facets = {{{"a", "a"}, {1, 1}, false}};
  refused(frame_of({counts}));
  counts.facets = {{{"a", "b"}, {1, 1}, false}};
  CHECK(decodes_or_says_protocol(frame_of({counts})));
  refused(frame_of({SpellAnswer{CallId{1}, {"a"}, {}, {}, {}}}));
  LookupAnswer lookup;
  lookup.terms = {"a"};
  refused(frame_of({lookup}));
  SnippetCall snippets;
  snippets.plan.terms = {"a"};
  refused(frame_of({snippets}));
  snippets = {};
  snippets.service_class = static_cast<ServiceClass>(2);
  refused(frame_of({snippets}));
  FacetCall facets;
  facets.service_class = static_cast<ServiceClass>(2);
  refused(frame_of({facets}));
}

TEST_CASE("each bound on the optional subsystems' messages holds: as much as it says, and no more") {
  CodecLimits limits;
  limits.most_documents = limits.most_terms = limits.most_words = limits.most_facets = limits.most_facet_values = 2;
  limits.longest_word = limits.longest_facet_value = limits.longest_snippet = limits.longest_document_id =
      limits.longest_document_part = 3;
  const auto within = [&](const Message& message) { return decode_frame(frame_of({message}), limits).has_value(); };
  const std::vector<std::string> two{"abc", ""}, three{"a", "b", "c"}, too_long{"", "abcd"};
  const auto texts = [&](const auto& message_with) {
    CHECK(within(message_with(two)));
    CHECK(!within(message_with(three)));
    CHECK(!within(message_with(too_long)));
  };
  texts([](const auto& list) { return SnippetAnswer{{}, list, {}, {}}; });
  texts([](const auto& list) { return FacetCall{{}, {}, {}, {}, {}, list, 1, {}}; });
  texts([](const auto& list) { return SpellCall{{}, {}, {}, list}; });
  texts([](const auto& list) { return SpellAnswer{{}, list, std::vector<std::uint32_t>(list.size()), {}, {}}; });
  texts([](const auto& list) {
    LookupAnswer answer;
    answer.terms = list;
    answer.counts.resize(list.size());
    return answer;
  });
  texts([](auto list) {
    std::sort(list.begin(), list.end());
    return FacetAnswer{{}, {}, {{list, std::vector<std::uint64_t>(list.size()), false}}, {}, {}};
  });
  FacetAnswer counts;
  counts.facets.resize(2);
  CHECK(within(counts));
  counts.facets.resize(3);
  CHECK(!within(counts));
  SnippetCall snippets;
  snippets.documents.resize(2);
  CHECK(within(snippets));
  snippets.documents.resize(3);
  CHECK(!within(snippets));
  CHECK(within(LookupCall{{}, {}, {}, {}, "abc", 0}));
  CHECK(!within(LookupCall{{}, {}, {}, {}, "abcd", 0}));
  for (const auto part : {&FetchedDocument::id, &FetchedDocument::title, &FetchedDocument::url}) {
    LookupAnswer answer;
    answer.shown.*part = "abc";
    CHECK(within(answer));
    answer.shown.*part = "abcd";
    CHECK(!within(answer));
  }
  for (const auto part : {&LookupAnswer::text, &LookupAnswer::facets_json}) {
    LookupAnswer answer;
    answer.*part = "abc";
    CHECK(within(answer));
    answer.*part = "abcd";
    CHECK(!within(answer));
  }
}

TEST_CASE("a row of texts whose lengths and bytes disagree is refused") {
  // A SpellCall: 12, call, sent at, remaining, generation, lengths (tag 70), bytes.
  const auto spell = [](std::initializer_list<int> row) {
    return bytes({0x9f, 0x87, 0x0c, 0x01, 0x00, 0x00, 0x00}) + bytes(row) + bytes({0xff});
  };
  CHECK(decodes_or_says_protocol(spell({0xd8, 70, 0x48, 1, 0, 0, 0, 2, 0, 0, 0, 0x43, 'a', 'b', 'c'})));
  refused(spell({0xd8, 70, 0x48, 1, 0, 0, 0, 2, 0, 0, 0, 0x42, 'a', 'b'}));            // too few bytes
  refused(spell({0xd8, 70, 0x48, 1, 0, 0, 0, 2, 0, 0, 0, 0x44, 'a', 'b', 'c', 'd'}));  // too many
  refused(spell({0xd8, 70, 0x44, 0xff, 0xff, 0xff, 0xff, 0x41, 'a'}));                 // a length beyond all
  refused(spell({0xd8, 70, 0x40, 0x63, 'a', 'b', 'c'}));                               // text where bytes belong
  refused(spell({0xd8, 70, 0x40, 0xd8, 70, 0x40}));                                    // numbers where bytes belong
  refused(spell({0x80, 0x40}));                                                        // an array for the lengths
}
