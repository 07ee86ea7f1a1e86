#include "lab/hosted_cluster.hpp"

namespace hedgerow::lab {

namespace asio = boost::asio;

namespace {

asio::awaitable<bool> stop(Cluster& cluster) {
  co_await cluster.stop_all();
  co_return true;
}

}  // namespace

HostedCluster::~HostedCluster() {
  if (!cluster_) return;
  if (hurry_) cluster_->hurry();
  try {
    wait_for(stop(*cluster_));
  } catch (const std::exception&) {
    // The cluster's destructor kills what is left.
  }
}

result<void> HostedCluster::start(const std::string& kind, ClusterSettings settings, Cluster::EndObserver observer) {
  auto state = TemporaryDirectory::make(kind);
  if (state.has_error()) return state.error();
  state_ = std::move(*state);
  settings.state = state_->path();
  cluster_ = std::make_unique<Cluster>(context_.get_executor(), std::move(settings), std::move(observer));
  auto started = wait_for(cluster_->start(""));
  if (!started.has_error()) return {};
  keep_logs();
  return Error{started.error().code, "the cluster does not start: " + started.error().context + " (logs are in " + logs().string() + ")"};
}

void HostedCluster::keep_logs() {
  if (state_) state_->keep();
}

void HostedCluster::run_one() {
  if (context_.stopped()) context_.restart();
  context_.run_one();
}

}  // namespace hedgerow::lab
