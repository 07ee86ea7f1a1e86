// root/api_json: the answer as the client gets it.
#include <memory>

#include "benchmark.hpp"
#include "collection.hpp"
#include "corpus/synthetic.hpp"
#include "root/api_json.hpp"

namespace hedgerow::micro {

namespace {

using namespace std::chrono_literals;

root::SearchAnswer answer_of_ten_hits() {
  root::SearchAnswer answer;
  for (std::uint64_t number = 1; number <= 10; ++number) {
    const Document document = synthetic_document(collection_seed, number);
    root::AnswerHit hit;
    hit.id = document.id;
    hit.score = 17.234567890123 / static_cast<double>(number);
    hit.title = document.title;
    hit.url = "https://example.org/documents/" + document.id;
    hit.snippet = "<b>" + document.text.substr(0, 50) + "</b>" + document.text.substr(50, 150);
    answer.hits.push_back(std::move(hit));
  }
  answer.total = 3412;
  answer.took = 2'345'678ns;
  answer.deadline = 250ms;
  answer.plan_time = 123us;
  answer.search_time = 1'876us;
  answer.second_phase_time = 321us;
  answer.completeness.partitions_total = answer.completeness.partitions_asked = answer.completeness.partitions_answered = 16;
  answer.completeness.documents_total = answer.completeness.documents_asked = answer.completeness.documents_searched = 63'681;
  answer.completeness.estimated_recall = 1;
  answer.attempts.primary = 16;
  answer.subsystems[0] = {policy::SubsystemStatus::ok, 450us};
  answer.subsystems[1] = {policy::SubsystemStatus::ok, 610us};
  answer.cache = root::CacheUse::miss;
  return answer;
}

Iteration writing_ten_hits(const std::filesystem::path&) {
  const auto answer = std::make_shared<root::SearchAnswer>(answer_of_ten_hits());
  require(root::to_response(*answer).body.size() > 3000, "the answer's body is short");
  return [=] { keep(root::to_response(*answer)); };
}

}  // namespace

std::vector<Benchmark> answer_json_benchmarks() { return {{"answer-json/10-hits", writing_ten_hits}}; }

}  // namespace hedgerow::micro
