// `hedgerow-lab experiment good-enough`: what an answer is worth that does not wait for all leaves.
//
// Question: how complete are answers at each deadline and each fan-out width, how many of the true top ten do they hold,
// and how good are they to people (nDCG@10)?
// Expected: documents are spread by a hash, so an answer that looked at a share c of them holds a share c of the true top
// ten: recall is completeness, and completeness is width / partitions * Pr(a leaf answers by the deadline). What people
// see suffers less: the best hits that are left move up.
// Source: closed form. "The Tail at Scale" (Dean and Barroso, 2013), "good enough" results, says that it is done, and gives
// no figures; these are ours.
//
// With a test collection (--corpus, --test-queries, --qrels) rankings and judgements are real ones; without, the true top
// ten of a made-up query is what is relevant, each in a partition of its own chance.
#pragma once

#include <cstddef>

#include "lab/experiments/experiment.hpp"

namespace hedgerow::lab {

// Where each of the true top k is there with this chance, and only these are relevant: the expected nDCG@k. The hits that
// are there move up, so with m of them it is (sum over i <= m of 1 / log2(i + 1)) / (the same for k).
double expected_ndcg(double completeness, std::size_t k);

Experiment good_enough_experiment();

}  // namespace hedgerow::lab
