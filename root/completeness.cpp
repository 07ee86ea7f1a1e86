#include "root/completeness.hpp"

#include <algorithm>

namespace hedgerow::root {

using policy::PartitionState;

namespace {

MissingReason reason_of(PartitionState state) {
  switch (state) {
    case PartitionState::refused: return MissingReason::refused;
    case PartitionState::failed: return MissingReason::failed;
    default: return MissingReason::late;
  }
}

// missing_because(i): why the i-th partition asked is missing; nullopt: it was answered.
template <class StateOf>
Completeness completeness_by(const Assignment& assignment, const Manifest& manifest, const StateOf& missing_because) {
  Completeness out;
  out.partitions_total = static_cast<std::uint32_t>(manifest.partitions.size());
  out.documents_total = manifest.documents;
  const auto documents_of = [&](PartitionId partition) { return manifest.partitions[partition.value].documents; };

  for (std::size_t i = 0; i < assignment.asked.size(); ++i) {
    const PartitionId partition = assignment.asked[i].partition;
    ++out.partitions_asked;
    out.documents_asked += documents_of(partition);
    if (const std::optional<MissingReason> reason = missing_because(i)) {
      out.missing.push_back({partition, *reason});
    } else {
      ++out.partitions_answered;
      out.documents_searched += documents_of(partition);
    }
  }
  for (const auto partition : assignment.unassigned) {
    ++out.partitions_asked;
    out.documents_asked += documents_of(partition);
    out.missing.push_back({partition, MissingReason::unassigned});
  }
  for (const auto partition : assignment.not_asked) out.missing.push_back({partition, MissingReason::not_asked});
  std::sort(out.missing.begin(), out.missing.end(),
            [](const auto& a, const auto& b) { return a.partition < b.partition; });
  return out;
}

}  // namespace

Completeness completeness_of(const Assignment& assignment, const policy::Fanout& fanout, const Manifest& manifest,
                             const std::map<PartitionId, MissingReason>& lost_later) {
  return completeness_by(assignment, manifest, [&](std::size_t i) -> std::optional<MissingReason> {
    const auto lost = lost_later.find(assignment.asked[i].partition);
    if (lost != lost_later.end()) return lost->second;
    if (fanout.state_of(i) == PartitionState::answered) return std::nullopt;
    return reason_of(fanout.state_of(i));
  });
}

Completeness completeness_of_nothing(const Assignment& assignment, const Manifest& manifest, MissingReason reason) {
  return completeness_by(assignment, manifest, [&](std::size_t) { return std::optional(reason); });
}

// A query that no partition answered is an error, never an empty answer.
SearchRefusal nothing_answered(Completeness completeness) {
  const auto all = [&](MissingReason reason) {
    return std::all_of(completeness.missing.begin(), completeness.missing.end(),
                       [&](const auto& m) { return m.reason == reason || m.reason == MissingReason::not_asked; });
  };
  const bool any_late = std::any_of(completeness.missing.begin(), completeness.missing.end(),
                                    [](const auto& m) { return m.reason == MissingReason::late; });
  SearchRefusal refusal;
  if (any_late) {
    refusal = {504, "nothing-in-time", "No partition answered before the deadline.", {}, {}, ""};
  } else if (all(MissingReason::refused)) {
    refusal = {503, "overloaded", "Every leaf refused the query for load.", {}, 1, ""};
  } else {
    refusal = {503, "no-leaf-answers", "No leaf could answer: the ones asked are unreachable or failed.", {}, 1, ""};
  }
  refusal.completeness = std::move(completeness);
  return refusal;
}

}  // namespace hedgerow::root
