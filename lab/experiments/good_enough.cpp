#include "lab/experiments/good_enough.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "index/partition_of.hpp"
#include "lab/evaluate.hpp"
#include "lab/experiments/built_index.hpp"
#include "lab/experiments/live_cluster.hpp"
#include "lab/qrels.hpp"
#include "lab/queries_file.hpp"
#include "lab/simulation/simulation.hpp"

namespace hedgerow::lab {

namespace good_enough {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t partitions = 16, best = 10;
constexpr std::array<std::size_t, 3> widths{partitions, partitions / 2, partitions / 4};
// Of a leaf: wide enough for deadlines to matter.
constexpr const char* leaf_time = "lognormal:20ms,0.8";
constexpr std::array<Duration, 9> deadlines{10ms, 15ms, 20ms, 30ms, 40ms, 60ms, 100ms, 200ms, 500ms};
// The live root keeps some of a deadline for the second phase, and its machine is not idle.
constexpr std::array<Duration, 7> live_deadlines{20ms, 30ms, 45ms, 70ms, 110ms, 200ms, 500ms};
constexpr std::size_t live_leaves = 8;
// So deep a ranking is kept that ten hits are left of it where a sixteenth of the documents was looked at.
constexpr std::uint32_t depth = 400;

// What is asked, and what is true of it.
struct Question {
  TestQuery query;
  std::vector<std::string> ranking;  // the complete one, best first
  Judgements judgements;
};

struct Point {
  Duration deadline;
  std::size_t width;
  std::uint64_t queries = 0;
  double completeness = 0, recall = 0, ndcg = 0;  // means
  double p50_ms = 0, p99_ms = 0;
};

double recall_of(const std::vector<std::string>& hits, const std::vector<std::string>& truth) {
  const std::size_t wanted = std::min(best, truth.size());
  if (wanted == 0) return 1;
  const std::set<std::string> there(hits.begin(), hits.begin() + static_cast<std::ptrdiff_t>(std::min(best, hits.size())));
  return static_cast<double>(std::count_if(truth.begin(), truth.begin() + static_cast<std::ptrdiff_t>(wanted),
                                           [&](const std::string& id) { return there.contains(id); })) /
         static_cast<double>(wanted);
}

class Sums {
 public:
  void add(double completeness, const std::vector<std::string>& hits, const Question& question, Duration latency) {
    ++queries_;
    completeness_ += completeness;
    recall_ += recall_of(hits, question.ranking);
    ndcg_ += measure(hits, question.judgements).ndcg_10;
    latency_.record(static_cast<std::uint64_t>(std::max<Duration::rep>(0, latency.count())));
  }
  Point point(Duration deadline, std::size_t width) const {
    const auto count = static_cast<double>(queries_);
    return {deadline,
            width,
            queries_,
            completeness_ / count,
            recall_ / count,
            ndcg_ / count,
            static_cast<double>(latency_.value_at_quantile(0.5)) / 1e6,
            static_cast<double>(latency_.value_at_quantile(0.99)) / 1e6};
  }

 private:
  std::uint64_t queries_ = 0;
  double completeness_ = 0, recall_ = 0, ndcg_ = 0;
  Histogram latency_{600'000'000'000};
};

// The test collection's queries that have judgements; none given: no questions.
result<std::vector<Question>> read_questions(const ExperimentRequest& request) {
  std::vector<Question> questions;
  if (request.test_queries.empty()) return questions;
  auto queries = read_test_queries(request.test_queries);
  if (queries.has_error()) return queries.error();
  const auto qrels = read_qrels(request.qrels);
  if (qrels.has_error()) return qrels.error();
  for (TestQuery& query : *queries) {
    const auto judged = qrels->find(query.id);
    if (judged == qrels->end()) continue;
    query.text = plain_words(query.text);
    questions.push_back({std::move(query), {}, judged->second});
  }
  if (questions.empty()) return Error{Errc::invalid_argument, "no query of " + request.test_queries.string() + " has judgements"};
  return questions;
}

result<void> rank(std::vector<Question>& questions, const std::filesystem::path& index) {
  std::vector<TestQuery> queries;
  for (const Question& question : questions) queries.push_back(question.query);
  const auto outcomes = ask_index(index, queries, depth);
  if (outcomes.has_error()) return outcomes.error();
  for (std::size_t i = 0; i < questions.size(); ++i) {
    for (const auto& hit : (*outcomes)[i].hits) questions[i].ranking.push_back(hit.id);
  }
  return {};
}

// Made up: ids of which a hash says where they are, and the best ten are what is relevant.
std::vector<Question> make_up_questions(std::size_t count) {
  std::vector<Question> questions(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t rank = 0; rank < depth; ++rank) {
      questions[i].ranking.push_back(std::to_string(i) + "-" + std::to_string(rank));
      if (rank < best) questions[i].judgements[questions[i].ranking.back()] = 1;
    }
  }
  return questions;
}

void tell(ExperimentResult& result, const std::vector<Point>& points, const std::string& judged_by) {
  report::Table table{"Answers by deadline and fan-out width; nDCG@10 by " + judged_by,
                      {{"width", true},
                       {"deadline", true},
                       {"completeness", true},
                       {"recall@10", true},
                       {"nDCG@10", true},
                       {"p50 (ms)", true},
                       {"p99 (ms)", true}},
                      {}};
  report::Chart by_deadline, frontier;
  by_deadline.name = "good-enough";
  by_deadline.title = "What an answer is worth at its deadline";
  by_deadline.caption =
      "All partitions asked. Recall is completeness, since documents are spread by a hash; what people see (nDCG) suffers less "
      "at first.";
  by_deadline.x = {"deadline (ms)", report::Scale::logarithmic};
  by_deadline.y = {"share, and nDCG", report::Scale::linear, 0, 1};
  frontier.name = "good-enough-frontier";
  frontier.title = "Recall against latency";
  frontier.caption =
      "Each point is a deadline and a width. Asking fewer partitions is quicker only where the deadline does not end the waiting "
      "anyway.";
  frontier.x = report::latency_axis("p99 latency (ms)");
  frontier.y = {"recall@10", report::Scale::linear, 0, 1, {}, true};
  // Completeness and recall should lie on each other: a line, and points on it.
  report::Series completeness{"completeness", {}, report::Mark::line}, recall{"recall@10", {}, report::Mark::points}, ndcg{"nDCG@10", {}};
  for (const std::size_t width : widths) {
    report::Series series{std::to_string(width) + " of " + std::to_string(partitions) + " partitions", {}};
    for (const Point& point : points) {
      if (point.width != width) continue;
      const double deadline = to_milliseconds(point.deadline);
      table.rows.push_back({std::to_string(width), format_duration(point.deadline), figure(point.completeness),
                            figure(point.recall), figure(point.ndcg), figure(point.p50_ms), figure(point.p99_ms)});
      result.figures["points"].push_back({{"width", width},
                                          {"deadline_ms", deadline},
                                          {"queries", point.queries},
                                          {"completeness", point.completeness},
                                          {"recall_10", point.recall},
                                          {"ndcg_10", point.ndcg},
                                          {"p50_ms", point.p50_ms},
                                          {"p99_ms", point.p99_ms}});
      series.points.push_back(
          {point.p99_ms, point.recall, std::nullopt, std::nullopt, "deadline " + format_duration(point.deadline)});
      if (width != partitions) continue;
      completeness.points.push_back({deadline, point.completeness});
      recall.points.push_back({deadline, point.recall});
      ndcg.points.push_back({deadline, point.ndcg});
    }
    frontier.series.push_back(std::move(series));
  }
  by_deadline.series = {std::move(completeness), std::move(recall), std::move(ndcg)};
  result.tables.push_back(std::move(table));
  result.charts.push_back(std::move(by_deadline));
  result.charts.push_back(std::move(frontier));
  // Of the single queries' recall the standard deviation is about a third, at most a half.
  for (const Point& point : points) {
    const double chance = 4 * 0.35 / std::sqrt(static_cast<double>(point.queries));
    result.findings.push_back(within(std::to_string(point.width) + " partitions, deadline " + format_duration(point.deadline) +
                                         ": recall@10, beside completeness",
                                     "", point.recall, Source::closed_form, point.completeness, 0.01 + chance));
  }
}

result<ExperimentResult> simulated(const ExperimentRequest& request) {
  ExperimentResult result;
  auto read = read_questions(request);
  if (read.has_error()) return read.error();
  std::vector<Question>& questions = *read;
  const bool made_up = questions.empty();
  if (made_up) {
    questions = make_up_questions(500);
  } else {
    request.say("building an index of the collection");
    const BuiltIndex index(request.bin_dir, request.corpus, partitions);
    if (const auto ranked = rank(questions, index.directory()); ranked.has_error()) return ranked.error();
  }

  const auto leaf = *simulation::ServiceTime::parse(leaf_time);
  std::vector<Point> points;
  std::uint64_t violated = 0;
  for (const std::size_t width : widths) {
    request.say("width " + std::to_string(width));
    for (const Duration deadline : deadlines) {
      simulation::WorldSettings world;
      world.seed = request.seed;
      world.leaves = world.partitions = partitions;
      world.replicas = 1;
      world.workers = 0;
      world.service = leaf;
      world.queries = request.queries.value_or(10'000);
      auto& shape = world.shapes.front();
      shape.width = width == partitions ? 0 : width;
      shape.deadline = deadline;
      shape.hedge.mode = policy::HedgeChoice::Mode::off;
      Sums sums;
      std::size_t number = 0;
      const auto report = simulation::simulate(world, [&](const simulation::QueryEnd& end) {
        const Question& question = questions[number++ % questions.size()];
        std::vector<bool> there(partitions);
        std::size_t answered = 0;
        for (std::size_t i = 0; i < end.search->partitions().size(); ++i) {
          if (end.search->state_of(i) != policy::PartitionState::answered) continue;
          there[end.search->partitions()[i].partition.value] = true;
          ++answered;
        }
        std::vector<std::string> hits;
        for (const std::string& id : question.ranking) {
          if (hits.size() == best) break;
          if (there[partition_of(id, partitions).value]) hits.push_back(id);
        }
        sums.add(static_cast<double>(answered) / partitions, hits, question, end.latency);
      });
      violated += report.violated;
      points.push_back(sums.point(deadline, width));
      const Point& point = points.back();
      const double expected = static_cast<double>(width) / partitions * (1 - leaf.longer_than(deadline));
      const std::string claim = std::to_string(width) + " partitions, deadline " + format_duration(deadline);
      result.findings.push_back(share_of(claim + ": completeness", 100 * point.completeness, Source::closed_form, 100 * expected,
                                         point.queries * width));
      if (made_up) {
        result.findings.push_back(
            within(claim + ": nDCG@10", "", point.ndcg, Source::closed_form, expected_ndcg(expected, best), 0.03));
      }
    }
  }
  tell(result, points, made_up ? "the true top ten" : "the collection's judgements");
  result.findings.push_back(at_most("invariants broken", "", static_cast<double>(violated), Source::own, 0));
  result.settings = {{"partitions", partitions},
                     {"leaf", leaf_time},
                     {"collection", made_up ? "made up" : request.corpus},
                     {"questions", questions.size()}};
  if (made_up)
    result.notes.push_back(
        "Without a test collection (--corpus, --test-queries, --qrels) the true top ten is what counts as relevant.");
  return result;
}

result<ExperimentResult> live(const ExperimentRequest& request) {
  ExperimentResult result;
  auto read = read_questions(request);
  if (read.has_error()) return read.error();
  std::vector<Question>& questions = *read;
  const bool made_up = questions.empty();
  for (std::uint64_t i = 0; made_up && i < 300; ++i) questions.push_back({{"q" + std::to_string(i), made_up_query(i)}, {}, {}});
  // Each is asked once at every point, so less time is fewer questions.
  const double share = std::min(1.0, request.time_scale);
  questions.resize(std::min(questions.size(), std::max<std::size_t>(20, static_cast<std::size_t>(share * static_cast<double>(questions.size())))));

  LiveClusterSettings settings{.leaves = live_leaves, .partitions = partitions, .replicas = 1};
  if (!request.corpus.empty()) settings.corpus = request.corpus;
  LiveCluster cluster(request, settings);
  std::vector<TestQuery> queries;
  for (const Question& question : questions) queries.push_back(question.query);
  const auto ask = [&](std::size_t width, Duration deadline) {
    return cluster.evaluate(queries,
                            {{"deadline", format_duration(deadline)}, {"fanout", std::to_string(width)}, {"hedge", "off"}}, best);
  };
  request.say("complete answers");
  const auto complete = ask(partitions, 10s);
  for (std::size_t i = 0; i < questions.size(); ++i) {
    for (const auto& hit : complete[i].hits) {
      questions[i].ranking.push_back(hit.id);
      if (made_up) questions[i].judgements[hit.id] = 1;
    }
  }
  double whole = 0;
  for (const Question& question : questions)
    whole += measure(question.ranking, question.judgements).ndcg_10 / static_cast<double>(questions.size());

  cluster.set_faults(
      nlohmann::json::array({{{"kind", "late"}, {"delay", leaf_time}, {"work", {"search"}}, {"seed", request.seed}}}));
  std::vector<Point> points;
  std::uint64_t failed = 0;
  for (const std::size_t width : widths) {
    for (const Duration deadline : live_deadlines) {
      request.say("width " + std::to_string(width) + ", deadline " + format_duration(deadline));
      const auto outcomes = ask(width, deadline);
      Sums sums;
      for (std::size_t i = 0; i < questions.size(); ++i) {
        std::vector<std::string> hits;
        for (const auto& hit : outcomes[i].hits) hits.push_back(hit.id);
        // Nothing in time is an answer too, for the mean: an empty one.
        const bool none_in_time = outcomes[i].failure == "status 504";
        failed += !outcomes[i].failure.empty() && !none_in_time ? 1 : 0;
        sums.add(none_in_time ? 0 : outcomes[i].completeness.value_or(0), hits, questions[i],
                 none_in_time ? deadline : outcomes[i].latency);
      }
      points.push_back(sums.point(deadline, width));
      result.findings.push_back(
          at_most(std::to_string(width) + " partitions, deadline " + format_duration(deadline) + ": p50 of the latency", "ms",
                  points.back().p50_ms, Source::own, to_milliseconds(deadline) + 10));
    }
  }
  tell(result, points, made_up ? "the true top ten" : "the collection's judgements");
  result.findings.push_back(
      at_most("queries that failed for other reasons than time", "", static_cast<double>(failed), Source::own, 0));
  const auto longest = std::find_if(points.begin(), points.end(), [](const Point& point) {
    return point.width == partitions && point.deadline == live_deadlines.back();
  });
  result.findings.push_back(within("all partitions, the longest deadline: nDCG@10, beside that of complete answers", "",
                                   longest->ndcg, Source::closed_form, whole, 0.01));
  result.figures["complete_ndcg_10"] = whole;
  result.settings["questions"] = questions.size();
  if (made_up)
    result.notes.push_back(
        "Without a test collection (--corpus, --test-queries, --qrels) the complete top ten is what counts as relevant.");
  cluster.describe(result);
  return result;
}

}  // namespace
}  // namespace good_enough

double expected_ndcg(double completeness, std::size_t k) {
  const auto count = static_cast<double>(k);
  double ideal = 0;
  for (double i = 1; i <= count; ++i) ideal += 1 / std::log2(i + 1);
  double expected = 0, gain = 0;
  for (double m = 0; m <= count; ++m) {
    if (m > 0) gain += 1 / std::log2(m + 1);
    const double ways = std::exp(std::lgamma(count + 1) - std::lgamma(m + 1) - std::lgamma(count - m + 1));
    expected += ways * std::pow(completeness, m) * std::pow(1 - completeness, count - m) * gain / ideal;
  }
  return expected;
}

Experiment good_enough_experiment() {
  return {"good-enough",
          "How complete are answers at each deadline and fan-out width, how many of the true top ten do they hold, and how good "
          "are they?",
          "Recall is completeness, and that is width / partitions * Pr(a leaf answers by the deadline); nDCG suffers less.",
          "closed form; The Tail at Scale, \"good enough\", gives no figures",
          good_enough::simulated,
          good_enough::live};
}

}  // namespace hedgerow::lab
