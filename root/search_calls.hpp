// The search calls of one query: puts attempts into frames for leaves, and turns what comes back into events.
//
// One per query, on the root's thread, owned by its runner. Decides nothing. What a leaf answers is checked here, before
// anybody acts on it: a leaf that breaks the protocol is dropped, and what its call still waits for has failed. What is
// still open when this goes is left to the cluster's aftermath.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "index/query.hpp"
#include "root/attempt_ending.hpp"
#include "root/cluster.hpp"
#include "root/metrics.hpp"
#include "root/policy/query/action.hpp"
#include "root/trace_book.hpp"
#include "wire/messages.hpp"

namespace hedgerow::root {

class SearchCalls {
 public:
  struct Query {
    const QueryPlan& plan;
    std::uint32_t most_hits;
    ServiceClass service_class;
    Instant end;  // of the search
    std::uint32_t titles = 0;  // that come with the hits of each partition
  };

  class Listener {
   public:
    // The answer holds what the protocol promises. False: nobody waited for it.
    virtual bool on_answered(AttemptId attempt, wire::PartitionAnswer&& answer) = 0;
    virtual void on_failed(AttemptId attempt, policy::AttemptFailure failure) = 0;
    // This half of a tied pair has begun, and its leaf could not tell the twin.
    virtual void on_started(AttemptId attempt) = 0;

   protected:
    ~Listener() = default;
  };

  // All that is given outlives this.
  SearchCalls(Cluster& cluster, Metrics& metrics, TraceBook& traces, const Query& query, Listener& listener);
  ~SearchCalls();
  SearchCalls(const SearchCalls&) = delete;
  SearchCalls& operator=(const SearchCalls&) = delete;

  // In one frame: all of one kind, to one leaf. An attempt that cannot be sent has failed by the time this returns.
  // score_threshold: what scores less is not wanted, as enough hits that are merged already score as much; 0: none.
  void send(LeafId leaf, std::span<const policy::SendAttempt> attempts, double score_threshold);
  // Nobody waits for these any more. outcome: what a trace says of it.
  struct Given {
    AttemptId attempt;
    std::string_view outcome;
  };
  void cancel(std::span<const Given> up);

 private:
  class Call;

  void on_message(Call& call, wire::Message&& message);
  void on_lost(Call& call);
  void drop_leaf_of(Call& call, Error why);
  void failed(AttemptId attempt, policy::AttemptFailure failure, AttemptEnding ending, bool executed, std::string_view outcome);
  // The tied pair of an attempt that is to be sent; null for one that has no twin, or whose twin cannot be reached.
  std::shared_ptr<TiedPair> pair_of(const policy::SendAttempt& attempt);

  Cluster& cluster_;
  Metrics& metrics_;
  TraceBook& traces_;
  Query query_;
  Listener& listener_;
  std::list<Call> calls_;
  // By attempt: what is asked, the call that carries it, and its place in the trace.
  struct Carried {
    PartitionId partition;
    AttemptKind kind = AttemptKind::primary;
    Call* call = nullptr;
    std::shared_ptr<TiedPair> pair;
    TraceBook::Place trace;
    Instant sent{};
    bool cancelled = false;
  };
  Carried& carried(AttemptId attempt);
  std::vector<Carried> carried_;
};

}  // namespace hedgerow::root
