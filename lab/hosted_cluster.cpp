#include "lab/hosted_cluster.hpp"

namespace hedgerow::lab {

namespace asio = boost::asio;

namespace {

asio::awaitable<bool> stop_all(Cluster& cluster) {
  co_await cluster.stop_all();
  co_return true;
}

}  // namespace

HostedCluster::~HostedCluster() {
  if (std::uncaught_exceptions() > exceptions_before_) keep_logs();
  stop();
}

void HostedCluster::stop() {
  if (!cluster_) return;
  if (hurry_) cluster_->hurry();
  try {
    if (!broken_) wait_for(stop_all(*cluster_));
  } catch (const std::exception&) {
    // Killed, then.
  }
  cluster_.reset();
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
  try {
    context_.run_one();
  } catch (...) {
    broken_ = true;
    throw;
  }
}

}  // namespace hedgerow::lab
