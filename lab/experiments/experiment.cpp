#include "lab/experiments/experiment.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace hedgerow::lab {

namespace {

constexpr double standard_deviations = 4;

nlohmann::ordered_json number_or_null(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

nlohmann::ordered_json finding_json(const Finding& finding) {
  nlohmann::ordered_json out{{"claim", finding.claim},
                             {"unit", finding.unit},
                             {"measured", finding.measured},
                             {"expected", number_or_null(finding.expected)},
                             {"source", to_string(finding.source)},
                             {"least", number_or_null(finding.least)},
                             {"most", number_or_null(finding.most)},
                             {"holds", finding.holds()}};
  if (!finding.why.empty()) out["why"] = finding.why;
  return out;
}

std::string with_unit(double value, const std::string& unit) { return figure(value) + (unit.empty() ? "" : " " + unit); }

std::string bounds(const Finding& finding) {
  if (finding.least && finding.most) return figure(*finding.least) + " to " + with_unit(*finding.most, finding.unit);
  if (finding.most) return "at most " + with_unit(*finding.most, finding.unit);
  if (finding.least) return "at least " + with_unit(*finding.least, finding.unit);
  return "";
}

std::string plain_table(const report::Table& table) {
  std::vector<std::size_t> widths;
  for (const auto& column : table.columns) widths.push_back(column.title.size());
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text = table.caption + "\n";
  const auto add = [&](std::size_t i, const std::string& cell) {
    const std::string blanks(widths[i] - std::min(widths[i], cell.size()), ' ');
    text += "  " + (table.columns[i].number ? blanks + cell : cell + blanks);
  };
  for (std::size_t i = 0; i < table.columns.size(); ++i) add(i, table.columns[i].title);
  text += "\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i) add(i, row[i]);
    text += "\n";
  }
  return text;
}

// As it stands, whatever characters it has.
std::string markdown(const std::string& plain) {
  std::string text;
  for (const char letter : plain) {
    if (std::string_view("\\`*_[]<>|#").find(letter) != std::string_view::npos) text += '\\';
    text += letter;
  }
  return text;
}

std::string markdown_table(const report::Table& table) {
  std::string text = markdown(table.caption) + ":\n\n|", rule = "|";
  for (const auto& column : table.columns) {
    text += " " + markdown(column.title) + " |";
    rule += column.number ? " ---: |" : " --- |";
  }
  text += "\n" + rule + "\n";
  for (const auto& row : table.rows) {
    text += "|";
    for (const auto& cell : row) text += " " + markdown(cell) + " |";
    text += "\n";
  }
  return text;
}

report::Table findings_table(const std::vector<Finding>& findings) {
  report::Table table;
  table.caption = "What was expected, and what was found";
  table.columns = {{"claim", false},       {"measured", true},     {"expected", true},
                   {"holds within", true}, {"expected by", false}, {"", false}};
  for (const Finding& finding : findings) {
    table.rows.push_back({finding.claim, with_unit(finding.measured, finding.unit),
                          finding.expected ? with_unit(*finding.expected, finding.unit) : "", bounds(finding),
                          std::string(to_string(finding.source)), finding.holds() ? "holds" : "differs"});
  }
  return table;
}

std::string verdict(const ExperimentResult& result) {
  const auto wrong = result.disagreements().size();
  if (wrong == 0) return "It agrees: all " + std::to_string(result.findings.size()) + " findings hold.";
  return "It differs in " + std::to_string(wrong) + " of " + std::to_string(result.findings.size()) + " findings.";
}

}  // namespace

std::string_view to_string(Source source) {
  switch (source) {
    case Source::paper: return "the paper";
    case Source::closed_form: return "closed form";
    case Source::own: return "our bar";
  }
  return "closed form";
}

std::string figure(double value) {
  if (!std::isfinite(value)) return "none";
  char text[48];
  const double size = std::abs(value);
  if (size >= 1000) {
    std::snprintf(text, sizeof text, "%.0f", value);
    std::string digits = text;
    const std::size_t first = digits[0] == '-' ? 1 : 0;
    for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, 1, ',');
    return digits;
  }
  std::snprintf(text, sizeof text, size >= 100 ? "%.0f" : size >= 10 ? "%.1f" : size >= 1 ? "%.2f" : "%.3g", value);
  return text;
}

bool Finding::holds() const {
  // A measurement that came to nothing holds nothing.
  if (!std::isfinite(measured)) return false;
  return (!least || measured >= *least) && (!most || measured <= *most);
}

std::string Finding::text() const {
  std::string line = claim + " is " + with_unit(measured, unit);
  if (expected) line += ", expected " + with_unit(*expected, unit);
  line += " (" + std::string(to_string(source)) + "; " + (least && most ? "within " : "") + bounds(*this) + ")";
  if (!why.empty()) line += ": " + why;
  return line;
}

Finding near(std::string claim, std::string unit, double measured, Source source, double expected, double share) {
  const double margin = std::abs(expected) * share;
  return within(std::move(claim), std::move(unit), measured, source, expected, margin);
}

Finding within(std::string claim, std::string unit, double measured, Source source, double expected, double margin) {
  return {std::move(claim), std::move(unit), measured, source, expected, expected - margin, expected + margin};
}

Finding at_most(std::string claim, std::string unit, double measured, Source source, double most) {
  return {std::move(claim), std::move(unit), measured, source, std::nullopt, std::nullopt, most};
}

Finding at_least(std::string claim, std::string unit, double measured, Source source, double least) {
  return {std::move(claim), std::move(unit), measured, source, std::nullopt, least};
}

Finding share_of(std::string claim, double measured, Source source, double expected, std::uint64_t tries, double other) {
  const double share = expected / 100;
  const double deviation = tries == 0 ? 1 : std::sqrt(share * (1 - share) / static_cast<double>(tries));
  // Where next to nothing is expected, a single try more is no disagreement.
  const double grain = tries == 0 ? 100 : 100.0 / static_cast<double>(tries);
  const double margin = std::max(100 * standard_deviations * deviation, 2 * grain) + other;
  Finding finding = within(std::move(claim), "%", measured, source, expected, margin);
  finding.least = std::max(0.0, *finding.least);
  finding.most = std::min(100.0, *finding.most);
  return finding;
}

std::vector<std::string> disagreements(const std::vector<Finding>& findings) {
  std::vector<std::string> out;
  for (const Finding& finding : findings) {
    if (!finding.holds()) out.push_back(finding.text());
  }
  return out;
}

bool ExperimentResult::agrees() const {
  // Where nothing was found, nothing agrees.
  return !findings.empty() &&
         std::all_of(findings.begin(), findings.end(), [](const Finding& finding) { return finding.holds(); });
}

nlohmann::ordered_json to_json(const ExperimentReport& report) {
  const auto& [experiment, mode, request, result, made] = report;
  nlohmann::ordered_json out{{"experiment", experiment.name},
                             {"mode", mode},
                             {"question", experiment.question},
                             {"expected", experiment.expected},
                             {"source", experiment.source},
                             {"made", made},
                             {"seed", request.seed},
                             {"settings", result.settings}};
  out["findings"] = nlohmann::ordered_json::array();
  for (const Finding& finding : result.findings) out["findings"].push_back(finding_json(finding));
  out["agrees"] = result.agrees();
  out["disagreements"] = result.disagreements();
  out["notes"] = result.notes;
  out["figures"] = result.figures;
  return out;
}

std::string to_text(const ExperimentReport& report) {
  const auto& [experiment, mode, request, result, made] = report;
  std::string text = experiment.name + ", " + mode + ", seed " + std::to_string(request.seed) + "\n" + experiment.question +
                     "\nExpected: " + experiment.expected + " (" + experiment.source + ")\n";
  for (const auto& table : result.tables) text += "\n" + plain_table(table);
  text += "\n" + plain_table(findings_table(result.findings));
  for (const auto& note : result.notes) text += "\n" + note + "\n";
  text += "\n" + verdict(result) + "\n";
  for (const auto& line : result.disagreements()) text += "  " + line + "\n";
  return text;
}

std::string picture_name(const report::Chart& chart, const std::string& mode) { return chart.name + "-" + mode + ".svg"; }

std::string to_markdown(const ExperimentReport& report, const std::string& pictures) {
  const auto& [experiment, mode, request, result, made] = report;
  std::string text;
  for (const auto& chart : result.charts) {
    text += "![" + markdown(chart.title + ". " + chart.caption) + "](" + pictures + "/" + picture_name(chart, mode) + ")\n\n";
  }
  for (const auto& table : result.tables) text += markdown_table(table) + "\n";
  text += "**" + verdict(result) + "**\n\n";
  for (const auto& line : result.disagreements()) text += "- It differs: " + markdown(line) + "\n";
  if (!result.agrees()) text += "\n";
  for (const auto& note : result.notes) text += markdown(note) + "\n\n";
  text += "Seed " + std::to_string(request.seed) + ". " + markdown(made) + "\n";
  return text;
}

report::Page to_page(const ExperimentReport& report) {
  const auto& [experiment, mode, request, result, made] = report;
  report::Page page;
  page.title = "Experiment: " + experiment.name + " (" + mode + ")";
  page.lead = experiment.question;
  page.parts.emplace_back(report::Paragraph{"Expected: " + experiment.expected + " (" + experiment.source + ")"});
  page.parts.emplace_back(
      report::Verdict{result.agrees() ? report::Verdict::Kind::good : report::Verdict::Kind::bad, verdict(result)});
  for (const auto& line : result.disagreements()) page.parts.emplace_back(report::Verdict{report::Verdict::Kind::note, line});
  for (const auto& chart : result.charts) page.parts.emplace_back(chart);
  for (const auto& table : result.tables) page.parts.emplace_back(table);
  page.parts.emplace_back(findings_table(result.findings));
  for (const auto& note : result.notes) page.parts.emplace_back(report::Paragraph{note});
  page.foot = made;
  return page;
}

}  // namespace hedgerow::lab
