// A real cluster for one test: `hedgerow-lab up` with its leaves and root, asked over HTTP, ended with the test.
//
// Whatever ends the test, no process stays behind: the laboratory is our child and ends with this thread, and its leaves
// and root end with it. When a test fails, the ends of the processes' logs are shown.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "asking.hpp"
#include "lab/child_process.hpp"
#include "test_index.hpp"

namespace hedgerow::test {

struct ClusterOptions {
  std::filesystem::path index = synthetic_index().directory;
  std::size_t leaves = 4;
  std::size_t replicas = 1;
  unsigned workers = 1;  // of each leaf
  bool allow_faults = false;
  std::size_t spellers = 2;
  std::size_t cache_bytes = 0;  // of the root's results cache: off, so that every query is a query
  std::string canary = "off";   // of queries that do not say: a query's first time is then as all others
  std::vector<std::string> root_arguments = {};
  std::vector<std::string> leaf_arguments = {};
};

// Names of the leaves' metrics that many tests look at.
inline const std::string executed_searches = "hedgerow_leaf_work_executed_total{work=\"search\"}";
inline std::string searches_ended(const std::string& outcome) {
  return "hedgerow_leaf_work_total{outcome=\"" + outcome + "\",work=\"search\"}";
}

class TestCluster {
 public:
  // Returns when the root is ready; fails the test otherwise.
  explicit TestCluster(const ClusterOptions& options = {});
  ~TestCluster();
  TestCluster(const TestCluster&) = delete;
  TestCluster& operator=(const TestCluster&) = delete;

  const std::string& root_address() const { return root_address_; }
  std::string leaf_address(const std::string& leaf) const;
  // As the laboratory placed them.
  std::vector<std::uint32_t> partitions_of(const std::string& leaf) const;
  const std::vector<std::string>& leaves() const { return leaf_names_; }

  Reply ask(const std::string& method, const std::string& target, const std::string& body = "",
            const wire::HttpHeaders& headers = {});
  Reply search(const std::string& query, const lab::SearchParameters& parameters = {});

  // What the root says of itself and of one leaf (null: not in the topology).
  nlohmann::json cluster();
  nlohmann::json leaf(const std::string& name);
  // The leaf's state comes to be (or not to be) "serving", as the root sees it.
  bool becomes_serving(const std::string& leaf, Duration limit);
  bool stops_serving(const std::string& leaf, Duration limit);

  // The laboratory's control API. act fails the test where the action is refused.
  nlohmann::json process(const std::string& name);
  nlohmann::json act(const std::string& name, const std::string& action);
  int pid(const std::string& name);
  // Anything else that it offers.
  Reply control(const std::string& method, const std::string& target, const std::string& body = "");
  // For an action that takes its time; the reply is the control API's.
  std::future<Reply> act_in_background(const std::string& name, const std::string& action);

  // A counter or gauge as /metrics gives it: metric("root", "hedgerow_root_queries_total{outcome=\"complete\"}"); 0 where
  // there is none.
  double metric(const std::string& process, const std::string& series);

  // Through the root. Fail the test where the leaf does not take them.
  void set_faults(const std::string& leaf, const nlohmann::json& faults);
  nlohmann::json faults(const std::string& leaf);
  void clear_faults(const std::string& leaf);

  // The topology that the root reads; a new one counts after reload.
  nlohmann::json topology() const;
  void write_topology(const std::string& text);
  void reload();

  // What a process (or "up") has logged so far.
  std::string log(const std::string& process) const;

 private:
  void end();
  Client& client(const std::string& address);

  std::filesystem::path state_;
  boost::asio::io_context context_{1};
  std::shared_ptr<lab::ChildProcess> laboratory_;
  std::string root_address_, control_address_;
  std::vector<std::string> leaf_names_;
  nlohmann::json file_;  // cluster.json
  std::map<std::string, std::unique_ptr<Client>> clients_;
  int exceptions_before_;
};

// The partitions that an answer names as missing, with their reasons.
std::map<std::uint32_t, std::string> missing_of(const nlohmann::json& answer);
// So many times the same reason.
std::map<std::uint32_t, std::string> all_for(const std::vector<std::uint32_t>& partitions, const std::string& reason);
// The header that goes with a fraction: four places, rounded down.
std::string completeness_header(double fraction);
// Whether every hit has an id, a title and a rank, and scores fall.
bool hits_are_whole(const nlohmann::json& answer);

}  // namespace hedgerow::test
