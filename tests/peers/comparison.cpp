#include "tests/peers/comparison.hpp"

#include <algorithm>

namespace hedgerow::peers {

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Rounds::Rounds(const std::vector<LoadRun>& loads, std::string_view engine, std::string_view part) {
  for (const auto& run : loads) {
    if (run.engine == engine && run.part == part) runs_.push_back(&run);
  }
}

bool Rounds::failed() const {
  const auto nothing = [](const LoadRun* run) { return run->figure("answered").value_or(0) == 0; };
  return 2 * static_cast<std::size_t>(std::count_if(runs_.begin(), runs_.end(), nothing)) > runs_.size();
}

std::string Rounds::first_error() const {
  for (const auto* run : runs_) {
    if (!run->first_error.empty()) return run->first_error;
  }
  return {};
}

double Rounds::rate() const { return median_of([](const LoadRun& run) { return std::optional(run.rate); }).value_or(0); }

std::optional<double> Rounds::figure(std::string_view name) const {
  if (failed()) return std::nullopt;
  return median_of([&](const LoadRun& run) { return run.figure(name); });
}

std::optional<double> Rounds::share(std::string_view name) const {
  return median_of([&](const LoadRun& run) { return run.share(name); });
}

std::optional<double> Rounds::median_of(const std::function<std::optional<double>(const LoadRun&)>& value) const {
  std::vector<double> values;
  for (const auto* run : runs_) {
    if (const auto found = value(*run)) values.push_back(*found);
  }
  return median(std::move(values));
}

Agreement agreement(const FoundIds& one, const FoundIds& other) {
  Agreement found;
  std::size_t ids = 0, shared = 0, same_count = 0, same_order = 0;
  for (std::size_t i = 0; i < std::min(one.answers.size(), other.answers.size()); ++i) {
    if (!one.answers[i] || !other.answers[i]) continue;
    const auto &mine = *one.answers[i], &theirs = *other.answers[i];
    ++found.compared;
    if (mine.size() == theirs.size()) ++same_count;
    if (mine == theirs) ++same_order;
    ids += theirs.size();
    for (const auto& id : theirs) {
      if (std::find(mine.begin(), mine.end(), id) != mine.end()) ++shared;
    }
  }
  const auto share = [](std::size_t part, std::size_t whole) {
    return whole == 0 ? 1.0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  found.same_count = share(same_count, found.compared);
  found.same_order = share(same_order, found.compared);
  found.shared_ids = share(shared, ids);
  return found;
}

}  // namespace hedgerow::peers
