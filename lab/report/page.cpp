#include "lab/report/page.hpp"

#include <algorithm>
#include <cctype>

#include "lab/report/chart_values.hpp"
#include "lab/report/embedded.hpp"
#include "lab/report/marks.hpp"
#include "lab/report/markup.hpp"
#include "lab/report/svg.hpp"

namespace hedgerow::lab::report {

namespace {

// From so many rows on a table is worth sorting, and from so many headings on a page is worth a list of them.
constexpr std::size_t sortable_rows = 6, listed_headings = 3;

std::string element(const std::string& tag, const std::string& text) { return "<" + tag + ">" + escaped(text) + "</" + tag + ">\n"; }

// The colours of series as custom properties, which page.js and pictures of the page's ground read.
std::string series_colours() {
  std::string light, dark;
  for (unsigned number = 0; number < colours; ++number) {
    const std::string name = "--series-" + std::to_string(number) + ": ";
    light += name + std::string(colour_on_light(number)) + "; ";
    dark += name + std::string(colour_on_dark(number)) + "; ";
  }
  return ":root { " + light + "}\n@media (prefers-color-scheme: dark) { :root { " + dark + "} }\n@media print { :root { " + light + "} }\n";
}

// The number that a cell begins with, for sorting: "1,834 (1,800 to 1,900)" is 1834.
std::string leading_number(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == ',') continue;
    const bool part = std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.' || (out.empty() && c == '-');
    if (!part) break;
    out += c;
  }
  return out == "-" || out == "." ? "" : out;
}

std::string cell_markup(const std::string& cell) {
  const auto end = cell.find('\n');
  if (end == std::string::npos) return escaped(cell);
  return escaped(cell.substr(0, end)) + "<small>" + escaped(cell.substr(end + 1)) + "</small>";
}

class Writer {
 public:
  explicit Writer(const Page& page) : page_(page) {}

  std::string write() {
    out_ = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<meta name=\"color-scheme\" content=\"light dark\">\n"
           // Nothing is loaded, from wherever.
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n";
    out_ += element("title", page_.title) + "<style>\n";
    out_ += page_style;
    out_ += series_colours() + "</style>\n</head>\n<body>\n<main>\n<header>\n" + element("h1", page_.title);
    if (!page_.lead.empty()) out_ += "<p class=\"lead\">" + escaped(page_.lead) + "</p>\n";
    list_headings();
    out_ += "</header>\n";
    for (const Part& part : page_.parts) {
      std::visit([this](const auto& content) { add(content); }, part);
    }
    out_ += "</main>\n";
    if (!page_.foot.empty()) out_ += "<footer><p>" + escaped(page_.foot) + "</p></footer>\n";
    if (charts_ > 0) {
      out_ += "<script>\n";
      out_ += chart_library;
      out_ += "\n</script>\n<script>\n";
      out_ += page_script;
      out_ += "</script>\n";
    }
    return std::move(out_) + "</body>\n</html>\n";
  }

 private:
  void list_headings() {
    const auto is_heading = [](const Part& part) { return std::holds_alternative<Heading>(part); };
    if (static_cast<std::size_t>(std::count_if(page_.parts.begin(), page_.parts.end(), is_heading)) < listed_headings) return;
    out_ += "<nav aria-label=\"Sections\"><ul>\n";
    std::size_t number = 0;
    for (const Part& part : page_.parts) {
      if (!is_heading(part)) continue;
      out_ += "<li><a href=\"#section-" + std::to_string(++number) + "\">" + escaped(std::get<Heading>(part).text) + "</a></li>\n";
    }
    out_ += "</ul></nav>\n";
  }

  void add(const Heading& heading) { out_ += "<h2 id=\"section-" + std::to_string(++headings_) + "\">" + escaped(heading.text) + "</h2>\n"; }
  void add(const Paragraph& paragraph) { out_ += element("p", paragraph.text); }
  void add(const Code& code) { out_ += "<pre tabindex=\"0\"><code>" + escaped(code.text) + "</code></pre>\n"; }

  void add(const Facts& facts) {
    out_ += facts.large ? "<dl class=\"facts large\">\n" : "<dl class=\"facts\">\n";
    for (const auto& [name, value] : facts.facts) {
      const std::string fact = "<dt>" + escaped(name) + "</dt><dd>" + escaped(value) + "</dd>";
      out_ += (facts.large ? "<div>" + fact + "</div>" : fact) + "\n";
    }
    out_ += "</dl>\n";
  }

  void add(const Verdict& verdict) {
    struct Look {
      const char *css, *word;
    };
    const Look look = verdict.kind == Verdict::Kind::good  ? Look{"good", "✓"}
                      : verdict.kind == Verdict::Kind::bad ? Look{"bad", "!"}
                                                           : Look{"note", "i"};
    out_ += std::string("<p class=\"verdict ") + look.css + "\"><strong aria-hidden=\"true\">" + look.word + "</strong>" + escaped(verdict.text) + "</p>\n";
  }

  void add(const Table& table) {
    open_table(table.caption, table.rows.size() >= sortable_rows, "wide");
    out_ += "<thead><tr>";
    for (const auto& column : table.columns) {
      out_ += std::string("<th scope=\"col\"") + (column.number ? " class=\"number\"" : "") + ">" + escaped(column.title) + "</th>";
    }
    out_ += "</tr></thead>\n<tbody>\n";
    for (const auto& row : table.rows) {
      out_ += "<tr>";
      for (std::size_t i = 0; i < row.size() && i < table.columns.size(); ++i) {
        if (table.columns[i].number) {
          out_ += "<td class=\"number\" data-value=\"" + leading_number(row[i]) + "\">";
        } else {
          out_ += "<td>";
        }
        out_ += cell_markup(row[i]) + "</td>";
      }
      out_ += "</tr>\n";
    }
    out_ += "</tbody>\n</table></div>\n";
  }

  void add(const Chart& chart) {
    ++charts_;
    const std::string heading = headings_ > 0 ? "h3" : "h2";
    out_ += "<figure class=\"chart\" id=\"" + escaped(chart.name) + "\">\n<figcaption>" + element(heading, chart.title) + element("p", chart.caption) +
            "</figcaption>\n";
    add_keys(chart);
    out_ += "<div class=\"plot\"><p aria-hidden=\"true\">" + escaped(chart.y.title) + "</p><div><canvas role=\"img\" aria-label=\"" +
            escaped(chart.title + ". " + chart.caption) + "\"></canvas></div></div>\n";
    out_ += "<div class=\"still\">" + to_svg(chart, {.ground = SvgSettings::Ground::of_the_page, .with_title = false}) + "</div>\n";
    add_values(chart);
    out_ += "<script type=\"application/json\" class=\"values\">" +
            escaped_in_script(chart_values(chart).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) + "</script>\n</figure>\n";
  }

  void add_keys(const Chart& chart) {
    if (chart.series.size() < 2) return;
    out_ += "<div class=\"keys\" role=\"group\" aria-label=\"Series shown\" hidden>\n";
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
      const unsigned number = chart.series[i].colour.value_or(static_cast<unsigned>(i)) % colours;
      out_ += "<button type=\"button\" aria-pressed=\"true\"><svg width=\"22\" height=\"14\" viewBox=\"0 0 22 14\" aria-hidden=\"true\">" +
              swatch_svg(chart.series[i], number, "var(--series-" + std::to_string(number) + ")", 0, 7) + "</svg>" + escaped(chart.series[i].name) +
              "</button>\n";
    }
    out_ += "</div>\n";
  }

  void add_values(const Chart& chart) {
    const auto rows = value_rows(chart);
    if (rows.empty()) return;
    const bool intervals = std::any_of(rows.begin(), rows.end(), [](const ValueRow& row) { return !row.interval.empty(); });
    const bool labels = std::any_of(rows.begin(), rows.end(), [](const ValueRow& row) { return !row.label.empty(); });
    out_ += "<details><summary>The values as a table</summary>\n";
    open_table(chart.title, rows.size() >= sortable_rows, "wide tall");
    out_ += "<thead><tr><th scope=\"col\">series</th>";
    if (labels) out_ += "<th scope=\"col\">of</th>";
    out_ += "<th scope=\"col\" class=\"number\">" + escaped(chart.x.title) + "</th><th scope=\"col\" class=\"number\">" + escaped(chart.y.title) + "</th>";
    if (intervals) out_ += "<th scope=\"col\">interval</th>";
    out_ += "</tr></thead>\n<tbody>\n";
    for (const ValueRow& row : rows) {
      out_ += "<tr><th scope=\"row\">" + escaped(row.series) + "</th>";
      if (labels) out_ += "<td>" + escaped(row.label) + "</td>";
      for (const std::string& value : {row.x, row.y}) {
        const std::string sorted_by = leading_number(value);
        out_ += "<td class=\"number\"" + (sorted_by.empty() ? "" : " data-value=\"" + sorted_by + "\"") + ">" + escaped(value) + "</td>";
      }
      if (intervals) out_ += "<td>" + escaped(row.interval) + "</td>";
      out_ += "</tr>\n";
    }
    out_ += "</tbody>\n</table></div></details>\n";
  }

  // What is wider than the page is scrolled, with keys as well.
  void open_table(const std::string& caption, bool sortable, const char* css) {
    out_ += std::string("<div class=\"") + css + "\" role=\"region\" tabindex=\"0\" aria-label=\"" + escaped(caption) + "\"><table" +
            (sortable ? " class=\"sortable\"" : "") + ">\n";
    if (!caption.empty()) out_ += element("caption", caption);
  }

  const Page& page_;
  std::string out_;
  std::size_t headings_ = 0, charts_ = 0;
};

}  // namespace

std::string to_html(const Page& page) { return Writer(page).write(); }

}  // namespace hedgerow::lab::report
