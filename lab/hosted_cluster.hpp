// A cluster that is there for a measurement: it has a thread's event loop to itself, and calls block.
//
// Experiments and sweeps own one each and use it from their one thread. Whatever happens, no process stays behind: the
// destructor stops the cluster, and kills what does not stop. The logs stay where something went wrong (keep_logs).
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "lab/cluster.hpp"
#include "lab/temporary_directory.hpp"

namespace hedgerow::lab {

class HostedCluster {
 public:
  HostedCluster() = default;
  // Whoever measures has stopped its own work on the context by then.
  ~HostedCluster();
  HostedCluster(const HostedCluster&) = delete;
  HostedCluster& operator=(const HostedCluster&) = delete;

  // kind: of the directory for its state, which the settings get here. Errors say where the logs are.
  result<void> start(const std::string& kind, ClusterSettings settings, Cluster::EndObserver observer);
  void keep_logs();
  // Does not wait for processes that drain when it is stopped.
  void hurry() { hurry_ = true; }

  // After start.
  Cluster& cluster() { return *cluster_; }
  const std::filesystem::path& logs() const { return state_->path(); }

  boost::asio::io_context& context() { return context_; }
  // Runs everything on the context until this is done; what it throws is thrown here.
  template <class T>
  T wait_for(boost::asio::awaitable<T> work) {
    std::optional<T> value;
    std::exception_ptr problem;
    bool done = false;
    boost::asio::co_spawn(context_, std::move(work), [&](std::exception_ptr thrown, T got) {
      problem = thrown;
      value = std::move(got);
      done = true;
    });
    while (!done) run_one();
    if (problem) std::rethrow_exception(problem);
    return std::move(*value);
  }
  // Waits for one handler of the context and runs it.
  void run_one();

 private:
  std::optional<TemporaryDirectory> state_;
  boost::asio::io_context context_{1};
  std::unique_ptr<Cluster> cluster_;
  bool hurry_ = false;
};

}  // namespace hedgerow::lab
