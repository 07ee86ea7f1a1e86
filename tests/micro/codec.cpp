// wire/codec: frames as they go between root and leaf.
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "base/random.hpp"
#include "benchmark.hpp"
#include "collection.hpp"
#include "corpus/synthetic.hpp"
#include "wire/codec.hpp"

namespace hedgerow::micro {

namespace {

using namespace std::chrono_literals;
using wire::Message;

constexpr std::uint32_t partitions_answered = 16, hits_each = 10;
constexpr std::int64_t sent_at_ns = 86'400'123'456'789;

std::string frame_of(const std::vector<Message>& messages) {
  wire::FrameBuilder frame;
  for (const Message& message : messages) frame.append(message);
  return frame.take();
}

std::vector<Message> search_call_of_2_partitions(const std::filesystem::path& index) {
  const QueryPlan plan = planned(three_words(), index);
  wire::SearchCall call;
  call.call = CallId{123'456};
  call.time = {sent_at_ns, 245ms};
  call.generation = plan.generation;
  call.plan.query = plan.serialised_query;
  for (const auto& [term, frequency] : plan.terms) {
    call.plan.terms.push_back(term);
    call.plan.document_frequencies.push_back(frequency);
  }
  call.plan.collection_documents = plan.collection_documents;
  call.plan.average_length = plan.average_length;
  call.partitions = {PartitionId{3}, PartitionId{11}};
  return {call};
}

std::vector<Message> answers_of_16_partitions(const std::filesystem::path&) {
  Random random(1);
  std::vector<Message> answers;
  for (std::uint32_t i = 0; i < partitions_answered; ++i) {
    wire::PartitionAnswer answer;
    answer.call = CallId{123'456};
    answer.partition = PartitionId{i};
    for (std::uint32_t hit = 0; hit < hits_each; ++hit) {
      answer.documents.push_back(static_cast<std::uint32_t>(1 + random.below(64'000)));
      answer.scores.push_back(20 - hit - random.uniform());
    }
    answer.matches = 100 + random.below(1000);
    answer.queue_time = Duration{random.below(100'000)};
    answer.service_time = Duration{random.below(1'000'000)};
    answer.load = {2, 1};
    answers.push_back(std::move(answer));
  }
  return answers;
}

wire::FetchedDocument shown_of(std::uint64_t number) {
  const Document document = synthetic_document(collection_seed, number);
  return {document.id, document.title, "https://example.org/documents/" + document.id};
}

// What those of 16 partitions bring along by default (root/policy/query/titles_with_hits).
std::vector<Message> answers_with_titles(const std::filesystem::path& index) {
  constexpr std::uint64_t titles_each = 2;
  std::vector<Message> answers = answers_of_16_partitions(index);
  std::uint64_t number = 0;
  for (Message& answer : answers) {
    auto& shown = std::get<wire::PartitionAnswer>(answer).shown;
    while (shown.size() < titles_each) shown.push_back(shown_of(++number));
  }
  return answers;
}

std::vector<Message> ten_documents(const std::filesystem::path&) {
  wire::FetchAnswer answer;
  answer.call = CallId{123'457};
  for (std::uint64_t number = 1; number <= hits_each; ++number) answer.documents.push_back(shown_of(number));
  answer.load = {0, 1};
  return {answer};
}

using Making = std::vector<Message> (*)(const std::filesystem::path& index);

Benchmark encoding(const std::string& name, Making make) {
  return {"codec/encode-" + name, [=](const std::filesystem::path& index) -> Iteration {
            const auto messages = std::make_shared<std::vector<Message>>(make(index));
            return [=] { keep(frame_of(*messages)); };
          }};
}

Benchmark decoding(const std::string& name, Making make) {
  return {"codec/decode-" + name, [=](const std::filesystem::path& index) -> Iteration {
            const auto messages = make(index);
            const auto frame = std::make_shared<std::string>(frame_of(messages));
            require(wire::decode_frame(*frame).value().size() == messages.size(), name);
            return [=] { keep(wire::decode_frame(*frame)); };
          }};
}

}  // namespace

std::vector<Benchmark> codec_benchmarks() {
  std::vector<Benchmark> all;
  const std::pair<const char*, Making> frames[] = {{"search-call-of-2-partitions", search_call_of_2_partitions},
                                                   {"16-answers-of-10-hits", answers_of_16_partitions},
                                                   {"16-answers-with-2-titles-each", answers_with_titles},
                                                   {"10-documents", ten_documents}};
  for (const auto& [name, make] : frames) {
    all.push_back(encoding(name, make));
    all.push_back(decoding(name, make));
  }
  return all;
}

}  // namespace hedgerow::micro
