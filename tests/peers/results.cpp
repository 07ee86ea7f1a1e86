#include "tests/peers/results.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace hedgerow::peers {

std::optional<double> LoadRun::figure(std::string_view name) const {
  const auto found = figures.find(std::string(name));
  return found == figures.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> LoadRun::share(std::string_view name) const {
  const auto some = figure(name), all = figure("queries");
  if (!some || !all || *all <= 0) return std::nullopt;
  return *some / *all;
}

nlohmann::ordered_json to_json(const LoadRun& run, nlohmann::ordered_json figures) {
  return {{"kind", "load"}, {"engine", run.engine}, {"part", run.part}, {"round", run.round}, {"rate", run.rate}, {"figures", std::move(figures)}};
}

nlohmann::ordered_json to_json(const FoundIds& found) {
  auto answers = nlohmann::ordered_json::array();
  for (const auto& ids : found.answers) answers.push_back(ids ? nlohmann::ordered_json(*ids) : nlohmann::ordered_json());
  return {{"kind", "answers"}, {"engine", found.engine}, {"answers", std::move(answers)}};
}

namespace {

LoadRun load_run_of(const nlohmann::json& json) {
  LoadRun run;
  run.engine = json.at("engine").get<std::string>();
  run.part = json.at("part").get<std::string>();
  run.round = json.at("round").get<unsigned>();
  run.rate = json.at("rate").get<double>();
  for (const auto& [name, value] : json.at("figures").items()) {
    if (value.is_number()) run.figures[name] = value.get<double>();
  }
  run.first_error = json.at("figures").value("first_error", "");
  return run;
}

FoundIds found_ids_of(const nlohmann::json& json) {
  FoundIds found;
  found.engine = json.at("engine").get<std::string>();
  for (const auto& ids : json.at("answers")) {
    found.answers.push_back(ids.is_null() ? std::nullopt : std::optional(ids.get<std::vector<std::string>>()));
  }
  return found;
}

}  // namespace

result<void> add_result(const std::string& text, Results& results) {
  try {
    const auto json = nlohmann::json::parse(text);
    const auto kind = json.at("kind").get<std::string>();
    if (kind == "load") {
      results.loads.push_back(load_run_of(json));
    } else if (kind == "answers") {
      results.answers.push_back(found_ids_of(json));
    } else {
      return Error{Errc::invalid_argument, "'" + kind + "' is no kind of result"};
    }
  } catch (const nlohmann::json::exception& error) {
    return Error{Errc::invalid_argument, error.what()};
  }
  return {};
}

result<Results> read_results(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  std::error_code problem;
  for (std::filesystem::directory_iterator entry(directory, problem), end; !problem && entry != end; entry.increment(problem)) {
    if (entry->path().extension() == ".json") files.push_back(entry->path());
  }
  if (problem) return Error{Errc::io, directory.string() + ": " + problem.message()};
  std::sort(files.begin(), files.end());
  Results results;
  for (const auto& file : files) {
    std::ifstream stream(file);
    const auto added = add_result({std::istreambuf_iterator<char>(stream), {}}, results);
    if (!added) return Error{added.error().code, file.filename().string() + ": " + added.error().context};
  }
  return results;
}

}  // namespace hedgerow::peers
