// Performs what policy/query/subsystems decides on real leaves: spelling, snippets and facets of one query.
//
// One per query, on the root's thread, owned by the query's coroutine; runs beside the search and the fetch of titles,
// which know nothing of it. What is still open when the answer goes out, or the client goes away, is cancelled; what
// comes later is dropped.
#pragma once

#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "index/query.hpp"
#include "root/answer.hpp"
#include "root/assignment.hpp"
#include "root/cluster.hpp"
#include "root/merge.hpp"
#include "root/policy/query/second_phase.hpp"
#include "root/policy/query/subsystems.hpp"
#include "wire/messages.hpp"

namespace hedgerow::root {

class SubsystemRunner {
 public:
  struct Query {
    const QueryPlan& plan;
    std::string text;  // as typed; empty where nothing was
    ServiceClass service_class;
    Instant received;
    Instant deadline;
    std::optional<Duration> grace;  // where the asker named one
    bool trace;
  };

  SubsystemRunner(boost::asio::any_io_executor executor, Cluster& cluster, const Query& query);
  ~SubsystemRunner();
  SubsystemRunner(const SubsystemRunner&) = delete;
  SubsystemRunner& operator=(const SubsystemRunner&) = delete;

  // There is load to be shed: all that are wanted are skipped. Before anything else.
  void shed() { subsystems_.shed(); }
  // At the query's start, for those that are wanted.
  void ask_spelling();
  void count_facets(const Assignment& assignment, std::vector<std::string> names);
  // When hits are fetched; then, once, when they are final.
  void make_snippets(std::span<const MergedHit> hits, const std::vector<policy::SecondPhase::Hit>& places);
  void close_snippets(std::span<const MergedHit> final_hits);

  // Hits and titles are final: returns when all subsystems have ended, at most the grace later.
  boost::asio::awaitable<void> settle();
  void abandon();

  // After settle.
  AnswerSubsystems statuses() const;
  std::optional<std::string> suggestion() const;
  std::vector<AnswerFacet> facets() const;
  std::optional<std::string> snippet_of(const MergedHit& hit) const;
  std::vector<AttemptTrace> take_trace() { return std::move(trace_); }

 private:
  class Call;

  void perform(policy::Actions actions);
  void send(const policy::SendParts& action);
  std::optional<CallId> send_call(const policy::SendParts& action, LeafClient& client, Call& call);
  void cancel(Call& call);
  void on_message(Call& call, wire::Message&& message);
  void on_answer(Call& call, wire::SpellAnswer&& answer);
  void on_answer(Call& call, wire::SnippetAnswer&& answer);
  void on_answer(Call& call, wire::FacetAnswer&& answer);
  // The place of a partition that this call still has to answer.
  std::optional<std::size_t> place_of(const Call& call, PartitionId partition) const;
  void fail(Call& call, policy::AttemptFailure failure, const char* outcome);
  void drop_leaf_of(Call& call, Error why);
  void end_trace(Call& call, const char* outcome);
  void trace_fault(const Call& call, const wire::Message& message);

  boost::asio::any_io_executor executor_;
  Cluster& cluster_;
  Query query_;
  policy::Subsystems subsystems_;
  boost::asio::steady_timer timer_;
  bool finished_ = false;
  std::list<Call> calls_;
  std::vector<AttemptTrace> trace_;
  // Spelling: the words asked, and what came.
  std::vector<std::string> words_;
  std::optional<std::string> suggestion_;
  // Snippets, by place.
  std::vector<MergedHit> snippet_hits_;
  std::vector<std::optional<std::string>> snippets_;
  std::unordered_map<DocumentNumber, std::size_t> snippet_places_;
  // Facets: the partitions by place; the counts by facet.
  struct FacetSum {
    std::map<std::string, std::uint64_t> counts;
    bool cut = false;
  };
  std::vector<std::string> facet_names_;
  std::vector<PartitionId> facet_partitions_;
  std::vector<FacetSum> facet_sums_;
  bool all_partitions_ = false;  // of the collection are asked for facets
};

}  // namespace hedgerow::root
