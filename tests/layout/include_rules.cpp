#include "include_rules.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

namespace hedgerow::layout {

namespace {

using Names = std::set<std::string>;

// base <- corpus <- index <- leaf, root; base <- wire <- leaf, root; leaf, root <- lab.
const std::map<std::string, Names> may_include{
    {"base", {"base"}},
    {"corpus", {"base", "corpus"}},
    {"index", {"base", "corpus", "index"}},
    {"wire", {"base", "wire"}},
    {"leaf", {"base", "corpus", "index", "wire", "leaf"}},
    {"root", {"base", "corpus", "index", "wire", "root"}},
    {"lab", {"base", "corpus", "index", "wire", "leaf", "root", "lab"}},
};

// Of the index, the root includes the query and the statistics, and what says which partitions and which order there are.
const Names index_for_root{"index/query.hpp", "index/statistics.hpp", "index/manifest.hpp", "index/ranking.hpp",
                                 "index/fields.hpp", "index/scoring.hpp", "index/partition_of.hpp", "index/synonyms.hpp",
                                 "index/document_term.hpp", "index/similar_query.hpp"};

// Time and chance are arguments here.
const std::vector<std::string> pure{
    "root/policy/",       "root/assignment.",  "root/merge.",        "root/topology.",     "root/search_parameters.",
    "root/api_json.",     "root/answer",       "root/trace_context.", "leaf/work_",        "leaf/fault_plan.",
    "leaf/fault.",        "leaf/query_pattern.", "leaf/background_schedule.",
    "leaf/transit_clock.", "leaf/tie_book.",   "leaf/service_times.", "root/estimated_recall.", "root/json_body.",  "lab/simulation/", "lab/report/", "lab/sweep/plan.", "lab/sweep/comparison.", "lab/sweep/charts.", "lab/sweep/pages.", "lab/sweep/summary.", "lab/advise/", "lab/answer_", "lab/arrivals.", "lab/hdr/encoding.", "lab/hdr/percentile_text.", "lab/latency_counts.", "lab/latency_samples.", "lab/load_report.", "lab/wanted_answers.", "wire/messages.",   "wire/codec",         "wire/pending_calls.", "base/clock.",
    "base/random.",       "base/distribution", "base/histogram.",   "index/query",        "index/ranking."};
const std::vector<std::string> clocks{"steady_clock::now", "clock_now(", "system_clock", "high_resolution_clock", "random_device",
                                      "mt19937",           "std::rand",    "::time(",               "gettimeofday",
                                      "clock_gettime"};

const Names names_that_say_nothing{"util", "utils", "utility", "helper", "helpers", "common", "misc"};

std::string folder_of(const std::string& path) { return path.substr(0, path.find('/')); }
bool is_header(const std::string& path) { return path.ends_with(".hpp"); }
bool is_product(const std::string& path) { return may_include.contains(folder_of(path)); }
bool starts_with_any(const std::string& path, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const auto& prefix) { return path.starts_with(prefix); });
}

// The names in #include "…", or, with angle, in #include <…>.
std::vector<std::string> includes_of(const std::string& text, bool angle = false) {
  std::vector<std::string> names;
  std::istringstream lines(text);
  const std::string opening = angle ? "#include <" : "#include \"";
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(opening)) continue;
    const auto end = line.find(angle ? '>' : '"', opening.size());
    names.push_back(line.substr(opening.size(), end - opening.size()));
  }
  return names;
}

// Everything that a file includes, directly or by way of others, with the file by whose include it came.
std::map<std::string, std::string> reached_from(const std::string& path, const Files& files) {
  std::map<std::string, std::string> reached;
  std::vector<std::string> open{path};
  while (!open.empty()) {
    const std::string by = open.back();
    open.pop_back();
    const auto file = files.find(by);
    if (file == files.end()) continue;
    for (const auto& name : includes_of(file->second)) {
      if (reached.emplace(name, by).second) open.push_back(name);
    }
  }
  return reached;
}

void check_includes(const std::string& path, const Files& files, std::vector<std::string>& out) {
  const std::string folder = folder_of(path);
  for (const auto& name : includes_of(files.at(path))) {
    if (!may_include.at(folder).contains(folder_of(name))) out.push_back(path + " includes " + name);
    if (folder == "root" && folder_of(name) == "index" && !index_for_root.contains(name)) out.push_back(path + " includes " + name);
    if (path.starts_with("root/policy/") && folder_of(name) != "base" && !name.starts_with("root/policy/")) {
      out.push_back(path + " includes " + name);
    }
  }
  for (const auto& [name, by] : reached_from(path, files)) {
    const bool searches = name == "index/searcher.hpp" || name == "index/builder.hpp";
    if (folder == "root" && searches) out.push_back(path + " reaches " + name + " by way of " + by);
    if (folder == "wire" && folder_of(name) == "index") out.push_back(path + " reaches " + name + " by way of " + by);
  }
}

}  // namespace

Files read_sources(const std::filesystem::path& repository) {
  Files files;
  Names folders{"tests"};
  for (const auto& [folder, allowed] : may_include) folders.insert(folder);
  for (const auto& folder : folders) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(repository / folder)) {
      const auto extension = entry.path().extension();
      if (!entry.is_regular_file() || (extension != ".hpp" && extension != ".cpp")) continue;
      std::ifstream stream(entry.path());
      files[std::filesystem::relative(entry.path(), repository).generic_string()] =
          std::string(std::istreambuf_iterator<char>(stream), {});
    }
  }
  return files;
}

std::vector<std::string> violations(const Files& files) {
  std::vector<std::string> out;
  Names beast_sources;
  for (const auto& [path, text] : files) {
    if (names_that_say_nothing.contains(std::filesystem::path(path).stem().string())) {
      out.push_back(path + " has a name that says nothing");
    }
    if (!is_product(path)) continue;
    check_includes(path, files, out);
    if (is_header(path) && !text.starts_with("//")) out.push_back(path + " does not open with what it is for");

    const auto system = includes_of(text, true);
    if (std::any_of(system.begin(), system.end(), [](const auto& name) { return name.starts_with("boost/beast"); })) {
      if (!is_header(path)) {
        beast_sources.insert(path);
      } else if (path != "wire/beast_link.hpp") {
        out.push_back(path + " shows Beast");
      }
    }
    for (const auto& clock : clocks) {
      if (starts_with_any(path, pure) && text.find(clock) != std::string::npos) out.push_back(path + " uses " + clock);
    }
    if (!path.ends_with("/main.cpp") && text.find("random_device") != std::string::npos) out.push_back(path + " picks a seed");
  }
  if (beast_sources.size() > 3) out.push_back("Beast is in more than three source files");
  return out;
}

}  // namespace hedgerow::layout
