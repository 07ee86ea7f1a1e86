#include "lab/sweep/comparison.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstdio>
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

// Times as logarithms: their differences are ratios, and so is their resolution.
std::vector<double> compared_values(const SweepResults& results, std::size_t point, const Measure& measure) {
  auto values = samples_of(results, point, measure);
  if (measure.kind != Measure::Kind::time) return values;
  for (double& value : values) value = std::log(std::max(value, 1e-6));
  return values;
}

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
  const boost::math::students_t distribution(freedom);
  return std::min(1.0, 2 * boost::math::cdf(boost::math::complement(distribution, std::abs(t))));
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
  std::vector<double> p;
  std::vector<std::size_t> tested;
  for (std::size_t place = 0; place < a.points.size(); ++place) {
    const auto other = std::find(b.points.begin(), b.points.end(), a.points[place]);
    if (other == b.points.end()) {
      out.only_a.push_back(a.points[place]);
      continue;
    }
    const auto other_place = static_cast<std::size_t>(other - b.points.begin());
    for (const Measure& measure : measures()) {
      const auto of_a = spread_of(a, place, measure), of_b = spread_of(b, other_place, measure);
      if (!of_a || !of_b) continue;
      ++out.compared;
      out.differences.push_back({a.points[place], &measure, place, other_place, of_a->mean, of_b->mean, std::nullopt});
      if (of_a->repetitions < 2 || of_b->repetitions < 2) {
        ++out.too_few;
        continue;
      }
      tested.push_back(out.differences.size() - 1);
      p.push_back(welch_p(compared_values(a, place, measure), compared_values(b, other_place, measure), measure.resolution));
    }
  }
  const auto corrected = holm(p);
  for (std::size_t i = 0; i < tested.size(); ++i) {
    out.differences[tested[i]].p = corrected[i];
    if (corrected[i] < significance) ++out.beyond_noise;
  }
  for (const SweepPoint& point : b.points) {
    if (std::find(a.points.begin(), a.points.end(), point) == a.points.end()) out.only_b.push_back(point);
  }
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
