#include "lab/report/svg.hpp"

#include <algorithm>
#include <cmath>

#include "lab/report/marks.hpp"
#include "lab/report/markup.hpp"

namespace hedgerow::lab::report {

namespace {

constexpr double text_size = 13, title_size = 17;
// Of the usual sans-serif faces, an average letter; only space is reckoned with it.
constexpr double letter_width = 7.1;
constexpr double line_height = 20;
// Between the names of rules that would stand over each other.
constexpr double rule_name_height = 16;

// Letters, not bytes.
double width_of(const std::string& text) {
  const auto letters = std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
  return static_cast<double>(letters) * letter_width;
}

class Drawing {
 public:
  Drawing(const Chart& chart, const SvgSettings& settings)
      : chart_(chart), settings_(settings), extent_x_(extent_of_x(chart)), extent_y_(extent_of_y(chart)),
        light_(settings.ground == SvgSettings::Ground::light), text_(light_ ? "#1d2127" : "var(--text)"),
        quiet_(light_ ? "#565f6b" : "var(--quiet)"), grid_(light_ ? "#e2e5ea" : "var(--line)") {
    right_ = settings.width - 16.0;
    top_ = 14;
    bottom_ = settings.height - 46.0;
    if (settings.with_title) top_ += 24;
    lay_out_legend();
    top_ += 24;  // the title of the y axis
    y_ticks_ = ticks_of(chart.y, extent_y_.least, extent_y_.most, static_cast<std::size_t>((bottom_ - top_) / 44));
    double widest = 0;
    for (const Tick& tick : y_ticks_) widest = std::max(widest, width_of(tick.label));
    left_ = 22 + widest;
    x_ticks_ = ticks_of(chart.x, extent_x_.least, extent_x_.most, static_cast<std::size_t>((right_ - left_) / 76));
    // The last label stands half beyond the axis.
    if (!x_ticks_.empty()) right_ = std::min(right_, settings.width - 4 - width_of(x_ticks_.back().label) / 2);
  }

  std::string draw() {
    const std::string width = svg_number(settings_.width), height = svg_number(settings_.height);
    out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + width + " " + height + "\" width=\"" + width +
           "\" height=\"" + height + "\" role=\"img\" font-family=\"system-ui, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif\" font-size=\"" +
           svg_number(text_size) + "\">\n<title>" + escaped(chart_.title) + "</title>\n<desc>" + escaped(chart_.caption) + "</desc>\n";
    if (light_) out_ += "<rect width=\"" + width + "\" height=\"" + height + "\" fill=\"#ffffff\"/>\n";
    if (settings_.with_title) {
      out_ += "<text x=\"16\" y=\"26\" font-size=\"" + svg_number(title_size) + "\" font-weight=\"600\" fill=\"" + text_ + "\">" +
              escaped(chart_.title) + "</text>\n";
    }
    draw_axes();
    draw_rules();
    const std::string clip = "within-" + chart_.name;
    out_ += "<clipPath id=\"" + escaped(clip) + "\"><rect x=\"" + svg_number(left_ - 6) + "\" y=\"" + svg_number(top_ - 6) + "\" width=\"" +
            svg_number(right_ - left_ + 12) + "\" height=\"" + svg_number(bottom_ - top_ + 12) + "\"/></clipPath>\n<g clip-path=\"url(#" +
            escaped(clip) + ")\">\n";
    for (std::size_t i = 0; i < chart_.series.size(); ++i) draw_series(i);
    out_ += "</g>\n";
    name_rules();
    draw_legend();
    return std::move(out_) + "</svg>\n";
  }

 private:
  unsigned colour_number(std::size_t place) const { return chart_.series[place].colour.value_or(static_cast<unsigned>(place)) % colours; }
  std::string colour_of(std::size_t place) const {
    const unsigned number_of_colour = colour_number(place);
    return light_ ? std::string(colour_on_light(number_of_colour)) : "var(--series-" + std::to_string(number_of_colour) + ")";
  }

  std::optional<double> x_of(double value) const {
    const auto place = place_on(chart_.x, extent_x_, value);
    if (!place) return std::nullopt;
    return left_ + *place * (right_ - left_);
  }
  std::optional<double> y_of(double value) const {
    const auto place = place_on(chart_.y, extent_y_, value);
    if (!place) return std::nullopt;
    return bottom_ - *place * (bottom_ - top_);
  }

  void line(double x1, double y1, double x2, double y2, const std::string& stroke, const std::string& more = "") {
    out_ += "<line x1=\"" + svg_number(x1) + "\" y1=\"" + svg_number(y1) + "\" x2=\"" + svg_number(x2) + "\" y2=\"" + svg_number(y2) + "\" stroke=\"" +
            stroke + "\"" + more + "/>\n";
  }
  void text(double x, double y, const std::string& words, const std::string& fill, const char* anchor) {
    out_ += "<text x=\"" + svg_number(x) + "\" y=\"" + svg_number(y) + "\" fill=\"" + fill + "\" text-anchor=\"" + anchor + "\">" + escaped(words) +
            "</text>\n";
  }

  void draw_axes() {
    for (const Tick& tick : y_ticks_) {
      const auto y = y_of(tick.value);
      if (!y) continue;
      line(left_, *y, right_, *y, grid_);
      text(left_ - 8, *y + text_size * 0.35, tick.label, quiet_, "end");
    }
    const bool words = chart_.x.scale == Scale::words;
    double label_end = -1e9;
    for (const Tick& tick : x_ticks_) {
      const auto x = x_of(tick.value);
      if (!x) continue;
      if (!words) line(*x, top_, *x, bottom_, grid_);
      // A label that would run into the one before is left out; its line stays.
      const double half = width_of(tick.label) / 2;
      if (*x - half < label_end + 6) continue;
      label_end = *x + half;
      text(*x, bottom_ + 19, tick.label, quiet_, "middle");
    }
    line(left_, bottom_, right_, bottom_, quiet_);
    text(16, top_ - 11, chart_.y.title, text_, "start");
    text((left_ + right_) / 2, bottom_ + 40, chart_.x.title, text_, "middle");
  }

  void draw_rules() {
    for (const Rule& rule : chart_.rules) {
      const std::string dashes = " stroke-dasharray=\"2 4\" stroke-width=\"1.5\"";
      const auto at = rule_at(rule);
      if (!at) continue;
      if (rule.direction == Rule::Direction::horizontal) {
        line(left_, *at, right_, *at, quiet_, dashes);
      } else {
        line(*at, top_, *at, bottom_, quiet_, dashes);
      }
    }
  }

  // Its y or its x; none where it lies beyond the axes.
  std::optional<double> rule_at(const Rule& rule) const {
    const bool horizontal = rule.direction == Rule::Direction::horizontal;
    const auto at = horizontal ? y_of(rule.value) : x_of(rule.value);
    const double begin = horizontal ? top_ : left_, end = horizontal ? bottom_ : right_;
    if (!at || *at < begin - 0.01 || *at > end + 0.01) return std::nullopt;
    return at;
  }

  // Over the series, on a ground of their own, and none over another.
  void name_rules() {
    out_ += std::string("<g class=\"rules\" paint-order=\"stroke\" stroke-width=\"4\" stroke-linejoin=\"round\" stroke=\"") +
            (light_ ? "#ffffff" : "var(--sheet)") + "\">\n";
    struct Name {
      double left, right, y;
    };
    std::vector<Name> names;
    const auto put = [&](double x, double y, const std::string& name, bool ends_there) {
      const double width = width_of(name), left = ends_there ? x - width : x;
      const auto in_the_way = [&](const Name& other) {
        return std::abs(y - other.y) < rule_name_height && left < other.right + 6 && left + width + 6 > other.left;
      };
      while (std::any_of(names.begin(), names.end(), in_the_way)) y += rule_name_height;
      names.push_back({left, left + width, y});
      text(x, y, name, quiet_, ends_there ? "end" : "start");
    };
    for (const Rule& rule : chart_.rules) {
      const auto at = rule_at(rule);
      if (!at) continue;
      if (rule.direction == Rule::Direction::horizontal) {
        put(right_ - 4, *at - 6, rule.name, true);
      } else {
        const bool at_the_end = *at > (left_ + right_) / 2;
        put(*at + (at_the_end ? -5 : 5), top_ + 14, rule.name, at_the_end);
      }
    }
    out_ += "</g>\n";
  }

  void draw_series(std::size_t place) {
    const Series& series = chart_.series[place];
    const std::string colour = colour_of(place);
    out_ += "<g fill=\"none\" stroke=\"" + colour + "\" stroke-width=\"2\" stroke-linejoin=\"round\">\n";
    if (series.mark == Mark::bars) {
      draw_bars(place);
    } else {
      if (series.mark != Mark::points) draw_line(series);
      for (const Point& point : series.points) {
        const auto x = x_of(point.x), y = y_of(point.y);
        if (!x || !y) continue;
        draw_interval(point, *x);
        if (series.mark != Mark::line) out_ += mark_svg(colour_number(place), *x, *y, colour);
      }
    }
    out_ += "</g>\n";
  }

  void draw_line(const Series& series) {
    std::string path;
    bool broken = true;
    for (const Point& point : series.points) {
      const auto x = x_of(point.x), y = y_of(point.y);
      if (x && y) path += (broken ? "M" : "L") + svg_number(*x) + " " + svg_number(*y);
      broken = !x || !y;
    }
    if (path.empty()) return;
    out_ += "<path d=\"" + path + "\"" + (series.dashed ? " stroke-dasharray=\"7 5\"" : "") + "/>\n";
  }

  // The interval that a point has, with a short bar at each end.
  void draw_interval(const Point& point, double x) {
    if (!point.low || !point.high) return;
    const auto low = y_of(*point.low), high = y_of(*point.high);
    if (!low || !high) return;
    out_ += "<path stroke-width=\"1.3\" d=\"M" + svg_number(x) + " " + svg_number(*low) + "V" + svg_number(*high) + "M" + svg_number(x - 4) + " " +
            svg_number(*low) + "h8M" + svg_number(x - 4) + " " + svg_number(*high) + "h8\"/>\n";
  }

  void draw_bars(std::size_t place) {
    // The bars of all series stand side by side around their x.
    std::size_t of = 0, before = 0;
    for (std::size_t i = 0; i < chart_.series.size(); ++i) {
      if (chart_.series[i].mark != Mark::bars) continue;
      if (i < place) ++before;
      ++of;
    }
    const double room = (right_ - left_) / (extent_x_.most - extent_x_.least) * 0.76;
    const double width = room / static_cast<double>(of);
    for (const Point& point : chart_.series[place].points) {
      const auto x = x_of(point.x), y = y_of(point.y);
      if (!x || !y) continue;
      const double base = y_of(std::clamp(0.0, extent_y_.least, extent_y_.most)).value_or(bottom_);
      const double left = *x - room / 2 + static_cast<double>(before) * width;
      out_ += "<rect class=\"bar\" x=\"" + svg_number(left + 1) + "\" y=\"" + svg_number(std::min(*y, base)) + "\" width=\"" +
              svg_number(std::max(1.0, width - 2)) + "\" height=\"" + svg_number(std::max(0.5, std::abs(base - *y))) + "\" fill=\"" + colour_of(place) + "\" fill-opacity=\"" +
              (chart_.series[place].dashed ? "0.25" : "0.85") + "\" stroke-width=\"1\"/>\n";
      // Against the bar the interval must be seen as well.
      if (point.low && point.high) {
        out_ += "<g stroke=\"" + text_ + "\">\n";
        draw_interval(point, left + width / 2);
        out_ += "</g>\n";
      }
    }
  }

  // Entries from left to right, in as many lines as they need; above the plot, so that its length is known first.
  void lay_out_legend() {
    if (chart_.series.size() < 2) return;
    double x = 16;
    for (std::size_t i = 0; i < chart_.series.size(); ++i) {
      const double wide = 30 + width_of(chart_.series[i].name) + 16;
      if (x > 16 && x + wide > right_) {
        x = 16;
        top_ += line_height;
      }
      legend_.push_back({x, top_ + 14});
      x += wide;
    }
    top_ += line_height + 4;
  }

  void draw_legend() {
    for (std::size_t i = 0; i < legend_.size(); ++i) {
      const Series& series = chart_.series[i];
      const auto [x, y] = legend_[i];
      out_ += swatch_svg(series, colour_number(i), colour_of(i), x, y - text_size * 0.35);
      text(x + 28, y, series.name, text_, "start");
    }
  }

  const Chart& chart_;
  const SvgSettings& settings_;
  Extent extent_x_, extent_y_;
  bool light_;
  std::string text_, quiet_, grid_;
  double left_ = 0, right_ = 0, top_ = 0, bottom_ = 0;
  std::vector<Tick> x_ticks_, y_ticks_;
  struct Place {
    double x, y;
  };
  std::vector<Place> legend_;
  std::string out_;
};

}  // namespace

std::string to_svg(const Chart& chart, const SvgSettings& settings) { return Drawing(chart, settings).draw(); }

}  // namespace hedgerow::lab::report
