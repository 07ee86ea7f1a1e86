// A cluster that is there for a measurement: it has a thread's event loop to itself, and calls block.
//
// Experiments and sweeps own one each and use it from their one thread. Whatever happens, no process stays behind: the
// destructor stops the cluster, and kills what does not stop. The logs stay where something went wrong: by keep_logs, or by an
// exception. An exception out of a handler (but not one that a coroutine ends with) is the end of all: what the context holds
// may refer to what is gone, so nothing on it runs any more, and the processes are killed.
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
  // Whoever has work of its own on the context calls stop before that work's objects go.
  ~HostedCluster();
  HostedCluster(const HostedCluster&) = delete;
  HostedCluster& operator=(const HostedCluster&) = delete;

  // kind: of the directory for its state, which the settings get here. Errors say where the logs are.
  result<void> start(const std::string& kind, ClusterSettings settings, Cluster::EndObserver observer);
  void keep_logs();
  // Ends the processes, and returns when none runs. Once; then there is no cluster any more.
  void stop();
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
  bool broken_ = false;  // an exception came out of a handler
  int exceptions_before_ = std::uncaught_exceptions();
};

}  // namespace hedgerow::lab
