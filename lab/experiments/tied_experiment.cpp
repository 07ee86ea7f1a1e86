#include "lab/experiments/tied_experiment.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "lab/experiments/live_cluster.hpp"
#include "lab/experiments/tied.hpp"

namespace hedgerow::lab {

namespace tied_runs {
namespace {

using namespace std::chrono_literals;

constexpr std::array quantile_names{"p50", "p90", "p99", "p99.9"};
void tell(ExperimentResult& result, const std::vector<ReadRow>& rows, const std::string& how) {
  report::Table table{"Reads, in ms, beside the paper's", {{"", false}}, {}};
  for (const char* name : quantile_names) table.columns.insert(table.columns.end(), {{name, true}, {"paper", true}});
  table.columns.push_back({"work in vain", true});
  report::Chart chart;
  chart.name = "tied";
  chart.title = "Reads that wait in two queues at once";
  chart.caption = "The paper's Table 2. Tied reads beside other work are about as fast as untied ones in an idle cluster.";
  chart.x = {"", report::Scale::words, std::nullopt, std::nullopt, {quantile_names.begin(), quantile_names.end()}};
  chart.y = report::latency_axis();
  for (unsigned colour = 0; const ReadRow& row : rows) {
    std::vector<std::string> cells{row.name};
    report::Series measured{row.name, {}, report::Mark::line, false, colour},
        paper{row.name + ", the paper", {}, report::Mark::points, true, colour};
    ++colour;
    for (std::size_t i = 0; i < row.measured_ms.size(); ++i) {
      cells.insert(cells.end(), {figure(row.measured_ms[i]), figure(row.paper_ms[i])});
      measured.points.push_back({static_cast<double>(i), row.measured_ms[i]});
      paper.points.push_back({static_cast<double>(i), row.paper_ms[i]});
      result.figures[how][row.name][quantile_names[i]] = {{"ms", row.measured_ms[i]}, {"paper_ms", row.paper_ms[i]}};
    }
    cells.push_back(figure(row.work_in_vain_percent) + " %");
    result.figures[how][row.name]["work_in_vain_percent"] = row.work_in_vain_percent;
    table.rows.push_back(std::move(cells));
    chart.series.push_back(std::move(measured));
    chart.series.push_back(std::move(paper));
  }
  result.tables.push_back(std::move(table));
  result.charts.push_back(std::move(chart));
}

result<ExperimentResult> simulated(const ExperimentRequest& request) {
  ExperimentResult result;
  TiedSettings settings;
  settings.seed = request.seed;
  settings.reads = request.queries.value_or(settings.reads);
  request.say("four runs of " + std::to_string(settings.reads) + " reads");
  const auto experiment = run_tied_experiment(settings);
  tell(result, experiment.rows(), "simulated");
  result.findings = experiment.findings();
  result.figures["run"] = experiment.to_json();
  result.settings = {{"reads", settings.reads}, {"leaves", settings.leaves}, {"model", experiment.fit.model.service().text()}};
  return result;
}

// Twelve leaves of one worker, which is held for each read as long as the fitted disk would take; other work is reads of the
// same kind, untied and not measured.
result<ExperimentResult> live(const ExperimentRequest& request) {
  constexpr std::size_t leaves = 12;
  constexpr double read_utilisation = 0.1;
  ExperimentResult result;
  request.say("fitting the disks");
  const ReadModel model = best_fit(fit_read_models(paper_idle, paper_busy, 500us)).model;
  LiveCluster cluster(request, {.leaves = leaves,
                                .partitions = leaves,
                                .replicas = 3,
                                .root_arguments = {"--replica-choice=random", "--admission=fixed"}});
  // What a read takes besides the disk: asked before the disks are slow. The model has half a millisecond for the way.
  const auto without = cluster.load({.parameters = {{"fanout", "1"}, {"hedge", "off"}, {"deadline", "10s"}},
                                     .rate = 50,
                                     .duration = scaled(8s, request),
                                     .seed = request.seed});
  cluster.set_faults(nlohmann::json::array(
      {{{"kind", "hold"}, {"delay", model.service().text()}, {"work", {"search"}}, {"seed", request.seed}}}));
  const double per_utilisation = static_cast<double>(leaves) / model.service().mean_seconds();  // reads per second
  const auto in_vain = [&] {
    double count = 0;
    for (const char* kind : {"primary", "tied"}) {
      count += cluster.metric(
          "root", "hedgerow_root_attempts_ended_total{kind=\"" + std::string(kind) + "\",outcome=\"cancelled_running\"}");
    }
    return count;
  };
  const auto run = [&](const char* name, const LatencyRow& paper, double utilisation, bool tied) {
    request.say(name);
    const LiveLoad reads{.parameters = {{"fanout", "1"}, {"hedge", "off"}, {"tied", tied ? "on" : "off"}, {"deadline", "10s"}},
                         .rate = read_utilisation * per_utilisation,
                         .duration = scaled(100s, request),
                         .warm_up = 2s,
                         .seed = request.seed + 1};
    const LiveLoad others{.parameters = {{"fanout", "1"}, {"hedge", "off"}, {"deadline", "10s"}},
                          .rate = (utilisation - read_utilisation) * per_utilisation,
                          .duration = reads.duration + 2s,
                          .warm_up = {},
                          .seed = request.seed + 2};
    const double before = in_vain();
    const auto runs = cluster.loads({reads, others});
    ReadRow row{name, {}, paper, tied, 0};
    for (std::size_t i = 0; i < table_shares.size(); ++i) row.measured_ms[i] = runs.front().quantile_ms(table_shares[i]);
    const auto all = static_cast<double>(runs[0].outcomes.size() + runs[1].outcomes.size());
    row.work_in_vain_percent = 100 * (in_vain() - before) / all;
    return row;
  };
  std::vector<ReadRow> rows;
  rows.push_back(run("idle", paper_idle, model.idle_utilisation, false));
  rows.push_back(run("idle, tied", paper_idle_tied, model.idle_utilisation, true));
  rows.push_back(run("busy", paper_busy, model.busy_utilisation, false));
  rows.push_back(run("busy, tied", paper_busy_tied, model.busy_utilisation, true));
  // Some 8,000 reads each, beside whatever else the machine does.
  tell(result, rows, "live");
  result.findings = judge_reads(rows, "live", {0.2, 0.15, 0.2, 0.4});
  result.figures["without_disks_p50_ms"] = without.quantile_ms(0.5);
  result.notes.push_back(
      "Work in vain is counted in reads that were stopped while they ran, of all reads, the others included; so it is at most "
      "what they would have cost.");
  cluster.describe(result);
  result.settings["disk"] = model.service().text();
  result.settings["utilisation"] = {
      {"idle", model.idle_utilisation}, {"busy", model.busy_utilisation}, {"reads", read_utilisation}};
  return result;
}

}  // namespace
}  // namespace tied_runs

Experiment tied_experiment() {
  return {"tied",
          "How much sooner are reads answered that wait in two queues at once, in an idle cluster and beside other work?",
          "19/38/67/98 ms become 16/29/42/61 (idle), 24/56/108/159 become 19/38/67/108 (busy), for less than 1 % more work.",
          "The Tail at Scale, Table 2",
          tied_runs::simulated,
          tied_runs::live};
}

}  // namespace hedgerow::lab
