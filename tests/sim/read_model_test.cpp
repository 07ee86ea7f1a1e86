#include "lab/experiments/read_model.hpp"

#include <cmath>
#include <doctest/doctest.h>

#include "lab/experiments/single_server_queue.hpp"

using namespace hedgerow;
using namespace hedgerow::lab;
using namespace std::chrono_literals;

namespace {

LatencyRow row_of(const char* service, double utilisation, double round_trip_ms) {
  const SingleServerQueue queue(*simulation::ServiceTime::parse(service), utilisation, 400ms);
  LatencyRow row;
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = to_milliseconds(queue.quantile(table_shares[i]).value()) + round_trip_ms;
  return row;
}

}  // namespace

TEST_CASE("a model is found again from its own latencies") {
  const auto fits = fit_read_models(row_of("erlang:12ms,4", 0.3, 0.5), row_of("erlang:12ms,4", 0.6, 0.5), 500us);
  const ReadModelFit& fit = best_fit(fits);
  CHECK(fit.model.phases == 4);
  CHECK(to_milliseconds(fit.model.mean) == doctest::Approx(12));
  CHECK(fit.model.idle_utilisation == doctest::Approx(0.3));
  CHECK(fit.model.busy_utilisation == doctest::Approx(0.6));
  CHECK(fit.root_mean_square < 1e-3);
}

TEST_CASE("a disk that serves one read at a time has the paper's untied latencies, idle and busy, by load alone") {
  const LatencyRow idle{19, 38, 67, 98}, busy{24, 56, 108, 159};  // "The Tail at Scale", Table 2
  const auto fits = fit_read_models(idle, busy, 500us);
  REQUIRE(fits.size() == 12);
  const ReadModelFit& fit = best_fit(fits);
  MESSAGE(fit.model.phases << " phases, " << to_milliseconds(fit.model.mean) << " ms, utilisation "
                           << fit.model.idle_utilisation << " and " << fit.model.busy_utilisation << ", error "
                           << fit.root_mean_square);
  for (std::size_t i = 0; i < idle.size(); ++i) {
    CHECK(std::abs(fit.idle_ms[i] / idle[i] - 1) < 0.05);
    CHECK(std::abs(fit.busy_ms[i] / busy[i] - 1) < 0.05);
  }
  // The figures do not say how many phases there are, from four on; fewer do not fit.
  for (const ReadModelFit& other : fits) {
    CAPTURE(other.model.phases);
    CHECK((other.root_mean_square < 0.021) == (other.model.phases >= 4));
  }
}

TEST_CASE("the untied figures alone do not say how much of a read is waiting: log-normal reads with hardly a queue have them too") {
  // Nearly all of an idle read is its own service here, so a second queue would gain nothing; the paper's tied reads did.
  const LatencyRow idle{19, 38, 67, 98}, busy{24, 56, 108, 159};
  const LatencyRow idle_ms = row_of("lognormal:17630us,0.5308", 0.0753, 0.5);
  const LatencyRow busy_ms = row_of("lognormal:17630us,0.5308", 0.412, 0.5);
  for (std::size_t i = 0; i < idle.size(); ++i) {
    CHECK(std::abs(idle_ms[i] / idle[i] - 1) < 0.03);
    CHECK(std::abs(busy_ms[i] / busy[i] - 1) < 0.03);
  }
}
