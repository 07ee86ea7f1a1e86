// Performs the query policies' actions on real leaves: the Asio host of policy/query.
//
// One per query, on the root's thread, owned by the query's coroutine. Decides nothing: it hands what is to be sent to
// search_calls and fetch_calls, tells the policies what came back and when, and keeps what was found.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "index/query.hpp"
#include "root/answer.hpp"
#include "root/assignment.hpp"
#include "root/cluster.hpp"
#include "root/fetch_calls.hpp"
#include "root/merge.hpp"
#include "root/metrics.hpp"
#include "root/policy/query/fanout.hpp"
#include "root/policy/query/second_phase.hpp"
#include "root/search_calls.hpp"
#include "root/trace_book.hpp"
#include "wire/messages.hpp"

namespace hedgerow::root {

class FanoutRunner final : private SearchCalls::Listener, private FetchCalls::Listener {
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
    std::uint32_t titles = 0;  // that come with the hits of each partition
  };

  FanoutRunner(boost::asio::any_io_executor executor, Cluster& cluster, Metrics& metrics, const Query& query,
               const Assignment& assignment);
  ~FanoutRunner();
  FanoutRunner(const FanoutRunner&) = delete;
  FanoutRunner& operator=(const FanoutRunner&) = delete;

  // Before begin: this leaf has answered a partition already (a canary), as this query would ask it, and its answer was
  // checked. Nothing happens where the partition is not asked.
  void adopt(PartitionId partition, LeafId leaf, const wire::PartitionAnswer& answer);

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

  // The second phase for these hits, as far as their documents did not come with them: the documents, in their order; nullopt for one that nobody delivered in time.
  boost::asio::awaitable<std::vector<std::optional<wire::FetchedDocument>>> fetch(const std::vector<MergedHit>& hits);

  // The client went away: cancels everything, so that search and fetch return soon.
  void abandon();
  bool abandoned() const { return abandoned_; }

  SearchAnswer::Attempts counts() const { return counts_; }
  std::vector<AttemptTrace> take_trace() { return traces_.take(); }

 private:
  enum class Phase { search, fetch };

  boost::asio::awaitable<void> wait();
  // phase: whose policy the actions are of.
  void perform(policy::Actions actions, Phase phase);
  policy::SecondPhase::Hit fetchable(const MergedHit& hit) const;
  // Gives the hit the next place in the second phase, with its document where that came with it.
  policy::SecondPhase::Hit take_in(const MergedHit& hit);
  void fetch_early();
  void send(std::span<const policy::SendAttempt> attempts);  // in one frame
  void send(const policy::SendFetch& action);
  void cancel(const std::vector<AttemptId>& attempts);
  void merge_answer(const wire::PartitionAnswer& answer, std::vector<wire::FetchedDocument>&& shown);
  std::size_t index_of(PartitionId partition) const;

  bool on_answered(AttemptId attempt, wire::PartitionAnswer&& answer) override;
  void on_failed(AttemptId attempt, policy::AttemptFailure failure) override;
  void on_started(AttemptId attempt) override;
  bool on_fetched(AttemptId attempt, std::vector<wire::FetchedDocument>&& documents) override;
  void on_fetch_failed(AttemptId attempt) override;

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
  TraceBook traces_;
  SearchCalls search_calls_;
  FetchCalls fetch_calls_;
  FetchListener on_fetching_;
  // What came with hits. A leaf that puts another partition's document into its answer speaks for its own partition only.
  std::map<std::pair<PartitionId, DocumentNumber>, wire::FetchedDocument> shown_;
  // By place in the second phase.
  std::vector<MergedHit> fetching_;
  std::vector<std::optional<wire::FetchedDocument>> fetched_;
  SearchAnswer::Attempts counts_;
};

}  // namespace hedgerow::root
