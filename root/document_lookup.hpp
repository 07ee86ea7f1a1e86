// Finding one document by its external id: the partition follows from the id, its replicas are asked as for a title in
// the second phase (policy/query/second_phase: another one after a failure, or after silence), the first answer counts.
//
// One per request, on the root's thread, owned by the request's coroutine.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <list>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "root/cluster.hpp"
#include "root/policy/query/second_phase.hpp"
#include "wire/messages.hpp"

namespace hedgerow::root {

class DocumentLookup {
 public:
  // most_terms: 0 for the document itself, or how many of its terms are wanted.
  DocumentLookup(boost::asio::any_io_executor executor, Cluster& cluster, std::string id, std::uint32_t most_terms,
                 Instant deadline);
  ~DocumentLookup();
  DocumentLookup(const DocumentLookup&) = delete;
  DocumentLookup& operator=(const DocumentLookup&) = delete;

  PartitionId partition() const { return partition_; }

  // Errors: not_found (no such document), expired (nobody answered in time), refused (every replica, for load),
  // unavailable (no replica could answer), cancelled (abandoned).
  boost::asio::awaitable<result<wire::LookupAnswer>> run(Instant now);
  // The client went away: run returns soon.
  void abandon();

 private:
  class Call;

  void perform(policy::Actions actions);
  void send(const policy::SendFetch& action);
  void on_message(Call& call, wire::Message&& message);
  void fail(Call& call);

  boost::asio::any_io_executor executor_;
  Cluster& cluster_;
  std::string id_;
  std::uint32_t most_terms_;
  Instant deadline_;
  PartitionId partition_;
  std::optional<policy::SecondPhase> policy_;
  boost::asio::steady_timer timer_;
  bool finished_ = false;
  bool abandoned_ = false;
  policy::FinishReason finish_reason_ = policy::FinishReason::complete;
  std::size_t failures_ = 0, refusals_ = 0, expiries_ = 0;
  std::list<Call> calls_;
  std::optional<wire::LookupAnswer> answer_;
};

}  // namespace hedgerow::root
