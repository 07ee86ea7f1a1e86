// An advice in words, for a person at a terminal, and as JSON, for everything else. Pure.
//
// Times are in milliseconds, shares are of 1. What the samples do not tell is null in JSON, and "beyond the samples" in
// words, with what is known: at least so long.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "lab/advise/advice.hpp"

namespace hedgerow::lab {

std::string advice_text(const AdviceQuestion& question, const Advice& advice);
nlohmann::json advice_json(const AdviceQuestion& question, const Advice& advice);

// What was measured, so that one sees whether it was read as it was meant.
std::string samples_text(const AdviceQuestion& question);
// The verdict, as a sentence or two.
std::string verdict_text(const AdviceQuestion& question, const Advice& advice);
// What the load's figures say.
std::string load_text(const AdviceQuestion& question, const Advice& advice);
// "11.04 ms and 19.31 ms".
std::string delays_text(const Hedges& hedges);
// "after 11.04 ms and 19.31 ms, each time at another replica", "after 2.3 ms, in 0.4 of the cases, drawn at random", "never".
std::string hedges_text(const Hedges& hedges);
// "28.7 ms (27.9 to 29.8)", "74.2 ms (at least 69.1)", "beyond the samples: at least 1510 ms".
std::string estimate_text(const TimeEstimate& estimate);
// Four digits at most: "1834 ms", "28.66 ms", "0.813 ms".
std::string milliseconds_text(Duration time);
// "p99.9", "p99.99".
std::string quantile_text(double quantile);
// Of one that nobody chose: two digits of what lies beyond, "p99.75" for 0.997503.
std::string rough_quantile_text(double quantile);
// "2.1 %".
std::string percent_text(double share);

}  // namespace hedgerow::lab
