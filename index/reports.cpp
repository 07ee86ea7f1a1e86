#include "index/reports.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

#include "index/build_progress.hpp"

namespace hedgerow {

namespace {

std::uint64_t size_of(const std::filesystem::path& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  return error ? 0 : size;
}

// For one line of a terminal: no line breaks, cut at a character's border.
std::string on_one_line(std::string text, std::size_t longest) {
  std::replace_if(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  if (text.size() <= longest) return text;
  std::size_t end = longest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) --end;
  return text.substr(0, end) + "…";
}

std::string mebibytes(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  return text;
}

// As many as the root shows.
constexpr std::size_t shown_facet_values = 10;

// Of a snippet: marks become stars, entities the characters that they stand for.
std::string as_plain_text(std::string snippet) {
  static constexpr std::pair<std::string_view, std::string_view> meanings[] = {
      {"<b>", "*"}, {"</b>", "*"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}};
  for (const auto& [html, text] : meanings) {
    for (std::size_t at = 0; (at = snippet.find(html, at)) != std::string::npos; at += text.size()) {
      snippet.replace(at, html.size(), text);
    }
  }
  return snippet;
}

}  // namespace

ordered_json search_answer_json(const LocalAnswer& answer, const std::vector<StoredDocument>& documents,
                                std::uint32_t offset, const Manifest& manifest, Duration took) {
  ordered_json hits = ordered_json::array();
  for (std::size_t i = 0; i < answer.hits.size(); ++i) {
    hits.push_back({{"rank", offset + i + 1},
                    {"id", documents[i].id},
                    {"score", answer.hits[i].scored.score},
                    {"title", documents[i].title},
                    {"url", documents[i].url}});
  }
  const auto partitions = manifest.partitions.size();
  return {{"hits", std::move(hits)},
          {"total", {{"value", answer.matches}, {"relation", answer.matches_exact ? "exact" : "estimate"}}},
          {"took_ms", to_milliseconds(took)},
          {"finished", "complete"},
          {"completeness",
           {{"fraction", 1.0},
            {"of_asked", 1.0},
            {"partitions", {{"total", partitions}, {"asked", partitions}, {"answered", partitions}}},
            {"documents", {{"total", manifest.documents}, {"searched", manifest.documents}}},
            {"missing", ordered_json::array()}}}};
}

void add_snippets(ordered_json& answer, std::vector<std::string> snippets) {
  for (std::size_t i = 0; i < snippets.size(); ++i) answer["hits"][i]["snippet"] = std::move(snippets[i]);
}

void add_facets(ordered_json& answer, const std::vector<std::string>& names, const std::vector<FacetCounts>& facets) {
  ordered_json all = ordered_json::object();
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::vector<std::pair<std::string, std::uint64_t>> counts(facets[i].counts.begin(), facets[i].counts.end());
    // In the order of their bytes so far, which equal counts keep.
    std::stable_sort(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    if (counts.size() > shown_facet_values) counts.resize(shown_facet_values);
    ordered_json shown = ordered_json::array();
    for (const auto& [value, count] : counts) shown.push_back({{"value", value}, {"count", count}});
    all[names[i]] = {{"counts", std::move(shown)},
                     {"values", facets[i].counts.size()},
                     {"partial", false},
                     {"cut", facets[i].cut}};
  }
  answer["facets"] = std::move(all);
}

ordered_json manifest_summary_json(const std::filesystem::path& directory, const Manifest& manifest) {
  const std::uint64_t statistics_bytes = size_of(directory / manifest.statistics_file);
  const std::uint64_t spelling_bytes = size_of(directory / manifest.spelling_file);
  std::uint64_t bytes = statistics_bytes + spelling_bytes;
  ordered_json facets = ordered_json::array();
  for (const FacetField& facet : manifest.facets) {
    facets.push_back({{"name", facet.name}, {"kind", fields::name_of(facet.kind)}, {"documents", facet.documents}});
  }
  ordered_json partitions = ordered_json::array();
  for (std::size_t p = 0; p < manifest.partitions.size(); ++p) {
    const PartitionInfo& info = manifest.partitions[p];
    const std::uint64_t size = size_of(directory / info.file);
    bytes += size;
    partitions.push_back({{"partition", p},
                          {"documents", info.documents},
                          {"average_length", info.documents == 0 ? 0.0
                                                                  : static_cast<double>(info.total_length) /
                                                                        info.documents},
                          {"bytes", size}});
  }
  return {{"collection", manifest.collection},
          {"generation", manifest.generation.value},
          {"stemmer", manifest.stemmer},
          {"title_weight", manifest.title_weight},
          {"bm25",
           {{"k1", manifest.bm25.k1},
            {"k3", manifest.bm25.k3},
            {"b", manifest.bm25.b},
            {"min_normalised_length", manifest.bm25.min_normalised_length}}},
          {"documents", manifest.documents},
          {"average_length", manifest.average_length()},
          {"bytes", bytes},
          {"statistics_bytes", statistics_bytes},
          {"spelling_bytes", spelling_bytes},
          {"facets", std::move(facets)},
          {"partitions", std::move(partitions)}};
}

ordered_json verify_json(const VerifyReport& report) {
  return {{"whole", report.problems.empty()}, {"generation", report.generation}, {"partitions", report.partitions},
          {"documents", report.documents},    {"terms", report.terms},           {"problems", report.problems}};
}

std::string search_answer_table(const ordered_json& answer) {
  std::string table;
  char line[64];
  for (const auto& hit : answer["hits"]) {
    std::snprintf(line, sizeof line, "%5llu  %9.4f  ", hit["rank"].get<unsigned long long>(),
                  hit["score"].get<double>());
    table += line + on_one_line(hit["id"], 40) + "  " + on_one_line(hit["title"], 80) + "\n";
    if (hit.contains("snippet")) table += "       " + as_plain_text(hit["snippet"]) + "\n";
  }
  if (answer.contains("facets")) {
    for (const auto& [name, facet] : answer["facets"].items()) {
      table += on_one_line(name, 64) + ":";
      for (const auto& entry : facet["counts"]) {
        table += " " + on_one_line(entry["value"], 40) + " (" + with_thousands(entry["count"]) + ")";
      }
      table += "\n";
    }
  }
  std::snprintf(line, sizeof line, ", %.1f ms\n", answer["took_ms"].get<double>());
  const auto& total = answer["total"];
  table += (total["relation"] == "exact" ? "" : "about ") + with_thousands(total["value"]) + " matches in " +
           with_thousands(answer["completeness"]["documents"]["searched"]) + " documents" + line;
  return table;
}

std::string manifest_summary_table(const ordered_json& summary) {
  char line[128];
  std::snprintf(line, sizeof line, "%.1f", summary["average_length"].get<double>());
  std::string table = summary["collection"].get<std::string>() + ": " + with_thousands(summary["documents"]) +
                      " documents of " + line + " terms on average, generation " +
                      std::to_string(summary["generation"].get<std::uint64_t>()) + ", stemmer " +
                      summary["stemmer"].get<std::string>() + ", " + mebibytes(summary["bytes"]) + " (statistics " +
                      mebibytes(summary["statistics_bytes"]) + ", spelling " + mebibytes(summary["spelling_bytes"]) +
                      ")\n";
  const auto& bm25 = summary["bm25"];
  std::snprintf(line, sizeof line, "a word of the title counts %u times; BM25 with k1 %g, k3 %g, b %g\n",
                summary["title_weight"].get<unsigned>(), bm25["k1"].get<double>(), bm25["k3"].get<double>(),
                bm25["b"].get<double>());
  table += line;
  for (const auto& facet : summary["facets"]) {
    table += "facet " + on_one_line(facet["name"], 64) + ": " + facet["kind"].get<std::string>() + ", " +
             with_thousands(facet["documents"]) + " documents\n";
  }
  table += "\npartition   documents  average length        size\n";
  for (const auto& partition : summary["partitions"]) {
    std::snprintf(line, sizeof line, "%9llu  %10s  %14.1f  %10s\n", partition["partition"].get<unsigned long long>(),
                  with_thousands(partition["documents"]).c_str(), partition["average_length"].get<double>(),
                  mebibytes(partition["bytes"]).c_str());
    table += line;
  }
  return table;
}

std::string verify_table(const ordered_json& report) {
  std::string table;
  for (const auto& problem : report["problems"]) table += problem.get<std::string>() + "\n";
  if (!report["problems"].empty()) return table + std::to_string(report["problems"].size()) + " problems\n";
  return "whole: " + std::to_string(report["partitions"].get<std::uint64_t>()) + " partitions, " +
         with_thousands(report["documents"]) + " documents, " + with_thousands(report["terms"]) + " terms\n";
}

}  // namespace hedgerow
