#include "tests/peers/table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string_view>

#include "tests/peers/comparison.hpp"

namespace hedgerow::peers {

namespace {

// The names that scripts/bench gives to engines and parts, in the order in which they are shown.
struct Named {
  std::string_view name, title;
};
constexpr std::string_view ours = "hedgerow", engine_below = "in-process";
constexpr Named engines[] = {{"in-process", "in-process: the 16 partitions one after another"},
                             {"one-database", "in-process: Xapian, one database"},
                             {"hedgerow", "Hedgerow"},
                             {"hedgerow-main-rate", "Hedgerow, at the rate of the table above"},
                             {"xapian-remote", "Xapian's remote backend, 16 shards"},
                             {"sphinx", "Sphinx, 16 agents"},
                             {"sphinx-1000", "Sphinx, each agent sending 1,000"},
                             {"sphinx-250ms", "Sphinx, agents given 250 ms"}};
constexpr Named fault_parts[] = {{"healthy", "well"}, {"slow", "200 ms slow"}, {"stopped", "stopped"}, {"dead", "dead"}};

constexpr const char* nothing = "–";

std::string with_commas(std::string digits) {
  for (std::ptrdiff_t at = std::ssize(digits) - 3; at > 0; at -= 3) digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

// Three digits or all before the point.
std::string shown(std::optional<double> value) {
  if (!value) return nothing;
  if (*value >= 99.95) return with_commas(std::to_string(std::llround(*value)));
  char text[32];
  std::snprintf(text, sizeof text, *value < 9.995 ? "%.2f" : "%.1f", *value);
  return text;
}

std::string percent(std::optional<double> share) {
  if (!share) return nothing;
  // Less than all is never shown as all, nor more than none as none.
  const double percents = *share < 1 ? std::min(*share * 100, 99.99) : 100;
  char text[32];
  std::snprintf(text, sizeof text, percents == 0 || percents == 100 ? "%.0f %%" : "%.2f %%", percents > 0 ? std::max(percents, 0.01) : 0.0);
  return text;
}

std::optional<double> ratio(std::optional<double> value, std::optional<double> to) {
  if (!value || !to || *to == 0) return std::nullopt;
  return *value / *to;
}

// A quantile beyond which lie queries that were never sent is only known to be at least that.
std::string quantile(const Rounds& rounds, std::string_view name, double share_beyond) {
  const auto value = rounds.figure(name);
  return value && rounds.share("unsent").value_or(0) > share_beyond ? "≥ " + shown(value) : shown(value);
}

void add_row(std::string& out, const std::vector<std::string>& cells) {
  for (const auto& cell : cells) out += "| " + cell + " ";
  out += "|\n";
}

void add_heading(std::string& out, const std::vector<std::string>& cells) {
  add_row(out, cells);
  std::vector<std::string> lines(cells.size(), "---:");
  lines.front() = "---";
  add_row(out, lines);
}

class Writer {
 public:
  Writer(const Results& results, const std::vector<std::string>& facts) : results_(results) {
    for (const auto& fact : facts) out_ += "- " + fact + "\n";
  }

  std::string written() {
    add_closed_loop();
    add_open_loop();
    add_faults();
    add_answers();
    add_failures();
    return out_;
  }

 private:
  Rounds rounds(std::string_view engine, std::string_view part) const { return {results_.loads, engine, part}; }

  bool any(std::string_view part) const {
    return std::any_of(results_.loads.begin(), results_.loads.end(), [&](const LoadRun& run) { return run.part == part; });
  }

  // A failed engine's row has its name, the word, and nothing else.
  bool add_failed(const Rounds& found, std::string_view title, std::string_view part_title, std::vector<std::string> cells) {
    if (!found.failed()) return false;
    failures_.push_back(std::string(title) + ", " + std::string(part_title) + ": " +
                        (found.first_error().empty() ? "no query was answered" : found.first_error()));
    add_row(out_, cells);
    return true;
  }

  void begin_table(const std::string& title, const std::vector<std::string>& heading) {
    out_ += (out_.empty() ? "**" : "\n**") + title + "**\n\n";
    add_heading(out_, heading);
  }

  void add_closed_loop() {
    if (!any("throughput") && !any("unloaded")) return;
    begin_table("Closed loop: as many answers as there can be, and one client alone.",
                {"engine", "answers/s", "to in-process", "Hedgerow's are … times", "alone: p50 (ms)", "to in-process", "p99 (ms)", "asker's processor (µs)"});
    const auto below = rounds(engine_below, "throughput").figure("queries_per_second");
    const auto hedgerow = rounds(ours, "throughput").figure("queries_per_second");
    const auto p50_below = rounds(engine_below, "unloaded").figure("p50_ms");
    for (const auto& [name, title] : engines) {
      const Rounds many = rounds(name, "throughput"), alone = rounds(name, "unloaded");
      if (many.empty() && alone.empty()) continue;
      if (add_failed(many, title, "closed loop", {std::string(title), "fails", nothing, nothing, nothing, nothing, nothing, nothing})) continue;
      const auto rate = many.figure("queries_per_second"), p50 = alone.figure("p50_ms");
      add_row(out_, {std::string(title), shown(rate), shown(ratio(rate, below)), shown(ratio(hedgerow, rate)), shown(p50),
                     shown(ratio(p50, p50_below)), shown(alone.figure("p99_ms")), shown(many.figure("asker_us"))});
    }
  }

  void add_open_loop() {
    if (!any("steady")) return;
    begin_table("Open loop: at a rate that the engine can bear.", {"engine", "queries/s", "p50 (ms)", "p99 (ms)", "p99.9 (ms)", "p99 to in-process",
                                                                   "complete", "no answer", "sent late"});
    const auto below = rounds(engine_below, "steady").figure("p99_ms");
    for (const auto& [name, title] : engines) {
      const Rounds found = rounds(name, "steady");
      if (found.empty()) continue;
      if (add_failed(found, title, "open loop", {std::string(title), shown(found.rate()), "fails", nothing, nothing, nothing, nothing, nothing, nothing})) continue;
      add_row(out_, {std::string(title), shown(found.rate()), quantile(found, "p50_ms", 0.5), quantile(found, "p99_ms", 0.01),
                     quantile(found, "p99.9_ms", 0.001), shown(ratio(found.figure("p99_ms"), below)), percent(found.share("complete")),
                     percent(unanswered(found)), percent(found.share("late_starts"))});
    }
  }

  void add_faults() {
    if (std::none_of(std::begin(fault_parts), std::end(fault_parts), [&](const Named& part) { return any(part.name); })) return;
    begin_table("Open loop, one leaf or shard slow, stopped or dead: from a second after it began.",
                {"engine", "queries/s", "leaf or shard", "p50 (ms)", "p99 (ms)", "p99 to when well", "complete", "no answer"});
    for (const auto& [name, title] : engines) {
      const auto well = rounds(name, "healthy").figure("p99_ms");
      for (const auto& [part, part_title] : fault_parts) {
        const Rounds found = rounds(name, part);
        if (found.empty()) continue;
        const std::string rate = shown(found.rate()), unanswered_share = percent(unanswered(found));
        if (add_failed(found, title, part_title, {std::string(title), rate, std::string(part_title), "fails", nothing, nothing, nothing, unanswered_share})) continue;
        add_row(out_, {std::string(title), rate, std::string(part_title), quantile(found, "p50_ms", 0.5), quantile(found, "p99_ms", 0.01),
                       shown(ratio(found.figure("p99_ms"), well)), percent(found.share("complete")), unanswered_share});
      }
    }
  }

  void add_answers() {
    const auto reference = found_by(engine_below);
    if (!reference) return;
    begin_table("Do they find the same?", {"engine", "queries", "as many hits as in-process", "of in-process's ten", "the same ten in the same order"});
    for (const auto& [name, title] : engines) {
      const auto found = found_by(name);
      if (!found) continue;
      const Agreement same = agreement(*found, *reference);
      if (same.compared == 0) {
        add_row(out_, {std::string(title), "0", nothing, nothing, nothing});
        continue;
      }
      add_row(out_, {std::string(title), with_commas(std::to_string(same.compared)), percent(same.same_count), percent(same.shared_ids),
                     percent(same.same_order)});
    }
  }

  void add_failures() {
    if (failures_.empty()) return;
    out_ += "\nWhere it says *fails*, not one query was answered:\n\n";
    for (const auto& failure : failures_) out_ += "- " + failure + "\n";
  }

  static std::optional<double> unanswered(const Rounds& found) {
    const auto errors = found.share("errors"), unsent = found.share("unsent");
    if (!errors || !unsent) return std::nullopt;
    return *errors + *unsent;
  }

  const FoundIds* found_by(std::string_view engine) const {
    for (const auto& found : results_.answers) {
      if (found.engine == engine) return &found;
    }
    return nullptr;
  }

  const Results& results_;
  std::string out_;
  std::vector<std::string> failures_;
};

}  // namespace

std::string comparison_markdown(const Results& results, const std::vector<std::string>& facts) { return Writer(results, facts).written(); }

}  // namespace hedgerow::peers
