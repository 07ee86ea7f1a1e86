#include "lab/sweep/charts.hpp"

#include <algorithm>
#include <set>

namespace hedgerow::lab::sweep {

namespace {

using report::Chart;
using report::Series;

// What becomes part of a chart's name on its page.
std::string slug(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool capital = c >= 'A' && c <= 'Z';
    if (letter || capital) {
      out += capital ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  while (out.ends_with('-')) out.pop_back();
  return out;
}

// As a title begins; nDCG stays as it is written.
std::string capitalised(std::string text) {
  const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
  if (text.size() > 1 && is_small(text[0]) && is_small(text[1])) text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

// A line of a chart: a policy at a width.
struct Line {
  std::string policy;
  std::optional<std::uint32_t> fanout;
  friend bool operator==(const Line&, const Line&) = default;
};

template <class T, class Of>
std::vector<T> distinct(const std::vector<Side>& sides, const std::string& faults, Of&& of) {
  std::vector<T> out;
  for (const Side& side : sides) {
    for (const SweepPoint& point : side.results->points) {
      if (point.faults != faults) continue;
      const T value = of(point);
      if (std::find(out.begin(), out.end(), value) == out.end()) out.push_back(value);
    }
  }
  return out;
}

using Width = std::optional<std::uint32_t>;
std::vector<Line> lines_of(const std::vector<Side>& sides, const std::string& faults) {
  return distinct<Line>(sides, faults, [](const SweepPoint& point) { return Line{point.policy, point.fanout}; });
}
std::vector<Width> widths_of(const std::vector<Side>& sides, const std::string& faults) {
  return distinct<Width>(sides, faults, [](const SweepPoint& point) { return point.fanout; });
}

std::string width_text(const Width& fanout) {
  return fanout ? std::to_string(*fanout) + (*fanout == 1 ? " partition" : " partitions") : "all partitions";
}

// The points of a line, from the shortest deadline on.
std::vector<std::size_t> points_on(const SweepResults& results, const std::string& faults, const Line& line) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < results.points.size(); ++i) {
    const SweepPoint& point = results.points[i];
    if (point.faults == faults && point.policy == line.policy && point.fanout == line.fanout) places.push_back(i);
  }
  std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) { return results.points[a].deadline < results.points[b].deadline; });
  return places;
}

std::optional<report::Point> point_of(const SweepResults& results, std::size_t place, const Measure& latency, const Measure& gain) {
  const auto x = spread_of(results, place, latency), y = spread_of(results, place, gain);
  if (!x || !y) return std::nullopt;
  report::Point point{.x = x->mean, .y = y->mean, .low = std::nullopt, .high = std::nullopt,
                      .label = "deadline " + format_duration(results.points[place].deadline)};
  if (y->repetitions > 1) {
    point.low = y->least;
    point.high = y->most;
  }
  return point;
}

// What every line of a chart has in common need not stand in its name.
std::string line_name(const Line& line, bool with_policy, bool with_width, const Side& side) {
  std::string name = with_policy ? line.policy : "";
  if (with_width || name.empty()) name += (name.empty() ? "" : ", ") + width_text(line.fanout);
  return side.name.empty() ? name : name + " (" + side.name + ")";
}

Series frontier_series(const SweepResults& results, const std::string& faults, const std::vector<Line>& lines, const Measure& latency,
                       const Measure& gain) {
  std::vector<std::size_t> places;
  for (const Line& line : lines) {
    const auto on_line = points_on(results, faults, line);
    places.insert(places.end(), on_line.begin(), on_line.end());
  }
  Series series{.name = "frontier", .points = {}, .mark = report::Mark::line, .dashed = true};
  for (const std::size_t place : frontier(results, places, latency, gain)) {
    auto point = point_of(results, place, latency, gain);
    if (!point) continue;
    point->low.reset();
    point->high.reset();
    point->label = to_text(results.points[place]);
    series.points.push_back(std::move(*point));
  }
  return series;
}

Chart gain_chart(const std::vector<Side>& sides, const std::string& faults, const std::vector<Line>& lines, const Width* width,
                 const Measure& latency, const Measure& gain) {
  std::set<std::string> policies;
  for (const Line& line : lines) policies.insert(line.policy);
  const bool several_policies = policies.size() > 1, several_widths = policies.size() < lines.size();

  Chart chart;
  const std::string suffix = width ? "-" + slug(width_text(*width)) : "";
  chart.name = slug(gain.key) + "-" + slug(faults) + suffix;
  chart.title = std::string(gain.title) + " against latency" + (width ? ", " + width_text(*width) : "");
  chart.title = capitalised(chart.title);
  chart.caption = "Each mark is a deadline, from the shortest to the longest along its line; up and to the left is better. "
                  "Marks are means over repetitions, bars reach from the least to the most of them.";
  chart.x = report::latency_axis(latency.title);
  chart.y = {.title = gain.title, .percent = true};
  for (const Side& side : sides) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      Series series{.name = line_name(lines[i], several_policies || !several_widths, several_widths, side), .points = {}};
      series.dashed = &side != &sides.front();
      series.colour = static_cast<unsigned>(i);
      for (const std::size_t place : points_on(*side.results, faults, lines[i])) {
        if (auto point = point_of(*side.results, place, latency, gain)) series.points.push_back(std::move(*point));
      }
      if (!series.points.empty()) chart.series.push_back(std::move(series));
    }
  }
  if (sides.size() == 1 && lines.size() > 1) {
    auto best = frontier_series(*sides.front().results, faults, lines, latency, gain);
    best.colour = static_cast<unsigned>(lines.size());
    if (best.points.size() > 1) {
      chart.caption += " The dashed frontier joins what no other combination beats in both.";
      chart.series.push_back(std::move(best));
    }
  }
  return chart;
}

bool anywhere(const std::vector<Side>& sides, const Measure& measure) {
  return std::any_of(sides.begin(), sides.end(), [&](const Side& side) {
    return std::any_of(side.results->runs.begin(), side.results->runs.end(), [&](const Run& run) { return measure.of(run.figures).has_value(); });
  });
}

}  // namespace

std::vector<std::string> fault_names(const std::vector<Side>& sides) {
  std::vector<std::string> names;
  for (const Side& side : sides) {
    for (const SweepPoint& point : side.results->points) {
      if (std::find(names.begin(), names.end(), point.faults) == names.end()) names.push_back(point.faults);
    }
  }
  return names;
}

const Measure& charted_latency(const std::vector<Side>& sides) {
  for (const char* key : {"p99_ms", "p90_ms"}) {
    if (anywhere(sides, measure(key))) return measure(key);
  }
  return measure("p50_ms");
}

std::vector<const Measure*> charted_gains(const std::vector<Side>& sides) {
  std::vector<const Measure*> gains;
  for (const char* key : {"completeness", "recall", "ndcg"}) {
    if (anywhere(sides, measure(key))) gains.push_back(&measure(key));
  }
  return gains;
}

std::vector<Chart> gain_charts(const std::vector<Side>& sides, const std::string& faults, const Measure& latency, const Measure& gain) {
  const auto lines = lines_of(sides, faults);
  std::vector<Chart> charts;
  // The frontier is a line as well.
  if (lines.size() < report::colours) {
    charts.push_back(gain_chart(sides, faults, lines, nullptr, latency, gain));
  } else {
    for (const Width& width : widths_of(sides, faults)) {
      std::vector<Line> of_width;
      std::copy_if(lines.begin(), lines.end(), std::back_inserter(of_width), [&](const Line& line) { return line.fanout == width; });
      charts.push_back(gain_chart(sides, faults, of_width, &width, latency, gain));
    }
  }
  std::erase_if(charts, [](const Chart& chart) { return chart.series.empty(); });
  return charts;
}

std::vector<Chart> latency_charts(const std::vector<Side>& sides, const std::string& faults) {
  std::vector<Chart> charts;
  const auto widths = widths_of(sides, faults);
  const auto policies = distinct<std::string>(sides, faults, [](const SweepPoint& point) { return point.policy; });
  auto deadlines = distinct<Duration>(sides, faults, [](const SweepPoint& point) { return point.deadline; });
  const bool every_deadline = policies.size() * deadlines.size() * sides.size() <= report::colours;
  if (!every_deadline) deadlines = {*std::max_element(deadlines.begin(), deadlines.end())};
  for (const Width& width : widths) {
    Chart chart;
    chart.name = "latency-" + slug(faults) + "-" + slug(width_text(width));
    chart.title = "Latencies" + (widths.size() > 1 ? ", " + width_text(width) : "") +
                  (every_deadline ? "" : ", at the longest deadline, " + format_duration(deadlines.front()));
    chart.caption = "Read across: within which time which share of the answers came. Measured from the instant at which a query should "
                    "have been sent; all repetitions together.";
    chart.x = report::quantile_axis();
    chart.y = report::latency_axis();
    for (const Side& side : sides) {
      unsigned colour = 0;
      for (const auto& policy : policies) {
        for (const Duration deadline : deadlines) {
          const auto place = std::find(side.results->points.begin(), side.results->points.end(), SweepPoint{deadline, width, policy, faults});
          const unsigned own_colour = colour++;
          if (place == side.results->points.end()) continue;
          const Histogram latencies = side.results->latency_of(static_cast<std::size_t>(place - side.results->points.begin()));
          if (latencies.count() == 0) continue;
          std::string name = policies.size() > 1 || deadlines.size() == 1 ? policy : "";
          if (deadlines.size() > 1) name += (name.empty() ? "" : ", ") + format_duration(deadline);
          auto series = report::latency_curve(side.name.empty() ? name : name + " (" + side.name + ")", latencies);
          series.colour = own_colour;
          series.dashed = &side != &sides.front();
          chart.series.push_back(std::move(series));
        }
      }
    }
    if (!chart.series.empty()) charts.push_back(std::move(chart));
  }
  return charts;
}

}  // namespace hedgerow::lab::sweep
