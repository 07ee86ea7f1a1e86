// The second phase's calls of one query: asks leaves for documents, and turns what comes back into events.
//
// One per query, on the root's thread, owned by its runner. Decides nothing. A leaf that answers with something else than
// the documents asked for is dropped. What is still open when this goes is abandoned.
#pragma once

#include <list>
#include <vector>

#include "root/cluster.hpp"
#include "root/trace_book.hpp"
#include "wire/messages.hpp"

namespace hedgerow::root {

class FetchCalls {
 public:
  struct Query {
    Generation generation;
    ServiceClass service_class;
    Instant deadline;
  };

  class Listener {
   public:
    // As many documents as were asked for, in that order. False: nobody waited for them.
    virtual bool on_fetched(AttemptId attempt, std::vector<wire::FetchedDocument>&& documents) = 0;
    virtual void on_fetch_failed(AttemptId attempt) = 0;

   protected:
    ~Listener() = default;
  };

  // All that is given outlives this.
  FetchCalls(Cluster& cluster, TraceBook& traces, const Query& query, Listener& listener);
  ~FetchCalls();
  FetchCalls(const FetchCalls&) = delete;
  FetchCalls& operator=(const FetchCalls&) = delete;

  // A call that cannot be sent has failed by the time this returns.
  void send(AttemptId attempt, LeafId leaf, std::vector<wire::DocumentAddress> documents);
  void cancel(AttemptId attempt);
  void cancel_all();

 private:
  class Call;

  void cancel(Call& call);
  void on_message(Call& call, wire::Message&& message);
  void failed(Call& call, std::string_view outcome);

  Cluster& cluster_;
  TraceBook& traces_;
  Query query_;
  Listener& listener_;
  std::list<Call> calls_;
};

}  // namespace hedgerow::root
