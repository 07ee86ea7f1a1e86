// The words by which people choose among policies: in parameters of a query, in settings of the root, and in what
// /v1/cluster tells. Read and written in one place, so that all three agree. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "root/policy/cluster/hedging.hpp"
#include "root/policy/cluster/replica_choice.hpp"

namespace hedgerow::root {

// When a query goes to a canary before it goes to all: where it is not known to be safe, each time, or never.
enum class CanaryUse { automatic, always, off };

// Errors of all that read: invalid_argument, whose context says which words there are.

// "auto", "off", a quantile above 0 and below 100 ("p95", "p99.9"), or a delay above 0 and up to 60s ("10ms").
result<policy::HedgeChoice> parse_hedge(std::string_view text);
std::string to_text(const policy::HedgeChoice& choice);
// "auto", "always", "off".
result<CanaryUse> parse_canary(std::string_view text);
std::string_view to_string(CanaryUse use);
// "prequal", "least-in-flight", "random"; policy::to_string writes them.
result<policy::ReplicaChoiceSettings::Mode> parse_replica_choice(std::string_view text);
// "on", "off".
result<bool> parse_switch(std::string_view text);
// The same words.
result<policy::HedgeBrakes> parse_hedge_brakes(std::string_view text);
// A decimal number ("0.95", "2").
result<double> parse_decimal(std::string_view text);

}  // namespace hedgerow::root
