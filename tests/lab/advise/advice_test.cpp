// Whole advices: on the paper's example as its closed form has it, on samples that are too few, where nothing can be
// gained, and on questions that make no sense.
#include "lab/advise/advice.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "lab/advise/advice_words.hpp"
#include "lab/experiments/hedged_model.hpp"
#include "samples_of.hpp"

namespace hedgerow::lab {

using namespace std::chrono_literals;

namespace {

// "The Tail at Scale"'s example: a hundred partitions on leaves that take 3 to 10 ms in 98 %, more than 70 ms in 0.32 %
// and more than 1.8 s in 0.001 % of cases.
AdviceQuestion paper(std::uint64_t samples = 1'000'000) {
  AdviceQuestion question;
  const auto latency = hedged_experiment_latency();
  question.latencies = exact_samples(samples, [&](double share) { return latency.quantile(share); });
  question.width = 100;
  question.replicas = 3;
  question.budget = 0.021;
  return question;
}

double target_with(const AdviceQuestion& question, const Advice& advice) {
  const auto& target = advice.at_target(question);
  REQUIRE(target.with.time);
  return to_milliseconds(*target.with.time);
}

bool says(const Advice& advice, const std::string& words) {
  return std::any_of(advice.notes.begin(), advice.notes.end(), [&](const std::string& note) { return note.find(words) != std::string::npos; });
}

}  // namespace

TEST_CASE("the paper's example: 1,800 ms without, 28.7 ms with two hedges for 2.1 %, 74 ms with one at 10 ms") {
  AdviceQuestion question = paper();
  const Advice advice = advise(question);
  CHECK(advice.verdict == Verdict::hedge);
  REQUIRE(advice.hedges.delays.size() == 2);
  CHECK(to_milliseconds(advice.hedges.delays[0]) == doctest::Approx(11.0).epsilon(0.05));
  CHECK(advice.extra.share <= 0.021);
  CHECK(advice.extra.least < advice.extra.share);
  CHECK(advice.extra.most < 0.0222);
  CHECK(target_with(question, advice) == doctest::Approx(28.66).epsilon(0.02));
  const auto& target = advice.at_target(question);
  REQUIRE(target.without.time);
  CHECK(to_milliseconds(*target.without.time) == doctest::Approx(1800).epsilon(0.03));
  // Ten samples beyond: known within a factor, and the hedged one within a few percent.
  CHECK(target.without.at_most.has_value());
  REQUIRE(target.with.at_most);
  CHECK(to_milliseconds(*target.with.at_most) < 1.05 * 28.66);
  CHECK(to_milliseconds(target.with.at_least) > 0.95 * 28.66);
  REQUIRE(advice.cross_check);
  REQUIRE(advice.cross_check->target);
  CHECK(to_milliseconds(*advice.cross_check->target) == doctest::Approx(28.66).epsilon(0.04));

  question.delays = {10ms};
  const Advice judged = advise(question);
  CHECK(judged.hedges.delays == question.delays);
  CHECK(target_with(question, judged) == doctest::Approx(74.2).epsilon(0.02));
  CHECK(judged.extra.share == doctest::Approx(0.02).epsilon(0.01));
}

TEST_CASE("the samples' number sets how much is told: the hedged target is known long before the unhedged one") {
  AdviceQuestion question = paper(20'000);
  const Advice advice = advise(question);
  const auto& target = advice.at_target(question);
  CHECK_FALSE(target.without.time);
  CHECK_FALSE(target.without.at_most);
  CHECK(target.with.time);
  CHECK(target.with.at_most);
  CHECK(advice.samples_for_target == doctest::Approx(368'700).epsilon(0.001));
  CHECK(says(advice, "cannot tell p99.9 of queries without hedges"));
  CHECK(advice.verdict == Verdict::hedge);

  const auto json = advice_json(question, advice);
  const auto row = std::find_if(json.at("quantiles").begin(), json.at("quantiles").end(), [](const auto& each) { return std::abs(each.at("quantile").template get<double>() - 0.999) < 1e-9; });
  REQUIRE(row != json.at("quantiles").end());
  CHECK(row->at("without").at("ms").is_null());
  CHECK(row->at("without").at("at_most_ms").is_null());
  CHECK(row->at("with").at("ms").is_number());
  CHECK(json.at("verdict") == "hedge");
  CHECK(json.at("plan").at("delays_ms").size() == advice.hedges.delays.size());
  CHECK(advice_text(question, advice).find("beyond the samples: at least") != std::string::npos);
}

TEST_CASE("with fewer samples than a root would plan with, the advice says that it is a guess") {
  AdviceQuestion question = paper(150);
  const Advice advice = advise(question);
  CHECK(advice.verdict == Verdict::too_few_samples);
  CHECK(says(advice, "the delays are a guess"));
  CHECK(verdict_text(question, advice).find("Too few samples") == 0);
}

TEST_CASE("two samples are judged, one is refused") {
  AdviceQuestion question;
  question.latencies = single_samples({{1ms, 1}, {2ms, 1}});
  REQUIRE_FALSE(problem_with(question));
  CHECK(advise(question).verdict == Verdict::too_few_samples);
  question.latencies = single_samples({{1ms, 1}});
  CHECK(problem_with(question));
}

TEST_CASE("samples that are too few for the plan show in their halves") {
  // 400 of a heavy tail (drawn, not exact), fifty partitions.
  const auto latency = hedged_experiment_latency();
  int warned = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Random random(seed);
    AdviceQuestion question;
    question.latencies = exact_samples(400, [&](double) { return latency.draw(random); });
    question.width = 50;
    question.replicas = 3;
    const Advice advice = advise(question);
    warned += says(advice, "half of the samples") || says(advice, "Half of the samples");
  }
  CHECK(warned >= 3);
}

TEST_CASE("where all attempts take nearly the same time nothing is hedged") {
  AdviceQuestion question;
  question.latencies = exact_samples(10'000, [](double share) { return 8ms + from_milliseconds(0.2 * share); });
  question.width = 20;
  const Advice advice = advise(question);
  CHECK(advice.verdict == Verdict::no_gain);
  CHECK(advice.hedges.delays.empty());
  CHECK(advice.extra.share == 0);
  const auto& target = advice.at_target(question);
  CHECK(target.with.time == target.without.time);
  CHECK(verdict_text(question, advice).find("Do not hedge") == 0);
}

TEST_CASE("of samples that do not reach the target no gain is claimed") {
  AdviceQuestion question;
  question.latencies = exact_samples(300, [](double share) { return 8ms + from_milliseconds(0.2 * share); });
  question.width = 1'000;
  const Advice advice = advise(question);
  CHECK_FALSE(advice.at_target(question).without.time);
  CHECK(advice.verdict == Verdict::no_gain);
}

TEST_CASE("delays that are to be judged and gain nothing are judged by their name") {
  AdviceQuestion question = paper(100'000);
  question.width = 1;
  question.delays = {2s};
  const Advice advice = advise(question);
  CHECK(advice.verdict == Verdict::no_gain);
  CHECK(advice.hedges.delays == question.delays);
  CHECK(verdict_text(question, advice).find("Hedging after 2000 ms does not make p99.9 of queries 5 % earlier") == 0);
}

TEST_CASE("figures without hedges stand once where nothing is hedged") {
  AdviceQuestion question = paper(10'000);
  question.replicas = 1;
  const std::string text = advice_text(question, advise(question));
  CHECK(text.find("With one replica") == 0);
  CHECK(text.find(" with\n") == std::string::npos);
}

TEST_CASE("latencies that hardly anybody hedges make the advice ask for the unit") {
  AdviceQuestion question = paper(10'000);
  CHECK_FALSE(says(advise(question), "is the unit right"));
  const auto latency = hedged_experiment_latency();
  question.latencies = exact_samples(10'000, [&](double share) { return latency.quantile(share) / 1'000; });
  CHECK(says(advise(question), "is the unit right"));
  question.latencies = exact_samples(10'000, [&](double share) { return latency.quantile(share) * 10'000; });
  CHECK(says(advise(question), "is the unit right"));
}

TEST_CASE("with one replica nothing can be hedged, and the figures without are told all the same") {
  AdviceQuestion question = paper(100'000);
  question.replicas = 1;
  const Advice advice = advise(question);
  CHECK(advice.verdict == Verdict::no_replica);
  CHECK(advice.hedges.delays.empty());
  CHECK(advice.budgets.empty());
  CHECK(advice.quantiles.front().without.time);
}

TEST_CASE("a larger budget is never slower, and the plan beats the rule that costs as much") {
  const AdviceQuestion question = paper(300'000);
  const Advice advice = advise(question);
  REQUIRE(advice.budgets.size() >= 6);
  for (std::size_t i = 1; i < advice.budgets.size(); ++i) {
    REQUIRE(advice.budgets[i].target);
    CHECK(to_milliseconds(*advice.budgets[i].target) <= 1.01 * to_milliseconds(*advice.budgets[i - 1].target));
    CHECK(advice.budgets[i].extra <= advice.budgets[i].budget * 1.0001);
  }
  const auto rule = std::find_if(advice.rules.begin(), advice.rules.end(), [](const RuleAdvice& each) { return each.quantile == 0.95; });
  REQUIRE(rule != advice.rules.end());
  CHECK(rule->extra == doctest::Approx(0.05).epsilon(0.01));
  const auto plan = std::find_if(advice.budgets.begin(), advice.budgets.end(), [](const BudgetAdvice& each) { return each.budget == 0.05; });
  REQUIRE(plan != advice.budgets.end());
  CHECK(*plan->target < *rule->target);
}

TEST_CASE("the more of the slowness replicas share, the less is gained, down to nothing") {
  AdviceQuestion question = paper(300'000);
  const Advice advice = advise(question);
  REQUIRE(advice.shared.size() >= 3);
  Duration before = *advice.at_target(question).with.time;
  for (const SharedAdvice& each : advice.shared) {
    CAPTURE(each.shared);
    REQUIRE(each.target);
    CHECK(*each.target > before);
    before = *each.target;
  }
  // A hundredth: S(t) (0.01 + 0.99 S(t - d1) S(t - d2)) = 1e-5 has its root where S(t) = 0.001, at 134.7 ms: S is a power
  // of t there, 0.0032 (t / 70)^-1.7765.
  CHECK(to_milliseconds(*advice.shared.front().target) == doctest::Approx(134.7).epsilon(0.03));
  // And the budget is kept, though a second hedge is sent more often.
  question.shared = 0.5;
  CHECK(advise(question).extra.share <= 1.01 * question.budget);
  // What slowness that replicas share leaves to be gained costs little.
  CHECK(says(advise(question), "does nearly as well"));
  CHECK_FALSE(says(advice, "does nearly as well"));
  question.shared = 1;
  const Advice hopeless = advise(question);
  const auto& target = hopeless.at_target(question);
  CHECK(target.with.time == target.without.time);
}

TEST_CASE("slow attempts that were asked again tell what replicas share, within limits") {
  AdviceQuestion question = paper(300'000);
  question.asked_again = 100;
  question.slow_again = 10;
  const Advice advice = advise(question);
  REQUIRE(advice.asked_again);
  // Clopper and Pearson.
  CHECK(advice.asked_again->shared.share == doctest::Approx(0.1));
  CHECK(advice.asked_again->shared.least == doctest::Approx(0.049).epsilon(0.01));
  CHECK(advice.asked_again->shared.most == doctest::Approx(0.1762).epsilon(0.01));
  REQUIRE(advice.asked_again->target_at_least);
  REQUIRE(advice.asked_again->target_at_most);
  const double target = target_with(question, advice);
  CHECK(to_milliseconds(*advice.asked_again->target_at_least) < target);
  CHECK(target < to_milliseconds(*advice.asked_again->target_at_most));
  // As 0.1 told outright.
  AdviceQuestion told = paper(300'000);
  told.shared = 0.1;
  CHECK(target == target_with(told, advise(told)));
}

TEST_CASE("deadlines: the fewer partitions are needed, the sooner, and one of a hundred missing is worth most") {
  const AdviceQuestion question = paper();
  const Advice advice = advise(question);
  REQUIRE(advice.deadlines.size() == 4);
  for (std::size_t i = 1; i < 4; ++i) {
    CHECK(*advice.deadlines[i].without.time < *advice.deadlines[i - 1].without.time);
    CHECK(*advice.deadlines[i].with.time <= *advice.deadlines[i - 1].with.time);
  }
  CHECK(*advice.deadlines[0].without.time == *advice.at_target(question).without.time);
  // 99 of 100: 4.562e-4 may be late; S(t) = 4.562e-4 at 70 (0.0032 / 4.562e-4)^(1 / 1.7765) = 209.6 ms.
  CHECK(to_milliseconds(*advice.deadlines[1].without.time) == doctest::Approx(209.6).epsilon(0.02));
  REQUIRE(advice.deadlines[1].mean_without);
  CHECK(*advice.deadlines[1].mean_without == doctest::Approx(1 - 4.562e-4).epsilon(1e-4));

  // Of four partitions, 0.99 and 0.95 are all, and 0.9 too: told once.
  AdviceQuestion narrow = question;
  narrow.width = 4;
  CHECK(advise(narrow).deadlines.size() == 1);
  narrow.completeness = {0.75, 0.5};
  const Advice wanted = advise(narrow);
  REQUIRE(wanted.deadlines.size() == 2);
  CHECK(wanted.deadlines[0].needed == 3);
}

TEST_CASE("from latencies of whole queries the attempts' are inferred, and the same advice follows") {
  AdviceQuestion question = paper(200'000);
  const auto latency = hedged_experiment_latency();
  question.samples_of = SamplesOf::queries;
  question.latencies = exact_samples(200'000, [&](double share) { return latency.quantile(std::pow(share, 0.01)); });
  const Advice advice = advise(question);
  CHECK(advice.verdict == Verdict::hedge);
  const auto& target = advice.at_target(question);
  REQUIRE(target.without.time);
  CHECK(to_milliseconds(*target.without.time) == doctest::Approx(1800).epsilon(0.02));
  CHECK(target_with(question, advice) == doctest::Approx(28.7).epsilon(0.05));
  CHECK(says(advice, "inferred from whole queries"));
  CHECK_FALSE(advice.load_model);
}

TEST_CASE("queries beside attempts tell what a query takes beside them, and it is added to all that is told of queries") {
  AdviceQuestion question = paper(300'000);
  const Advice bare = advise(question);
  const auto latency = hedged_experiment_latency();
  question.query_latencies = exact_samples(50'000, [&](double share) { return 4ms + latency.quantile(std::pow(share, 0.01)); });
  const Advice advice = advise(question);
  CHECK(to_milliseconds(advice.overhead) == doctest::Approx(4).epsilon(0.05));
  CHECK(advice.hedges.delays == bare.hedges.delays);
  CHECK(target_with(question, advice) - target_with(question, bare) == doctest::Approx(4).epsilon(0.05));
  CHECK(*advice.deadlines[1].mean_without == doctest::Approx(*bare.deadlines[1].mean_without));
  REQUIRE(advice.query_check);
  CHECK(advice.query_check->quantile == 0.99);  // p99.9 rests on 50 queries, but on three attempts
  CHECK(advice.query_check->effective_width == doctest::Approx(100).epsilon(0.05));
  CHECK_FALSE(says(advice, "come together"));
  question.overhead = 7ms;
  CHECK(advise(question).overhead == 7ms);

  // A handful tells nothing.
  question.overhead = std::nullopt;
  question.query_latencies = single_samples({{90ms, 10}});
  const Advice few = advise(question);
  CHECK(few.overhead == Duration{});
  CHECK_FALSE(few.query_check);
  CHECK(says(few, "10 whole queries are too few"));
}

TEST_CASE("queries that are late less often than their attempts would have it: slow attempts come together") {
  AdviceQuestion question = paper(300'000);
  const auto latency = hedged_experiment_latency();
  // As if only ten of the hundred were independent.
  question.query_latencies = exact_samples(50'000, [&](double share) { return latency.quantile(std::pow(share, 0.1)); });
  question.overhead = 0ms;
  const Advice advice = advise(question);
  REQUIRE(advice.query_check);
  CHECK(advice.query_check->effective_width == doctest::Approx(10).epsilon(0.1));
  CHECK(says(advice, "Slow attempts come together"));
  // And the other way round.
  question.query_latencies = exact_samples(50'000, [&](double share) { return 2 * latency.quantile(std::pow(share, 0.01)); });
  CHECK(says(advise(question), "later than their attempts explain"));
}

TEST_CASE("a load is judged by what was measured at it") {
  AdviceQuestion question;
  question.latencies = exact_samples(100'000, [](double share) { return from_milliseconds(-100 * std::log1p(-share)); });
  question.replicas = 2;
  question.load = 0.9;  // 10 ms of work
  const Advice busy = advise(question);
  REQUIRE(busy.load_model);
  CHECK(to_milliseconds(busy.load_model->mean_service()) == doctest::Approx(10).epsilon(0.01));
  CHECK(busy.verdict == Verdict::harmful);
  CHECK(load_text(question, busy).find("of the mean latency of") != std::string::npos);
  question.load = 0.0;
  const Advice idle = advise(question);
  CHECK(idle.verdict == Verdict::hedge);
  REQUIRE(idle.harmful);
  CHECK(idle.harmful->independent == doctest::Approx(0.85).epsilon(0.02));
  const auto json = advice_json(question, idle);
  CHECK(json.at("load").at("harmful_from").at("independent_waits").get<double>() == idle.harmful->independent);
  CHECK(json.at("load").at("points").back().at("independent_waits").at("with_ms").is_null());
  question.load = std::nullopt;
  CHECK_FALSE(advise(question).load_model);
}

TEST_CASE("delays that are to be judged are judged at the load as well") {
  // 10 ms of exponential work, idle: hedging half of it at 7 ms is fine there, and at 0.7 more than the servers can do.
  AdviceQuestion question;
  question.replicas = 2;
  question.delays = {7ms};
  for (const double load : {0.0, 0.7}) {
    CAPTURE(load);
    question.latencies = exact_samples(50'000, [&](double share) { return from_milliseconds(-10 / (1 - load) * std::log1p(-share)); });
    question.load = load;
    const Advice advice = advise(question);
    CHECK(advice.verdict == (load > 0 ? Verdict::harmful : Verdict::hedge));
    // At full they work all the time on primaries and hedges: rho (1 + e^(-0.7 (1 - 0.99))) = 0.99; where that is past already, now.
    CHECK(advice.harmful->full == doctest::Approx(std::max(load, 0.497)).epsilon(0.02));
    CHECK(load_text(question, advice).find("Hedging after 7 ms makes") != std::string::npos);
  }
}

TEST_CASE("many samples that end at the same time look like a timeout") {
  AdviceQuestion question = paper(10'000);
  CHECK_FALSE(says(advise(question), "timeout"));
  auto buckets = question.latencies.buckets();
  buckets.push_back({30s, 30s, 20});
  question.latencies = LatencyCounts(std::move(buckets));
  CHECK(says(advise(question), "20 samples took exactly 30000 ms"));
}

TEST_CASE("the same samples give the same advice") {
  const AdviceQuestion question = paper(5'000);
  CHECK(advice_json(question, advise(question)).dump() == advice_json(question, advise(question)).dump());
}

TEST_CASE("questions that make no sense are refused by the name of what is wrong") {
  const auto refused = [](const char* word, const auto& change) {
    AdviceQuestion question = paper(1'000);
    REQUIRE_FALSE(problem_with(question));
    change(question);
    const auto problem = problem_with(question);
    CAPTURE(word);
    REQUIRE(problem);
    CHECK(problem->context.find(word) != std::string::npos);
  };
  refused("--width", [](AdviceQuestion& question) { question.width = 0; });
  refused("--replicas", [](AdviceQuestion& question) { question.replicas = 0; });
  refused("--budget", [](AdviceQuestion& question) { question.budget = 0; });
  refused("--budget", [](AdviceQuestion& question) { question.budget = 1.5; });
  refused("--overhead", [](AdviceQuestion& question) { question.overhead = -1ms; });
  refused("--query-samples", [](AdviceQuestion& question) { question.samples_of = SamplesOf::queries, question.query_latencies = single_samples({{1ms, 200}}); });
  refused("--target", [](AdviceQuestion& question) { question.target = 1; });
  refused("--completeness", [](AdviceQuestion& question) { question.completeness = {0}; });
  refused("--shared", [](AdviceQuestion& question) { question.shared = -0.1; });
  refused("--slow-again", [](AdviceQuestion& question) { question.asked_again = 3, question.slow_again = 4; });
  refused("--shared", [](AdviceQuestion& question) { question.shared = 0.1, question.asked_again = 3; });
  refused("--load", [](AdviceQuestion& question) { question.load = 1; });
  refused("--workers", [](AdviceQuestion& question) { question.workers = 0; });
  refused("--confidence", [](AdviceQuestion& question) { question.confidence = 1; });
  refused("--delay", [](AdviceQuestion& question) { question.delays = {2ms, 1ms}; });
  refused("--delay", [](AdviceQuestion& question) { question.delays = {1ms, 2ms, 3ms}; });
  refused("latencies", [](AdviceQuestion& question) { question.latencies = {}; });
}

}  // namespace hedgerow::lab
