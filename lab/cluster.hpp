// A cluster on this machine: one root and some leaves, real processes on loopback, started and watched by us.
//
// Owned by the `up` command or by a HostedCluster; everything on its executor's thread. A process that ends by itself is told to the observer
// and stays down until it is started on request: an experiment that quietly heals measures nothing. The destructor
// kills what still runs.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "lab/child_process.hpp"
#include "lab/cluster_file.hpp"
#include "lab/placement.hpp"

namespace hedgerow::lab {

struct ClusterSettings {
  std::filesystem::path index;    // absolute
  std::filesystem::path state;    // absolute; exists
  std::filesystem::path bin_dir;  // where hedgerow-leaf and hedgerow-root are
  Placement placement;            // one entry a leaf
  std::size_t spellers = 0;       // the first so many leaves serve spelling
  std::size_t partitions = 0;
  std::size_t replicas = 0;
  std::uint16_t port = 7080;      // the root's; 0 for any free one
  std::optional<unsigned> workers;  // of each leaf; its share of the cores where not given
  bool allow_faults = false;
  std::vector<std::string> leaf_arguments, root_arguments;  // further ones, as they are
  std::string log_level = "info";
  // How long a process may take until it listens, and the root until it is ready.
  Duration start_time = std::chrono::seconds(60);
  // How long processes may drain when they are asked to end; beyond, they are killed.
  Duration stop_time = std::chrono::seconds(5);
};

enum class ProcessState { starting, running, stopped, ending, ended };
std::string_view to_string(ProcessState state);

struct ProcessStatus {
  std::string name;
  ProcessState state = ProcessState::ended;
  int pid = 0;  // 0: none
  std::string address;
  std::vector<PartitionId> partitions;
  std::optional<ChildEnd> end;  // of the last process of this name, when there is none now
  std::size_t starts = 0;       // how often it was started
  std::size_t resident_bytes = 0;
  std::string log;
};

enum class ProcessAction { stop, go_on, kill, terminate, restart, start };
// "continue" is go_on.
std::optional<ProcessAction> parse_action(std::string_view word);

class Cluster {
 public:
  // A process ended that nobody had asked to end.
  using EndObserver = std::function<void(const std::string& name, int pid, const ChildEnd& end)>;

  Cluster(boost::asio::any_io_executor executor, ClusterSettings settings, EndObserver observer);
  ~Cluster();

  // Starts the leaves, then the root, writes the topology and the cluster file, and returns when the root is ready.
  // Errors name the process and show the end of its log; what was started by then still runs (see stop_all).
  boost::asio::awaitable<result<void>> start(std::string control_address);

  // SIGTERM to the root, then to the leaves; SIGKILL to what is left when the time is over. Returns when none runs.
  boost::asio::awaitable<void> stop_all();
  // Makes a stop_all that is under way kill at once.
  void hurry();

  std::vector<ProcessStatus> processes() const;
  std::optional<ProcessStatus> process(std::string_view name) const;
  // Returns how the process is afterwards: stopped or running again, ended, listening again at the address it had.
  // Errors: not_found (no such process), refused (it does not run, or does already, or another action is under way),
  // unavailable (it did not come up, or did not end in time).
  boost::asio::awaitable<result<ProcessStatus>> act(std::string name, ProcessAction action);

  std::string root_address() const;
  std::filesystem::path cluster_file() const;

 private:
  struct Implementation;
  std::shared_ptr<Implementation> implementation_;
};

}  // namespace hedgerow::lab
