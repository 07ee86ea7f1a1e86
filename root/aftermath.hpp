// What becomes of search calls after their query: listens to the leaves' last words on attempts that nobody waits for, and
// counts them. So the metrics tell which attempts were given up in time and which were executed for nothing.
//
// One per root, owned by the cluster, on the root's thread. Bound: an entry for each call that a leaf has not answered
// yet, and these are bounded by the link (unanswered bytes); it goes with the call's last answer, or with the link.
#pragma once

#include <list>
#include <map>
#include <memory>

#include "base/ids.hpp"
#include "root/attempt_ending.hpp"
#include "root/metrics.hpp"

namespace hedgerow::root {

class LeafClient;

class Aftermath {
 public:
  explicit Aftermath(Metrics& metrics);
  ~Aftermath();
  Aftermath(const Aftermath&) = delete;
  Aftermath& operator=(const Aftermath&) = delete;

  // The partitions that the call still has to answer, with their tied pairs (null where there is none).
  using Open = std::map<PartitionId, std::shared_ptr<TiedPair>>;
  void take_over(LeafClient& leaf, CallId call, AttemptKind kind, Open open);

  std::size_t size() const { return calls_.size(); }

 private:
  class Call;

  Metrics& metrics_;
  std::list<Call> calls_;
};

}  // namespace hedgerow::root
