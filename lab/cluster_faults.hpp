// Faults of a whole cluster: one list that says which leaves each fault is for, made into a list for each leaf. Pure, but for
// files of measured delays, which the reader that is given reads.
//
//   [{"kind": "late", "delay": "20ms", "probability": 0.01},                            on every leaf
//    {"kind": "pause", "for": "1s", "leaves": ["leaf-3"]},                              on these
//    {"kind": "hold", "delay": "empirical:measured.txt", "leaf": 0},                    on the leaf of that number
//    {"kind": "background", "period": "1s", "length": "50ms", "phase": "staggered"}]    evenly over those that it is for
//
// The rest is as leaf/fault says. What the list says for all leaves together is settled here, once: measured delays are
// carried along, since leaves read no files of ours, and staggered work gets even phases, which no leaf could choose alone.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/distribution.hpp"
#include "base/error.hpp"

namespace hedgerow::lab {

// For each leaf, in the order given, what is PUT to its /v1/faults; an empty list where nothing is for it.
// Errors: invalid_argument, naming the fault and the field; too_large; those of the reader.
result<std::vector<nlohmann::json>> faults_by_leaf(const nlohmann::json& faults, const std::vector<std::string>& leaves,
                                                   const Distribution::ReadFile& read);

}  // namespace hedgerow::lab
