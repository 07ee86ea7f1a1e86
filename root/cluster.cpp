#include "root/cluster.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.hpp"

namespace hedgerow::root {

namespace asio = boost::asio;

Cluster::Cluster(asio::any_io_executor executor, Manifest manifest, LeafClientSettings settings,
                 const policy::SearchPolicySettings& policies, std::uint64_t seed, Metrics& metrics,
                 std::uint64_t tie_nonce)
    : executor_(std::move(executor)),
      manifest_(std::move(manifest)),
      settings_(settings),
      metrics_(metrics),
      aftermath_(metrics),
      policies_{{policies, seed}, policy::ReplicaChoice(Random(seed + 1)), policy::LatencyModel(), {}},
      tie_nonce_(tie_nonce),
      replicas_(std::make_shared<const Replicas>(manifest_.partitions.size())),
      spellers_(std::make_shared<const std::vector<LeafId>>()),
      all_ended_(executor_) {}

Cluster::~Cluster() = default;

void Cluster::apply(const Topology& topology) {
  std::vector<LeafId> order;
  std::vector<bool> kept(clients_.size(), false);
  for (const auto& leaf : topology.leaves) {
    const auto same = std::find_if(clients_.begin(), clients_.end(), [&](const auto& client) {
      return client && client->state() != LeafClient::State::stopped && client->leaf() == leaf;
    });
    if (same != clients_.end()) {
      kept[static_cast<std::size_t>(same - clients_.begin())] = true;
      order.push_back((*same)->id());
    } else {
      start(leaf);
      order.push_back(LeafId{static_cast<std::uint32_t>(clients_.size() - 1)});
    }
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (!kept[i] && clients_[i] && clients_[i]->state() != LeafClient::State::stopped) clients_[i]->retire();
  }

  auto replicas = std::make_shared<Replicas>(manifest_.partitions.size());
  auto spellers = std::make_shared<std::vector<LeafId>>();
  for (const auto id : order) {
    if (clients_[id.value]->leaf().spelling) spellers->push_back(id);
    for (const auto partition : clients_[id.value]->leaf().partitions) (*replicas)[partition.value].push_back(id);
  }
  order_ = std::move(order);
  replicas_ = std::move(replicas);
  spellers_ = std::move(spellers);
  log_event(LogLevel::info, "topology", {{"leaves", order_.size()}, {"partitions", replicas_->size()}});
}

void Cluster::start(const TopologyLeaf& leaf) {
  const LeafId id{static_cast<std::uint32_t>(clients_.size())};
  auto client = std::make_shared<LeafClient>(
      executor_, id, leaf, manifest_, settings_, [this](LeafClient& changed, bool up, const Error& why) {
        if (up) {
          policies_.search.on_leaf_up(changed.id());
          policies_.side_choice.on_leaf_up(changed.id());
          log_event(LogLevel::info, "leaf_up", {{"leaf", changed.leaf().name}});
        } else {
          on_leaf_down(changed, why);
        }
        if (listener_) listener_(changed, up, why);
        const auto serving = std::count_if(clients_.begin(), clients_.end(),
                                           [](const auto& c) { return c && c->serving(); });
        metrics_.leaves_serving.Set(static_cast<double>(serving));
      });
  clients_.push_back(client);
  ++running_;
  asio::co_spawn(executor_, client->run(), [this, id](std::exception_ptr problem) {
    if (problem) log_event(LogLevel::error, "leaf_client_failed", {{"leaf", clients_[id.value]->leaf().name}});
    // Whoever of the queries still holds it keeps it alive.
    clients_[id.value].reset();
    if (--running_ == 0) all_ended_.cancel();
  });
}

void Cluster::on_leaf_down(const LeafClient& leaf, const Error& why) {
  policies_.search.on_leaf_down(leaf.id());
  policies_.side_choice.on_leaf_down(leaf.id());
  const nlohmann::json fields{{"leaf", leaf.leaf().name}, {"reason", to_string(why)}};
  if (why.code == Errc::cancelled) return log_event(LogLevel::info, "leaf_let_go", fields);  // our own wish

  metrics_.links_lost.Increment();
  const bool broke_protocol = why.code == Errc::protocol;
  if (broke_protocol) metrics_.links_dropped_for_protocol.Increment();
  // A leaf of another version says the same at every try; once is enough.
  const bool said_before = leaf.last_error() == to_string(why);
  log_event(said_before ? LogLevel::debug : LogLevel::warning, broke_protocol ? "leaf_dropped" : "leaf_down", fields);
}

std::shared_ptr<LeafClient> Cluster::client_named(std::string_view name) const {
  for (const auto id : order_) {
    if (clients_[id.value] && clients_[id.value]->leaf().name == name) return clients_[id.value];
  }
  return nullptr;
}

std::vector<std::shared_ptr<LeafClient>> Cluster::leaves() const {
  std::vector<std::shared_ptr<LeafClient>> out;
  for (const auto id : order_) {
    if (clients_[id.value]) out.push_back(clients_[id.value]);
  }
  return out;
}

bool Cluster::ready() const {
  return std::all_of(replicas_->begin(), replicas_->end(), [this](const std::vector<LeafId>& leaves) {
    return std::any_of(leaves.begin(), leaves.end(), [this](LeafId leaf) {
      return clients_[leaf.value] && clients_[leaf.value]->serving();
    });
  });
}

// A permutation of the counter (the last step of splitmix64), so that no name comes twice.
std::uint64_t Cluster::next_tie_name() {
  std::uint64_t name = tie_nonce_ + ++ties_ * 0x9e3779b97f4a7c15;
  name = (name ^ (name >> 30)) * 0xbf58476d1ce4e5b9;
  name = (name ^ (name >> 27)) * 0x94d049bb133111eb;
  return name ^ (name >> 31);
}

std::size_t Cluster::most_replicas() const {
  std::size_t most = 0;
  for (const auto& leaves : *replicas_) most = std::max(most, leaves.size());
  return most;
}

void Cluster::refresh_metrics() {
  const auto& hedging = policies_.search.hedging;
  const auto bring_to = [](prometheus::Counter& counter, std::uint64_t value) {
    counter.Increment(static_cast<double>(value) - counter.Value());
  };
  bring_to(metrics_.hedges_refused_by_budget, hedging.budget().refused());
  metrics_.hedge_budget_tokens.Set(hedging.budget().tokens());
  for (std::size_t i = 0; i < metrics_.hedge_obstacle.size(); ++i) {
    bring_to(*metrics_.hedges_suppressed[i], hedging.suppressed(static_cast<policy::HedgeObstacle>(i)));
    metrics_.hedge_obstacle[i]->Set(static_cast<std::size_t>(hedging.obstacle()) == i ? 1 : 0);
  }
}

asio::awaitable<void> Cluster::stop() {
  for (const auto& client : clients_) {
    if (client) client->stop();
  }
  while (running_ > 0) {
    all_ended_.expires_after(std::chrono::seconds(5));
    co_await all_ended_.async_wait(asio::as_tuple(asio::use_awaitable));
  }
}

}  // namespace hedgerow::root
