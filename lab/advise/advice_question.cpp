#include "lab/advise/advice.hpp"

#include <algorithm>

namespace hedgerow::lab {

namespace {

bool is_share(double value) { return value > 0 && value < 1; }

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::hedge: return "hedge";
    case Verdict::no_replica: return "no_replica";
    case Verdict::too_few_samples: return "too_few_samples";
    case Verdict::no_gain: return "no_gain";
    case Verdict::harmful: return "harmful";
  }
  return "hedge";
}

std::optional<Error> problem_with(const AdviceQuestion& question) {
  const auto wrong = [](const char* what) { return Error{Errc::invalid_argument, what}; };
  if (question.latencies.count() < 2) return wrong("there are no latencies to judge by: two at least");
  if (question.samples_of == SamplesOf::queries && question.query_latencies.count() > 0) {
    return wrong("--query-samples stand beside latencies of attempts, and --of says that they are of queries");
  }
  if (question.width < 1 || question.width > 1'000'000) return wrong("--width is from 1 to 1000000");
  if (question.replicas < 1) return wrong("--replicas is at least 1");
  if (!(question.budget > 0 && question.budget <= 1)) return wrong("--budget is a share of the attempts: above 0, at most 1");
  if (question.overhead && *question.overhead < Duration{}) return wrong("--overhead is no negative time");
  if (!is_share(question.target)) return wrong("--target is a share of the queries between 0 and 1: 0.999 or p99.9");
  for (const double completeness : question.completeness) {
    if (!(completeness > 0 && completeness <= 1)) return wrong("--completeness is above 0, and at most 1");
  }
  if (!(question.shared >= 0 && question.shared <= 1)) return wrong("--shared is from 0 to 1");
  if (question.slow_again > question.asked_again) return wrong("--slow-again is at most --asked-again");
  if (question.asked_again > 0 && question.shared > 0) return wrong("--shared, or --asked-again and --slow-again");
  if (!std::is_sorted(question.delays.begin(), question.delays.end())) return wrong("--delay: the delays rise");
  if (!question.delays.empty() && question.delays.size() + 1 > question.replicas) return wrong("--delay: there are fewer replicas than delays and a first attempt");
  if (question.load && !(*question.load >= 0 && *question.load < 1)) return wrong("--load is a share of the servers' time: at least 0, below 1");
  if (question.workers < 1 || question.workers > 10'000) return wrong("--workers is from 1 to 10000");
  if (!(question.confidence >= 0.5 && question.confidence < 1)) return wrong("--confidence is at least 0.5, below 1");
  return std::nullopt;
}

}  // namespace hedgerow::lab
