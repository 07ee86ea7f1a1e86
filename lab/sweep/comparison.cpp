#include "lab/sweep/comparison.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>

#include "lab/sweep/summary.hpp"

namespace hedgerow::lab::sweep {

namespace {

using nlohmann::ordered_json;

struct Moments {
  double mean = 0, variance = 0, count = 0;
};

Moments moments_of(const std::vector<double>& sample, double resolution) {
  Moments out;
  out.count = static_cast<double>(sample.size());
  out.mean = std::accumulate(sample.begin(), sample.end(), 0.0) / out.count;
  for (const double value : sample) out.variance += (value - out.mean) * (value - out.mean);
  out.variance = out.variance / (out.count - 1) + resolution * resolution / 12;
  return out;
}

// By repetition. Times as logarithms: their differences are ratios, and so is their resolution.
using Sample = std::map<std::uint64_t, double>;
Sample sample_of(const SweepResults& results, std::size_t point, const Measure& measure) {
  Sample sample;
  for (const Run& run : results.runs) {
    if (run.point != point) continue;
    const auto value = measure.of(run.figures);
    if (value) sample[run.repetition] = measure.kind == Measure::Kind::time ? std::log(std::max(*value, 1e-6)) : *value;
  }
  return sample;
}

// The p value of two samples; none where there is too little of them.
using Test = std::optional<double> (*)(const Sample& a, const Sample& b, double resolution);

std::optional<double> welch(const Sample& a, const Sample& b, double resolution) {
  if (a.size() < 2 || b.size() < 2) return std::nullopt;
  const auto values = [](const Sample& sample) {
    std::vector<double> out;
    for (const auto& [repetition, value] : sample) out.push_back(value);
    return out;
  };
  return welch_p(values(a), values(b), resolution);
}

std::optional<double> paired(const Sample& a, const Sample& b, double resolution) {
  std::vector<double> differences;
  for (const auto& [repetition, value] : a) {
    if (const auto other = b.find(repetition); other != b.end()) differences.push_back(other->second - value);
  }
  if (differences.size() < 2) return std::nullopt;
  return paired_p(differences, resolution);
}

// Two-sided.
double student_p(double t, double freedom) {
  const boost::math::students_t distribution(freedom);
  return std::min(1.0, 2 * boost::math::cdf(boost::math::complement(distribution, std::abs(t))));
}

// Puts differences into a comparison, and corrects their p values when all are there.
class Tests {
 public:
  Tests(const SweepResults& a, const SweepResults& b, Comparison& out) : a_(a), b_(b), out_(out) {}

  void add(std::size_t a_point, std::size_t b_point, Test test) {
    for (const Measure& measure : measures()) {
      const auto of_a = spread_of(a_, a_point, measure), of_b = spread_of(b_, b_point, measure);
      if (!of_a || !of_b) continue;
      ++out_.compared;
      out_.differences.push_back({b_.points[b_point], &measure, a_point, b_point, of_a->mean, of_b->mean, std::nullopt});
      const auto p = test(sample_of(a_, a_point, measure), sample_of(b_, b_point, measure), measure.resolution);
      if (!p) {
        ++out_.too_few;
        continue;
      }
      tested_.push_back(out_.differences.size() - 1);
      p_.push_back(*p);
    }
  }

  void finish() {
    const auto corrected = holm(p_);
    for (std::size_t i = 0; i < tested_.size(); ++i) {
      out_.differences[tested_[i]].p = corrected[i];
      if (corrected[i] < significance) ++out_.beyond_noise;
    }
  }

 private:
  const SweepResults &a_, &b_;
  Comparison& out_;
  std::vector<std::size_t> tested_;
  std::vector<double> p_;
};

// Every value of a JSON object by its path.
void flatten(const ordered_json& json, const std::string& path, std::vector<std::pair<std::string, std::string>>& out) {
  if (!json.is_object()) {
    out.emplace_back(path, json.dump());
    return;
  }
  for (const auto& [name, value] : json.items()) flatten(value, path.empty() ? name : path + "." + name, out);
}

std::vector<std::string> different_settings(const SweepResults& a, const SweepResults& b) {
  std::vector<std::string> out;
  if (a.world != b.world) out.push_back("world: " + a.world + ", " + b.world);
  if (!a.plan || !b.plan) return out;
  const auto settings = [](const SweepPlan& plan) {
    auto json = to_json(plan);
    // Points are matched one by one, and a name or a seed changes nothing that is measured.
    for (const char* name : {"name", "deadlines", "fanouts", "seed"}) json.erase(name);
    std::vector<std::pair<std::string, std::string>> flat;
    // Of policies and faults, those of one name should be the same.
    for (const char* list : {"policies", "faults"}) {
      const auto entries = json[list];
      json.erase(list);
      for (const auto& entry : entries) {
        auto rest = entry;
        rest.erase("name");
        flat.emplace_back(std::string(list) + " '" + entry["name"].get<std::string>() + "'", rest.dump());
      }
    }
    flatten(json, "", flat);
    return flat;
  };
  const auto of_a = settings(*a.plan), of_b = settings(*b.plan);
  for (const auto& [path, value] : of_a) {
    const auto other = std::find_if(of_b.begin(), of_b.end(), [&](const auto& entry) { return entry.first == path; });
    if (other != of_b.end() && other->second != value) out.push_back(path + ": " + value + ", " + other->second);
  }
  return out;
}

std::string percent(double share, int places) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", places, std::abs(share) * 100);
  return text;
}

}  // namespace

double welch_p(const std::vector<double>& a, const std::vector<double>& b, double resolution) {
  const Moments of_a = moments_of(a, resolution), of_b = moments_of(b, resolution);
  const double error_a = of_a.variance / of_a.count, error_b = of_b.variance / of_b.count;
  const double error = error_a + error_b;
  if (!(error > 0)) return of_a.mean == of_b.mean ? 1 : 0;
  const double t = (of_a.mean - of_b.mean) / std::sqrt(error);
  const double freedom = error * error / (error_a * error_a / (of_a.count - 1) + error_b * error_b / (of_b.count - 1));
  return student_p(t, freedom);
}

double paired_p(const std::vector<double>& differences, double resolution) {
  // Both figures of a pair are resolved no better.
  const Moments moments = moments_of(differences, resolution * std::sqrt(2.0));
  const double error = moments.variance / moments.count;
  if (!(error > 0)) return moments.mean == 0 ? 1 : 0;
  return student_p(moments.mean / std::sqrt(error), moments.count - 1);
}

std::vector<double> holm(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return p[x] < p[y]; });
  std::vector<double> corrected(p.size());
  double highest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    highest = std::max(highest, std::min(1.0, p[order[rank]] * static_cast<double>(p.size() - rank)));
    corrected[order[rank]] = highest;
  }
  return corrected;
}

std::string Difference::change_text() const {
  if (a == b) return "the same";
  const bool more = b > a;
  if (measure->kind == Measure::Kind::share || !(a > 0)) {
    // Of percentages the difference is told in points, or 2 % and 4 % would be 100 % apart.
    return percent(b - a, 2) + (more ? " points more" : " points less");
  }
  const double ratio = b / a;
  if (ratio >= 2 || ratio <= 0.5) {
    char text[64];
    std::snprintf(text, sizeof(text), "%.1f times %s", more ? ratio : 1 / ratio, more ? "longer" : "shorter");
    return text;
  }
  return percent(ratio - 1, 1) + (more ? " % longer" : " % shorter");
}

Comparison compare(const SweepResults& a, const SweepResults& b) {
  Comparison out;
  out.settings = different_settings(a, b);
  Tests tests(a, b, out);
  for (std::size_t place = 0; place < a.points.size(); ++place) {
    const auto other = std::find(b.points.begin(), b.points.end(), a.points[place]);
    if (other == b.points.end()) {
      out.only_a.push_back(a.points[place]);
    } else {
      tests.add(place, static_cast<std::size_t>(other - b.points.begin()), welch);
    }
  }
  tests.finish();
  for (const SweepPoint& point : b.points) {
    if (std::find(a.points.begin(), a.points.end(), point) == a.points.end()) out.only_b.push_back(point);
  }
  return out;
}

Comparison compare_policies(const SweepResults& results) {
  Comparison out;
  Tests tests(results, results, out);
  for (std::size_t place = 0; place < results.points.size(); ++place) {
    SweepPoint partner = results.points[place];
    partner.policy = results.points.front().policy;
    const auto first = std::find(results.points.begin(), results.points.end(), partner);
    const auto first_place = static_cast<std::size_t>(first - results.points.begin());
    if (first != results.points.end() && first_place != place) tests.add(first_place, place, paired);
  }
  tests.finish();
  return out;
}

ordered_json to_json(const Comparison& comparison) {
  ordered_json out{{"test", "Welch's t test of the repetitions (times: of their logarithms), two-sided, corrected by Holm's method over all comparisons"},
                   {"significance", significance},
                   {"compared", comparison.compared},
                   {"too_few_repetitions", comparison.too_few},
                   {"beyond_noise", comparison.beyond_noise},
                   {"settings_that_differ", comparison.settings},
                   {"differences", ordered_json::array()}};
  for (const Difference& difference : comparison.differences) {
    out["differences"].push_back({{"deadline", format_duration(difference.point.deadline)},
                                  {"fanout", fanout_text(difference.point.fanout)},
                                  {"policy", difference.point.policy},
                                  {"faults", difference.point.faults},
                                  {"measure", difference.measure->key},
                                  {"a", difference.a},
                                  {"b", difference.b},
                                  {"p", difference.p ? ordered_json(*difference.p) : ordered_json()},
                                  {"beyond_noise", difference.beyond_noise()},
                                  {"better", difference.better()}});
  }
  const auto points = [](const std::vector<SweepPoint>& list) {
    ordered_json json = ordered_json::array();
    for (const SweepPoint& point : list) json.push_back(to_text(point));
    return json;
  };
  out["only_in_a"] = points(comparison.only_a);
  out["only_in_b"] = points(comparison.only_b);
  return out;
}

std::string to_text(const Comparison& comparison) {
  std::string out = std::to_string(comparison.compared) + " figures compared, " + std::to_string(comparison.beyond_noise) +
                    " differ beyond noise (Welch's t test over repetitions, Holm's correction, 5 %)\n";
  for (const auto& setting : comparison.settings) out += "run differently: " + setting + "\n";
  if (comparison.too_few > 0) {
    out += std::to_string(comparison.too_few) + " cannot be told from noise: a side has fewer than two repetitions\n";
  }
  for (const Difference& difference : comparison.differences) {
    if (!difference.beyond_noise()) continue;
    char p[32];
    std::snprintf(p, sizeof(p), "%.2g", *difference.p);
    out += to_text(difference.point) + ": " + difference.measure->title + " " + figure_text(*difference.measure, difference.a) + " → " +
           figure_text(*difference.measure, difference.b) + ", " + difference.change_text() + (difference.better() ? ", better" : ", worse") +
           " (p " + p + ")\n";
  }
  for (const SweepPoint& point : comparison.only_a) out += "only in A: " + to_text(point) + "\n";
  for (const SweepPoint& point : comparison.only_b) out += "only in B: " + to_text(point) + "\n";
  return out;
}

}  // namespace hedgerow::lab::sweep
