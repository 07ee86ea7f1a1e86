// Performs the query policies' actions on real leaves: the Asio host of policy/query.
//
// One per query, on the root's thread, owned by the query's coroutine. Decides nothing: it sends what it is told to send,
// tells the policies what came back and when, and keeps the books (hits, trace). Every call that it makes is an
// observer of its own; what is still open when the runner goes is abandoned.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "index/query.hpp"
#include "root/answer.hpp"
#include "root/assignment.hpp"
#include "root/cluster.hpp"
#include "root/merge.hpp"
#include "root/metrics.hpp"
#include "root/policy/query/fanout.hpp"
#include "root/policy/query/second_phase.hpp"
#include "wire/messages.hpp"

namespace hedgerow::root {

class FanoutRunner {
 public:
  struct Query {
    const QueryPlan& plan;
    std::uint32_t most_hits;  // offset + k
    std::uint32_t offset;
    ServiceClass service_class;
    Instant received;
    Instant search_end;
    Instant deadline;
    bool trace;
    policy::HedgeChoice hedge = {};
    bool tied = false;
    policy::GoodEnoughRule good_enough = {};
  };

  FanoutRunner(boost::asio::any_io_executor executor, Cluster& cluster, Metrics& metrics, const Query& query,
               const Assignment& assignment);
  ~FanoutRunner();
  FanoutRunner(const FanoutRunner&) = delete;
  FanoutRunner& operator=(const FanoutRunner&) = delete;

  // The search phase: begin sends its first calls (what is sent after it stands behind them), search lasts until the
  // policy finishes it, and begins where nobody has.
  void begin();
  boost::asio::awaitable<void> search();
  const policy::Fanout& fanout() const { return fanout_; }
  Merge& merge() { return merge_; }
  // Estimated matches of the partitions that answered, and whether every estimate was exact.
  std::uint64_t matches() const { return matches_; }
  bool matches_exact() const { return matches_exact_; }

  // Told of hits when their documents are first asked for, and where these are: early, or when the hits are final.
  using FetchListener =
      std::function<void(std::span<const MergedHit> hits, const std::vector<policy::SecondPhase::Hit>& places)>;
  void on_fetching(FetchListener listener) { on_fetching_ = std::move(listener); }

  // The second phase for these hits: the documents, in their order; nullopt for one that nobody delivered in time.
  boost::asio::awaitable<std::vector<std::optional<wire::FetchedDocument>>> fetch(const std::vector<MergedHit>& hits);

  // The client went away: cancels everything, so that search and fetch return soon.
  void abandon();
  bool abandoned() const { return abandoned_; }

  SearchAnswer::Attempts counts() const { return counts_; }
  std::vector<AttemptTrace> take_trace() { return std::move(trace_); }

 private:
  class SearchCallObserver;
  class FetchCallObserver;

  enum class Phase { search, fetch };

  boost::asio::awaitable<void> wait();
  // phase: whose policy the actions are of.
  void perform(policy::Actions actions, Phase phase);
  policy::SecondPhase::Hit fetchable(const MergedHit& hit) const;
  void fetch_early();
  void send_search(LeafId leaf, const std::vector<policy::SendAttempt>& attempts);
  void send_fetch(const policy::SendFetch& action);
  void cancel(AttemptId attempt);
  void on_partition(SearchCallObserver& call, wire::Message&& message);
  void on_search_lost(SearchCallObserver& call);
  // The leaf broke the protocol: its link ends, and what the call still waits for is asked elsewhere.
  void drop_leaf_of(SearchCallObserver& call, Error why);
  void on_fetched(FetchCallObserver& call, wire::Message&& message);
  void on_fetch_failed(FetchCallObserver& call, const char* outcome);
  void search_failed(AttemptId attempt, policy::AttemptFailure failure, const char* outcome);
  void cancel(FetchCallObserver& call);
  // A place in the trace; none where no trace is kept.
  using TracePlace = std::optional<std::size_t>;
  TracePlace trace_attempt(AttemptKind kind, std::optional<PartitionId> partition, const LeafClient* leaf);
  AttemptTrace* trace_of(TracePlace place);
  void end_trace(TracePlace place, const char* outcome);

  boost::asio::any_io_executor executor_;
  Cluster& cluster_;
  Metrics& metrics_;
  Query query_;
  policy::Fanout fanout_;
  policy::SecondPhase second_phase_;
  Merge merge_;
  std::uint64_t matches_ = 0;
  bool matches_exact_ = true;
  boost::asio::steady_timer timer_;
  Instant wake_at_;
  Phase phase_ = Phase::search;
  bool begun_ = false;
  bool phase_finished_ = false;
  bool abandoned_ = false;
  std::list<SearchCallObserver> search_calls_;
  std::list<FetchCallObserver> fetch_calls_;
  // By attempt: the call that carries it, and its place in the trace.
  struct Carrier {
    SearchCallObserver* call = nullptr;
    TracePlace trace_place;
    Instant sent{};
  };
  std::vector<Carrier> carriers_;
  FetchListener on_fetching_;
  // By place in the second phase.
  std::vector<MergedHit> fetching_;
  std::vector<std::optional<wire::FetchedDocument>> fetched_;
  SearchAnswer::Attempts counts_;
  std::vector<AttemptTrace> trace_;
};

}  // namespace hedgerow::root
