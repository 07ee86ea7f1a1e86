// root/policy/query/fanout: all decisions of one query, from its first attempt to its end, by policies that have learnt and
// go on learning. The host is here as cheap as can be, so that what is measured is the policies'.
#include "root/policy/query/fanout.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "base/random.hpp"
#include "benchmark.hpp"

namespace hedgerow::micro {

namespace {

using namespace std::chrono_literals;

// Latencies are looked at anew every 250 ms, at the start of a query: once in fifty, whichever of them is the first that is
// counted. That costs as much as the decisions of some thirty narrow queries, so what is counted are whole rounds of fifty.
constexpr Duration between_queries = 5ms;
constexpr Duration time_of_a_search = 245ms;
constexpr std::size_t drawn_queries = 64;
constexpr int queries_to_learn_from = 400;

struct Answer {
  Duration after;  // the query's start
  AttemptId attempt;
};

// Queries one after another on a cluster of healthy leaves, each partition on two of them. First attempts are answered as
// drawn beforehand, one in two hundred late; what is sent besides (hedges, probes) is answered a millisecond later.
class Queries {
 public:
  Queries(std::uint32_t partitions, std::uint32_t leaves) : policies_({}, 1), now_(Instant{} + 1h) {
    for (std::uint32_t i = 0; i < leaves; ++i) policies_.on_leaf_up(LeafId{i});
    for (std::uint32_t i = 0; i < partitions; ++i) {
      asked_.push_back({PartitionId{i}, {LeafId{i % leaves}, LeafId{(i + 1) % leaves}}, 4000});
    }
    Random random(1);
    for (std::size_t i = 0; i < drawn_queries; ++i) drawn_.push_back(draw_answers(random));
  }

  void run_one() {
    now_ += between_queries;
    const Instant start = now_;
    policy::Fanout fanout(asked_, {.search_end = start + time_of_a_search, .early_fetch = start + time_of_a_search - 20ms,
                                   .hedge = {}, .tied = false, .good_enough = {}}, policies_);
    extra_.clear();
    perform(fanout.start(start), Duration{});
    for (const Answer& answer : drawn_[next_++ % drawn_queries]) {
      if (fanout.finished()) break;
      pass_until(fanout, start, answer.after);
      give(fanout, answer, start);
    }
    if (!fanout.finished()) throw std::logic_error("a query does not end");
  }

  std::uint64_t extra_attempts() const { return extra_attempts_; }

 private:
  std::vector<Answer> draw_answers(Random& random) const {
    std::vector<Answer> answers;
    for (std::uint32_t i = 0; i < asked_.size(); ++i) {
      const double late = random.chance(0.005) ? 20 : 1;
      answers.push_back({from_milliseconds(late * std::exp(0.3 * random.normal())), AttemptId{i}});
    }
    std::sort(answers.begin(), answers.end(), [](const Answer& a, const Answer& b) { return a.after < b.after; });
    return answers;
  }

  // Wakes and answers of extra attempts that come before.
  void pass_until(policy::Fanout& fanout, Instant start, Duration end) {
    while (!fanout.finished()) {
      const Duration wake = wake_at_ - start;
      const Duration extra = extra_.empty() ? Duration::max() : extra_.front().after;
      if (std::min(wake, extra) > end) return;
      if (wake <= extra) {
        perform(fanout.on_wake(wake_at_), wake);
      } else {
        const Answer answer = extra_.front();
        extra_.erase(extra_.begin());
        give(fanout, answer, start);
      }
    }
  }

  void give(policy::Fanout& fanout, const Answer& answer, Instant start) {
    if (!fanout.attempt(answer.attempt).outstanding) return;
    const policy::AttemptReport report{50us, 700us, 0, 1};
    auto verdict = fanout.on_answer(answer.attempt, report, start + answer.after);
    perform(verdict.actions, answer.after);
  }

  void perform(const policy::Actions& actions, Duration now) {
    for (const auto& action : actions) {
      if (const auto* wake = std::get_if<policy::WakeAt>(&action)) wake_at_ = wake->at;
      const auto* send = std::get_if<policy::SendAttempt>(&action);
      if (!send || send->kind == AttemptKind::primary) continue;
      extra_.push_back({now + 1ms, send->attempt});
      ++extra_attempts_;
    }
  }

  policy::SearchPolicies policies_;
  Instant now_;
  std::vector<policy::Fanout::Partition> asked_;
  std::vector<std::vector<Answer>> drawn_;
  std::size_t next_ = 0;
  // Of the query that runs; extra answers in order.
  Instant wake_at_;
  std::vector<Answer> extra_;
  std::uint64_t extra_attempts_ = 0;
};

Benchmark asking(const std::string& name, std::uint32_t partitions, std::uint32_t leaves) {
  return {"fanout/" + name, [=](const std::filesystem::path&) -> Iteration {
            const auto queries = std::make_shared<Queries>(partitions, leaves);
            for (int i = 0; i < queries_to_learn_from; ++i) queries->run_one();
            require(queries->extra_attempts() > 0, "nothing is hedged");
            return [=] { queries->run_one(); };
          }};
}

}  // namespace

std::vector<Benchmark> fanout_benchmarks() {
  return {asking("query-of-16-partitions", 16, 8), asking("query-of-100-partitions", 100, 100)};
}

}  // namespace hedgerow::micro
