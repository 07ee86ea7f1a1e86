#include "lab/simulation/random_world.hpp"

#include <algorithm>
#include <string>

#include "base/random.hpp"

namespace hedgerow::lab::simulation {

namespace {

using policy::HedgeChoice;
using Mode = HedgeChoice::Mode;

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}

  bool chance(double probability) { return random_.chance(probability); }
  double between(double from, double to) { return from + random_.uniform() * (to - from); }
  std::size_t number(std::size_t from, std::size_t to) { return from + random_.below(to - from + 1); }
  Duration time(double from_ms, double to_ms) { return from_milliseconds(between(from_ms, to_ms)); }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[random_.below(values.size())];
  }

 private:
  Random random_;
};

ServiceTime draw_service(Dice& dice) {
  const auto time = [&](double from_ms, double to_ms) { return format_duration(dice.time(from_ms, to_ms)); };
  std::string text;
  switch (dice.number(0, 6)) {
    case 0: text = "constant:" + time(0.05, 5); break;
    case 1: text = "uniform:" + time(0, 2) + ".." + time(3, 12); break;
    case 2: text = "exponential:" + time(0.2, 8); break;
    case 3: text = "lognormal:" + time(0.5, 5) + "," + std::to_string(dice.between(0.1, 1.5)); break;
    case 4: text = "erlang:" + time(1, 8) + "," + std::to_string(dice.number(1, 8)); break;
    case 5: text = "pieces:" + time(0.5, 3) + "=1," + time(4, 10) + "=0.02," + time(20, 80) + "=0.002,cap=" + time(100, 2000); break;
    default: text = "mix:0.95*constant:" + time(0.5, 3) + "+0.05*exponential:" + time(10, 100); break;
  }
  return *ServiceTime::parse(text);
}

ServiceTime draw_network(Dice& dice) {
  const auto time = [&](double from_ms, double to_ms) { return format_duration(dice.time(from_ms, to_ms)); };
  switch (dice.number(0, 3)) {
    case 0: return ServiceTime::constant(Duration::zero());
    case 1: return ServiceTime::constant(dice.time(0.01, 2));
    case 2: return *ServiceTime::parse("exponential:" + time(0.05, 2));
    default: return *ServiceTime::parse("lognormal:" + time(0.05, 1) + ",1.5");
  }
}

QueryShape draw_shape(Dice& dice, std::size_t partitions) {
  QueryShape shape;
  shape.weight = dice.between(0.2, 1);
  shape.hedge.mode = dice.one_of({Mode::automatic, Mode::automatic, Mode::quantile, Mode::fixed, Mode::off});
  shape.hedge.quantile = dice.between(0.5, 0.999);
  shape.hedge.delay = dice.time(0, 20);
  shape.tied = dice.chance(0.3);
  if (dice.chance(0.4)) {
    shape.good_enough.min_completeness = dice.between(0.3, 1);
    shape.good_enough.patience = dice.time(0, 10);
  }
  shape.deadline = dice.chance(0.1) ? dice.time(0.001, 2) : dice.time(2, 300);
  shape.width = dice.chance(0.5) ? 0 : dice.number(1, partitions);
  shape.service_class = dice.chance(0.3) ? ServiceClass::batch : ServiceClass::interactive;
  shape.client_leaves = dice.chance(0.3) ? dice.between(0, 0.3) : 0;
  return shape;
}

Fault draw_fault(Dice& dice, std::size_t leaves, double seconds) {
  Fault fault;
  fault.kind = static_cast<FaultKind>(dice.number(0, static_cast<std::size_t>(FaultKind::cut_silently)));
  if (!dice.chance(0.1)) fault.leaf = LeafId{static_cast<std::uint32_t>(dice.number(0, leaves - 1))};
  const double begin = dice.between(0, seconds);
  fault.from = from_milliseconds(1000 * begin);
  const double lasts = dice.chance(0.5) ? dice.between(0, 0.05) : dice.between(0, seconds / 3);
  if (fault.kind == FaultKind::freeze || dice.chance(0.85)) fault.until = from_milliseconds(1000 * (begin + lasts));
  fault.delay = ServiceTime::constant(dice.time(0, 100));
  fault.factor = dice.between(0.5, 20);
  fault.probability = dice.chance(0.5) ? 1 : dice.between(0, 1);
  return fault;
}

// What stands around the search, each now and then.
void add_surroundings(Dice& dice, WorldSettings& world) {
  if (dice.chance(0.25)) {
    world.admission.emplace();
    auto& limit = world.admission->limit;
    limit.adaptive = dice.chance(0.7);
    limit.most = dice.one_of<std::size_t>({4, 1024});
    limit.first = dice.one_of<std::size_t>({2, 32});
    limit.least = dice.one_of<std::size_t>({1, 4});
    world.admission->most_waiting = dice.one_of<std::size_t>({0, 4, 1024});
    for (QueryShape& shape : world.shapes) shape.partial = dice.chance(0.7);
  }
  if (dice.chance(0.25)) {
    world.canaries.emplace();
    world.canaries->most_trials = dice.one_of<std::size_t>({4, 2048});
    world.restart_time = dice.time(10, 1000);
    for (QueryShape& shape : world.shapes) shape.texts = dice.chance(0.5) ? dice.number(1, 50) : 0;
  }
  if (dice.chance(0.1)) {
    QueryShape deadly = draw_shape(dice, world.partitions);
    deadly.deadly = true;
    deadly.texts = dice.number(1, 3);
    deadly.weight = dice.between(0.001, 0.05);
    world.shapes.push_back(deadly);
  }
  if (dice.chance(0.2)) world.spellers = Spellers{dice.number(1, 3), draw_service(dice)};
  if (dice.chance(0.2)) {
    world.upkeep.period = dice.time(100, 3000);
    world.upkeep.length = from_milliseconds(to_milliseconds(world.upkeep.period) * dice.between(0.01, 0.5));
    world.upkeep.phase = dice.one_of({Upkeep::Phase::aligned, Upkeep::Phase::staggered});
  }
  for (QueryShape& shape : world.shapes) {
    if (dice.chance(0.1)) shape.shared = draw_service(dice);
    if (dice.chance(0.1)) shape.draws = dice.number(2, 5);
  }
}

}  // namespace

WorldSettings random_world(std::uint64_t seed, std::uint64_t queries) {
  Dice dice(seed);
  WorldSettings world;
  world.seed = seed;
  world.queries = queries;
  world.roots = dice.chance(0.7) ? 1 : dice.number(2, 3);
  world.replicas = dice.number(1, 4);
  world.leaves = dice.number(world.replicas, 24);
  world.partitions = dice.number((world.leaves + world.replicas - 1) / world.replicas, std::max<std::size_t>(world.leaves, 32));
  world.workers = dice.chance(0.15) ? 0 : dice.number(1, 4);
  world.queue_capacity = dice.one_of<std::size_t>({1, 4, 32, 256, 1024});
  world.service = draw_service(dice);
  world.network = draw_network(dice);
  world.link_idle_time = dice.time(20, 1000);
  world.reconnect_time = dice.time(1, 100);
  if (dice.chance(0.3)) {
    world.slow_periods = {dice.time(100, 3000), dice.time(5, 300), dice.between(1, 20), dice.time(0, 20)};
  }
  if (dice.chance(0.15)) {
    world.shared_slow_periods = {dice.time(300, 3000), dice.time(20, 500), dice.between(1, 10), dice.time(0, 200)};
  }

  for (std::size_t shapes = dice.number(1, 4); shapes > 0; --shapes) world.shapes.push_back(draw_shape(dice, world.partitions));
  world.shapes.erase(world.shapes.begin());  // the default one
  double weight = 0, width = 0;
  for (const QueryShape& shape : world.shapes) {
    weight += shape.weight;
    width += shape.weight * static_cast<double>(shape.width == 0 ? world.partitions : shape.width);
  }
  const double service = std::max(world.service.mean_seconds(), 1e-5);
  const double workers = static_cast<double>(std::max<std::size_t>(world.workers, 1) * world.leaves);
  // From a quiet night to three times as much as can be done.
  const double utilisation = dice.chance(0.7) ? dice.between(0.02, 0.95) : dice.between(0.95, 3);
  world.rate = std::clamp(utilisation * workers / service / (width / weight), 1.0, 20'000.0);
  const double seconds = static_cast<double>(queries) / world.rate;
  if (dice.chance(0.2)) {
    world.background = {dice.between(0.05, 0.5) * static_cast<double>(std::max<std::size_t>(world.workers, 1)) / service, world.service,
                        dice.one_of({ServiceClass::batch, ServiceClass::interactive}), std::nullopt};
  }
  if (dice.chance(0.3)) {
    const double begin = dice.between(0, seconds);
    world.rate_changes = {{from_milliseconds(1000 * begin), world.rate * dice.between(1, 5)},
                          {from_milliseconds(1000 * (begin + dice.between(0, seconds / 4))), world.rate}};
  }
  world.linger = dice.chance(0.5) ? Duration::zero() : dice.time(0.1, 30);

  auto& hedge = world.policies.hedge;
  hedge.budget_fill = dice.chance(0.2) ? dice.between(0.1, 1) : dice.between(0, 0.1);
  hedge.budget_depth = dice.chance(0.3) ? dice.between(0, 3) : dice.between(3, 300);
  hedge.most_hedges = dice.number(1, 3);
  world.policies.retry_fill = dice.between(0, 0.3);
  world.policies.retry_depth = dice.chance(0.3) ? dice.between(0, 3) : dice.between(3, 500);
  using Choice = policy::ReplicaChoiceSettings::Mode;
  world.policies.replica_choice.mode = dice.one_of({Choice::prequal, Choice::prequal, Choice::least_in_flight, Choice::random});
  for (std::size_t changes = dice.chance(0.4) ? dice.number(1, 3) : 0; changes > 0; --changes) {
    world.budget_changes.push_back({from_milliseconds(1000 * dice.between(0, seconds)), dice.between(0, 0.3), dice.between(0, 300)});
  }
  for (std::size_t faults = dice.chance(0.15) ? 0 : dice.number(1, 10); faults > 0; --faults) {
    world.faults.push_back(draw_fault(dice, world.leaves, seconds));
  }
  add_surroundings(dice, world);
  return world;
}

}  // namespace hedgerow::lab::simulation
