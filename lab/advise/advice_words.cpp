#include "lab/advise/advice_words.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "lab/advise/worded.hpp"
#include "root/policy/cluster/hedge_worth.hpp"

namespace hedgerow::lab {

namespace {

nlohmann::json milliseconds_or_null(const std::optional<Duration>& time) {
  if (!time || *time == Duration::max()) return nullptr;
  return to_milliseconds(*time);
}

nlohmann::json estimate_json(const TimeEstimate& estimate) {
  return {{"ms", milliseconds_or_null(estimate.time)},
          {"at_least_ms", to_milliseconds(estimate.at_least)},
          {"at_most_ms", milliseconds_or_null(estimate.at_most)}};
}

nlohmann::json hedges_json(const Hedges& hedges) {
  nlohmann::json delays = nlohmann::json::array();
  for (const Duration delay : hedges.delays) delays.push_back(to_milliseconds(delay));
  return {{"delays_ms", std::move(delays)}, {"probability", hedges.delays.empty() ? 0 : hedges.probability}};
}

nlohmann::json question_json(const AdviceQuestion& question) {
  nlohmann::json out = {{"samples_of", question.samples_of == SamplesOf::queries ? "queries" : "attempts"},
                        {"samples", question.latencies.count() + question.given_up.count()},
                        {"given_up", question.given_up.count()},
                        {"shortest_ms", to_milliseconds(question.latencies.shortest())},
                        {"longest_ms", to_milliseconds(question.latencies.longest())},
                        {"mean_ms", to_milliseconds(question.latencies.mean())},
                        {"width", question.width},
                        {"replicas", question.replicas},
                        {"most_hedges", question.most_hedges},
                        {"budget", question.budget},
                        {"target", question.target},
                        {"shared", question.shared},
                        {"delays_to_judge_ms", nlohmann::json::array()},
                        {"workers", question.workers},
                        {"confidence", question.confidence},
                        {"load", nullptr}};
  for (const Duration delay : question.delays) out["delays_to_judge_ms"].push_back(to_milliseconds(delay));
  if (question.load) out["load"] = *question.load;
  return out;
}

nlohmann::json load_json(const Advice& advice) {
  if (!advice.load_model) return nullptr;
  const LoadModel& model = *advice.load_model;
  nlohmann::json out = {{"measured_at", model.measured_load()},
                        {"mean_latency_ms", to_milliseconds(model.mean_latency())},
                        {"mean_service_ms", to_milliseconds(model.mean_service())},
                        {"mean_wait_ms", to_milliseconds(model.mean_wait(model.measured_load()))}};
  if (!advice.harmful) return out;
  const HarmfulLoad& harmful = *advice.harmful;
  out["compared_at_quantile"] = harmful.quantile;
  out["harmful_from"] = {{"independent_waits", harmful.independent}, {"waits_alike", harmful.alike}};
  out["full_from"] = harmful.full;
  out["points"] = nlohmann::json::array();
  for (const LoadPoint& point : harmful.points) {
    out["points"].push_back({{"load", point.load},
                             {"hedged_load", point.hedged_load},
                             {"independent_waits", {{"without_ms", to_milliseconds(point.without)}, {"with_ms", milliseconds_or_null(point.with)}}},
                             {"waits_alike", {{"without_ms", to_milliseconds(point.without_alike)}, {"with_ms", milliseconds_or_null(point.with_alike)}}}});
  }
  return out;
}

nlohmann::json share_or_null(const std::optional<double>& share) { return share ? nlohmann::json(*share) : nlohmann::json(); }

std::string target_or_beyond(const std::optional<Duration>& time) { return time ? milliseconds_text(*time) : "beyond the samples"; }

// A line of a table of what is with hedges and without; where nothing is hedged the two are the same, and told once.
std::string estimates_line(const std::string& name, const TimeEstimate& without, const TimeEstimate& with, bool hedged) {
  if (!hedged) return worded("%-9s %s\n", name.c_str(), estimate_text(without).c_str());
  return worded("%-9s %-44s %s\n", name.c_str(), estimate_text(without).c_str(), estimate_text(with).c_str());
}

}  // namespace

std::string milliseconds_text(Duration time) {
  const double ms = to_milliseconds(time);
  if (ms >= 999.5) return worded("%.0f ms", ms);
  return worded("%.4g ms", ms);
}

std::string quantile_text(double quantile) { return worded("p%.8g", 100 * quantile); }

std::string rough_quantile_text(double quantile) {
  const double scale = std::pow(10, std::ceil(-std::log10(1 - quantile)) + 1);
  return quantile_text(std::round(quantile * scale) / scale);
}

std::string percent_text(double share) {
  // 99.99 % is not 100 %, and 0.001 % not nothing.
  if (share > 0.99 && share < 1) return worded("%.8g %%", 100 * share);
  if (share != 0 && share < 0.001) return worded("%.2g %%", 100 * share);
  return worded("%.3g %%", 100 * share);
}

std::string samples_text(const AdviceQuestion& question) {
  const LatencyCounts& latencies = question.latencies;
  std::string text = worded("%llu latencies of %s", static_cast<unsigned long long>(latencies.count() + question.given_up.count()),
                            question.samples_of == SamplesOf::queries ? "queries" : "attempts");
  if (question.given_up.count() > 0) text += worded(", %llu of them given up", static_cast<unsigned long long>(question.given_up.count()));
  return text + worded(": from %s to %s, half of them within %s.", milliseconds_text(latencies.shortest()).c_str(),
                       milliseconds_text(latencies.longest()).c_str(), milliseconds_text(latencies.at_quantile(0.5)).c_str());
}

std::string delays_text(const Hedges& hedges) {
  std::string text;
  for (std::size_t i = 0; i < hedges.delays.size(); ++i) {
    if (i > 0) text += i + 1 == hedges.delays.size() ? " and " : ", ";
    text += milliseconds_text(hedges.delays[i]);
  }
  return text;
}

std::string hedges_text(const Hedges& hedges) {
  if (hedges.delays.empty()) return "never";
  std::string text = "after " + delays_text(hedges);
  if (hedges.delays.size() > 1) text += ", each time at another replica";
  if (hedges.probability < 1) text += worded(", in %.2g of the cases, drawn at random", hedges.probability);
  return text;
}

std::string estimate_text(const TimeEstimate& estimate) {
  if (!estimate.time) return "beyond the samples: at least " + milliseconds_text(estimate.at_least);
  if (!estimate.at_most) return milliseconds_text(*estimate.time) + " (at least " + milliseconds_text(estimate.at_least) + ")";
  return milliseconds_text(*estimate.time) + " (" + milliseconds_text(estimate.at_least) + " to " + milliseconds_text(*estimate.at_most) + ")";
}

std::string verdict_text(const AdviceQuestion& question, const Advice& advice) {
  const QuantileAdvice& target = advice.at_target(question);
  const std::string name = quantile_text(question.target);
  const std::string hedge = "Hedge " + hedges_text(advice.hedges) + ": " + percent_text(advice.extra.share) + " more attempts. " + name +
                            " of queries: " + estimate_text(target.with) + ", and without hedges " + estimate_text(target.without) + ".";
  const std::string unhedged = name + " of queries: " + estimate_text(target.without) + ".";
  switch (advice.verdict) {
    case Verdict::hedge: return hedge;
    case Verdict::no_replica:
      return (question.replicas < 2 ? "With one replica nobody else can be asked: nothing can be hedged. " : "Nothing is hedged, as was wished. ") + unhedged;
    case Verdict::too_few_samples:
      return "Too few samples to rely on. As far as they tell: " + (advice.hedges.delays.empty() ? "hedging gains nothing. " + unhedged : hedge);
    case Verdict::no_gain:
      if (!question.delays.empty()) {
        return "Hedging " + hedges_text(advice.hedges) + " does not make " + name + " of queries " + percent_text(policy::least_gain) + " earlier, and costs " +
               percent_text(advice.extra.share) + " more attempts. " + unhedged;
      }
      return "Do not hedge: within " + percent_text(question.budget) + " more attempts nothing makes " + name + " of queries " +
             percent_text(policy::least_gain) + " earlier. " + unhedged;
    case Verdict::harmful:
      return "Do not hedge" + (question.delays.empty() ? std::string() : " " + hedges_text(advice.hedges)) + " at this load: servers that work " + percent_text(*question.load) + " of the time answer later with hedges than without, from " +
             percent_text(advice.harmful->independent) + " on even where they wait independently of each other.";
  }
  return {};
}

std::string load_text(const AdviceQuestion& question, const Advice& advice) {
  if (question.samples_of == SamplesOf::queries && question.load) return "Whole queries say nothing of how servers wait: for the load, give samples of attempts.";
  if (!advice.load_model) return "Without --load nothing can be said of the load at which hedging turns harmful.";
  const LoadModel& model = *advice.load_model;
  std::string text = "At a load of " + percent_text(model.measured_load()) + ", " + milliseconds_text(model.mean_service()) + " of the mean latency of " +
                     milliseconds_text(model.mean_latency()) + " are work, as a queue's law has it.";
  if (!advice.harmful) return text;
  const HarmfulLoad& harmful = *advice.harmful;
  // (Each at its own load the best delays, or those that are to be judged at all.)
  text += (question.delays.empty() ? " Hedging makes " : " Hedging " + hedges_text(advice.hedges) + " makes ") + rough_quantile_text(harmful.quantile) + " of queries later from a load of ";
  const double low = std::min(harmful.alike, harmful.independent), high = std::max(harmful.alike, harmful.independent);
  text += high - low < 0.005 ? percent_text(low) + " on." : percent_text(low) + " on where all replicas wait alike (every query asks every server), from " +
                                                        percent_text(high) + " on where they wait independently.";
  text += " Where losers are cancelled at once it is later. From " + percent_text(harmful.full) +
          (question.delays.empty() ? " on the servers could not keep up with the whole budget." : " on the servers could not keep up, for nothing bounds these hedges.");
  return text;
}

std::string advice_text(const AdviceQuestion& question, const Advice& advice) {
  std::string text = verdict_text(question, advice) + "\n\n";
  text += samples_text(question) + "\n";
  text += worded("Width %zu, %zu %s, a budget of %s. Intervals hold with %s.\n\n", question.width, question.replicas,
                 question.replicas == 1 ? "replica" : "replicas", percent_text(question.budget).c_str(), percent_text(question.confidence).c_str());

  if (advice.overhead > Duration{}) text += "A query takes " + milliseconds_text(advice.overhead) + " beside its attempts.\n";
  if (advice.query_check) {
    text += worded("Unhedged queries: %s measured at %s, %s by their attempts, as of %.3g independent ones.\n", milliseconds_text(advice.query_check->measured).c_str(),
                   quantile_text(advice.query_check->quantile).c_str(), milliseconds_text(advice.query_check->predicted).c_str(), advice.query_check->effective_width);
  }
  if (advice.overhead > Duration{} || advice.query_check) text += "\n";
  const bool hedged = !advice.hedges.delays.empty();
  text += hedged ? worded("%-9s %-44s %s\n", "queries", "without hedges", "with") : "queries   without hedges\n";
  for (const QuantileAdvice& each : advice.quantiles) text += estimates_line(quantile_text(each.quantile), each.without, each.with, hedged);
  text += worded("\nA deadline that leaves %s of queries with a completeness of\n", percent_text(question.target).c_str());
  for (const DeadlineAdvice& each : advice.deadlines) text += estimates_line(percent_text(each.completeness), each.without, each.with, hedged);
  if (!advice.budgets.empty()) {
    text += worded("\n%-9s %-22s %s\n", "budget", (quantile_text(question.target) + " of queries").c_str(), "hedge");
    for (const BudgetAdvice& each : advice.budgets) {
      text += worded("%-9s %-22s %s\n", percent_text(each.budget).c_str(), target_or_beyond(each.target).c_str(), hedges_text(each.hedges).c_str());
    }
    for (const RuleAdvice& each : advice.rules) {
      text += worded("%-9s %-22s one hedge at %s of attempts, %s\n", percent_text(each.extra).c_str(), target_or_beyond(each.target).c_str(),
                     quantile_text(each.quantile).c_str(), hedges_text(each.hedges).c_str());
    }
  }
  if (!advice.shared.empty()) {
    text += "\nOf the slow attempts, slow at every replica\n";
    for (const SharedAdvice& each : advice.shared) text += worded("%-9s %s\n", percent_text(each.shared).c_str(), target_or_beyond(each.target).c_str());
  }
  if (advice.asked_again) {
    const AskedAgain& again = *advice.asked_again;
    text += worded("Of %llu that were asked again %llu were slow again: %s to %s of the slow attempts are slow everywhere, and %s of queries is between %s and %s.\n",
                   static_cast<unsigned long long>(question.asked_again), static_cast<unsigned long long>(question.slow_again),
                   percent_text(again.shared.least).c_str(), percent_text(again.shared.most).c_str(), quantile_text(question.target).c_str(),
                   target_or_beyond(again.target_at_least).c_str(), target_or_beyond(again.target_at_most).c_str());
  }
  text += "\n" + load_text(question, advice) + "\n";
  for (const auto& note : advice.notes) text += "\n- " + note;
  if (!advice.notes.empty()) text += "\n";
  return text;
}

nlohmann::json advice_json(const AdviceQuestion& question, const Advice& advice) {
  nlohmann::json out;
  out["question"] = question_json(question);
  out["verdict"] = to_string(advice.verdict);
  out["advice"] = verdict_text(question, advice);
  out["plan"] = hedges_json(advice.hedges);
  out["plan"]["extra_share"] = advice.extra.share;
  out["plan"]["extra_share_at_least"] = advice.extra.least;
  out["plan"]["extra_share_at_most"] = advice.extra.most;
  out["plan"]["shortest_delay_ms"] = to_milliseconds(advice.shortest_delay);
  out["late_share"] = advice.late_share;
  out["overhead_ms"] = to_milliseconds(advice.overhead);
  out["queries"] = nullptr;
  if (advice.query_check) {
    out["queries"] = {{"quantile", advice.query_check->quantile},
                      {"measured_ms", to_milliseconds(advice.query_check->measured)},
                      {"predicted_ms", to_milliseconds(advice.query_check->predicted)},
                      {"effective_width", advice.query_check->effective_width}};
  }
  out["samples_that_tell_the_target_unhedged"] = advice.samples_for_target;
  out["quantiles"] = nlohmann::json::array();
  for (const QuantileAdvice& each : advice.quantiles) {
    out["quantiles"].push_back({{"quantile", each.quantile}, {"without", estimate_json(each.without)}, {"with", estimate_json(each.with)}});
  }
  out["deadlines"] = nlohmann::json::array();
  for (const DeadlineAdvice& each : advice.deadlines) {
    out["deadlines"].push_back({{"completeness", each.completeness},
                                {"partitions", each.needed},
                                {"share_of_queries", question.target},
                                {"without", estimate_json(each.without)},
                                {"with", estimate_json(each.with)},
                                {"mean_completeness_without", share_or_null(each.mean_without)},
                                {"mean_completeness_with", share_or_null(each.mean_with)}});
  }
  out["budgets"] = nlohmann::json::array();
  for (const BudgetAdvice& each : advice.budgets) {
    auto row = hedges_json(each.hedges);
    row["budget"] = each.budget;
    row["extra_share"] = each.extra;
    row["target_ms"] = milliseconds_or_null(each.target);
    out["budgets"].push_back(std::move(row));
  }
  out["rules"] = nlohmann::json::array();
  for (const RuleAdvice& each : advice.rules) {
    auto row = hedges_json(each.hedges);
    row["quantile"] = each.quantile;
    row["extra_share"] = each.extra;
    row["target_ms"] = milliseconds_or_null(each.target);
    out["rules"].push_back(std::move(row));
  }
  out["shared"] = nlohmann::json::array();
  for (const SharedAdvice& each : advice.shared) out["shared"].push_back({{"shared", each.shared}, {"target_ms", milliseconds_or_null(each.target)}});
  out["asked_again"] = nullptr;
  if (advice.asked_again) {
    out["asked_again"] = {{"asked", question.asked_again},
                          {"slow", question.slow_again},
                          {"shared", advice.asked_again->shared.share},
                          {"shared_at_least", advice.asked_again->shared.least},
                          {"shared_at_most", advice.asked_again->shared.most},
                          {"target_at_least_ms", milliseconds_or_null(advice.asked_again->target_at_least)},
                          {"target_at_most_ms", milliseconds_or_null(advice.asked_again->target_at_most)}};
  }
  out["halves"] = nullptr;
  if (advice.cross_check) {
    out["halves"] = {{"target_ms", milliseconds_or_null(advice.cross_check->target)}, {"extra_share", advice.cross_check->extra}};
  }
  out["load"] = load_json(advice);
  out["notes"] = advice.notes;
  return out;
}

}  // namespace hedgerow::lab
