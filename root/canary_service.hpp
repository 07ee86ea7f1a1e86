// Canary requests on real leaves: the Asio host of policy/cluster/canaries.
//
// One per root, on the root's thread; queries ask it before they fan out (CanaryRequest), and tell it afterwards what
// became of their leaves. Trials outlive the queries that began them and are owned here: their calls are observers of
// their own, and stop ends them all. Nothing is decided here.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "index/query.hpp"
#include "root/answer.hpp"
#include "root/assignment.hpp"
#include "root/attempt_ending.hpp"
#include "root/cluster.hpp"
#include "root/metrics.hpp"
#include "root/policy/cluster/canaries.hpp"
#include "root/policy_words.hpp"
#include "wire/messages.hpp"

namespace hedgerow::root {

// The exact normalised query: the plan's query, its terms and its generation, as bytes. Whatever was typed, and whether
// it was a text or like=ID, queries of one plan share it.
std::string fingerprint_of(const QueryPlan& plan);

class CanaryService;

// One query that asks. Lives until it was told, or does not want to be any more.
class CanaryRequest {
 public:
  struct Query {
    const QueryPlan& plan;
    const Assignment& assignment;
    std::string shown;  // as it was typed
    std::uint32_t most_hits;
    ServiceClass service_class;
    CanaryUse use;
    Instant received;
    Instant search_end;
    bool trace;
    std::uint32_t titles = 0;  // that come with the hits
  };

  CanaryRequest(CanaryService& service, const Query& query);
  ~CanaryRequest();
  CanaryRequest(const CanaryRequest&) = delete;
  CanaryRequest& operator=(const CanaryRequest&) = delete;

  // Until the query may go, or may not; at the search's end at the latest.
  boost::asio::awaitable<policy::CanaryAnswer> wait();
  // Its client went away: wait returns.
  void abandon();
  bool abandoned() const { return abandoned_; }

  // The canary's answer is this query's answer for its partition: same query, same k.
  struct Answered {
    PartitionId partition;
    LeafId leaf;
    wire::PartitionAnswer answer;
  };
  const std::optional<Answered>& answered() const { return answered_; }
  // Canaries that were sent for this query, and their way.
  std::uint32_t attempts() const { return attempts_; }
  std::vector<AttemptTrace> take_trace() { return std::move(trace_); }
  const Query& query() const { return query_; }
  const std::string& fingerprint() const { return fingerprint_; }

 private:
  friend class CanaryService;
  CanaryService& service_;
  Query query_;
  std::string fingerprint_;
  std::optional<policy::WaiterId> waiter_;
  boost::asio::steady_timer told_;
  std::optional<policy::CanaryAnswer> answer_;
  std::optional<Answered> answered_;
  std::uint32_t attempts_ = 0;
  std::vector<AttemptTrace> trace_;
  bool abandoned_ = false;
};

class CanaryService {
 public:
  CanaryService(boost::asio::any_io_executor executor, Cluster& cluster, Metrics& metrics,
                const policy::CanariesSettings& settings, std::uint64_t seed);
  ~CanaryService();
  CanaryService(const CanaryService&) = delete;
  CanaryService& operator=(const CanaryService&) = delete;

  // What became of a search that had asked before, and of the leaves whose links broke under it.
  void on_searched(const CanaryRequest& request, const Completeness& completeness, const std::vector<LeafId>& lost);

  // A quarantined query, in the words of the API. until: of the machine's clock.
  struct Entry {
    std::uint64_t id = 0;
    std::string query;
    policy::QuarantineReason reason;
    std::vector<std::string> leaves;
    std::chrono::system_clock::time_point since, until;
    Duration remaining{};
    std::uint64_t refused = 0;
  };
  std::vector<Entry> entries();
  // What a query is told that is quarantined; nullopt: it is not, any more.
  std::optional<Entry> entry_of(const std::string& fingerprint);
  // Everything that is held against any query; how many were quarantined. Or one entry; false: there is none.
  std::size_t clear();
  bool clear(std::uint64_t id);

  // Of what changes with time alone.
  void refresh_metrics();
  // Ends every trial; whoever still waits is told that nothing is decided.
  void stop();

 private:
  friend class CanaryRequest;
  class Call;
  struct Trial;

  void ask(CanaryRequest& request);
  void leave(CanaryRequest& request);
  void perform(policy::CanaryActions actions);
  void begin(const policy::canary_action::Begin& action);
  void send(const policy::canary_action::Send& action);
  void cancel(const policy::canary_action::Cancel& action);
  void tell(const policy::canary_action::Tell& action);
  void decided(const policy::canary_action::Decided& action);
  void end(policy::TrialId trial);
  void on_message(Call& call, wire::Message&& message);
  void failed(Call& call, policy::AttemptFailure failure, AttemptEnding ending, std::string_view outcome);
  void set_timer();
  void keep_beat();
  Entry shown(const policy::Quarantine::Entry& entry) const;
  std::string name_of(LeafId leaf) const;

  boost::asio::any_io_executor executor_;
  Cluster& cluster_;
  Metrics& metrics_;
  policy::Canaries canaries_;
  std::map<policy::TrialId, std::shared_ptr<Trial>> trials_;
  std::map<policy::WaiterId, CanaryRequest*> requests_;
  boost::asio::steady_timer timer_;
  std::optional<Instant> timer_at_;
  boost::asio::steady_timer beat_;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);  // the timer's handler may come after our end
  bool stopped_ = false;
};

}  // namespace hedgerow::root
