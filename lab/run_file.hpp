// TREC's run form: what an engine found, for trec_eval and its like to measure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hedgerow::lab {

struct RankedDocument {
  std::string id;
  double score = 0;
};

// "query Q0 document rank score tag", a line for each document, best first.
//
// trec_eval ranks by score, whatever the rank says, and puts equal scores in an order of its own. So that it sees the
// answer's order, a score that is not below the one before, as a float, is written as the next lower float. Blanks in
// ids would be taken for columns; they become "_".
std::string run_lines(std::string_view query, const std::vector<RankedDocument>& ranking, std::string_view tag);

}  // namespace hedgerow::lab
