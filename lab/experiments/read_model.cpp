#include "lab/experiments/read_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>

#include "lab/experiments/single_server_queue.hpp"

namespace hedgerow::lab {

namespace {

// The grid.
constexpr int most_phases = 12;
constexpr int utilisations = 400;
constexpr double utilisation_step = 0.002;
constexpr double least_mean_ms = 10, most_mean_ms = 25, mean_step_ms = 0.05;

// Waiting and service scale with the mean service time, so a curve is made once for all means.
constexpr Duration unit = std::chrono::milliseconds(1);
constexpr Duration horizon = 16 * unit;

simulation::ServiceTime erlang(Duration mean, int phases) {
  return *simulation::ServiceTime::parse("erlang:" + format_duration(mean) + "," + std::to_string(phases));
}

// In mean service times, at table_shares. nullopt: one lies beyond the horizon.
std::optional<LatencyRow> response(const simulation::ServiceTime& unit_service, double utilisation) {
  const SingleServerQueue queue(unit_service, utilisation, horizon);
  LatencyRow row;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto time = queue.quantile(table_shares[i]);
    if (!time) return std::nullopt;
    row[i] = to_milliseconds(*time);
  }
  return row;
}

LatencyRow scaled(const LatencyRow& curve, double mean_ms, double round_trip_ms) {
  LatencyRow row;
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = curve[i] * mean_ms + round_trip_ms;
  return row;
}

double squares(const LatencyRow& row, const LatencyRow& printed) {
  double sum = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double error = std::log(row[i] / printed[i]);
    sum += error * error;
  }
  return sum;
}

struct Nearest {
  std::size_t curve = 0;
  double squares = std::numeric_limits<double>::infinity();
};

Nearest nearest(const std::vector<LatencyRow>& curves, double mean_ms, double round_trip_ms, const LatencyRow& printed) {
  Nearest best;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const double error = squares(scaled(curves[i], mean_ms, round_trip_ms), printed);
    if (error < best.squares) best = {i, error};
  }
  return best;
}

}  // namespace

simulation::ServiceTime ReadModel::service() const { return erlang(mean, phases); }

std::vector<ReadModelFit> fit_read_models(const LatencyRow& idle_ms, const LatencyRow& busy_ms, Duration round_trip) {
  const double way_ms = to_milliseconds(round_trip);
  const int means = static_cast<int>(std::lround((most_mean_ms - least_mean_ms) / mean_step_ms));
  std::vector<ReadModelFit> fits;
  for (int phases = 1; phases <= most_phases; ++phases) {
    const auto unit_service = erlang(unit, phases);
    std::vector<LatencyRow> curves;
    for (int i = 0; i <= utilisations; ++i) {
      const auto curve = response(unit_service, i * utilisation_step);
      if (!curve) break;  // from here on everything takes longer
      curves.push_back(*curve);
    }

    ReadModelFit best;
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i <= means; ++i) {
      const double mean_ms = least_mean_ms + i * mean_step_ms;
      // Given the service time, each load is fitted for itself.
      const Nearest idle = nearest(curves, mean_ms, way_ms, idle_ms);
      const Nearest busy = nearest(curves, mean_ms, way_ms, busy_ms);
      if (idle.squares + busy.squares >= least) continue;
      least = idle.squares + busy.squares;
      best.model = {phases, std::chrono::microseconds(std::lround(mean_ms * 1000)),
                    static_cast<double>(idle.curve) * utilisation_step, static_cast<double>(busy.curve) * utilisation_step};
      best.idle_ms = scaled(curves[idle.curve], mean_ms, way_ms);
      best.busy_ms = scaled(curves[busy.curve], mean_ms, way_ms);
      best.root_mean_square = std::sqrt(least / static_cast<double>(2 * idle_ms.size()));
    }
    fits.push_back(best);
  }
  return fits;
}

const ReadModelFit& best_fit(const std::vector<ReadModelFit>& fits) {
  return *std::min_element(fits.begin(), fits.end(), [](const ReadModelFit& a, const ReadModelFit& b) {
    return a.root_mean_square < b.root_mean_square;
  });
}

}  // namespace hedgerow::lab
