// BM25 as the whole index uses it: the parameters in one place, and the formula, as Xapian::BM25Weight computes it.
//
// score(term, document) = idf · (k3+1)·wqf/(k3+wqf) · (k1+1) · wdf / (k1·((1-b) + b·max(length/average, m)) + wdf)
//
// wqf is how often the query holds the term, wdf how often the document does.
#pragma once

#include <cstdint>

namespace hedgerow {

// k1 and b by measurement, docs/quality.md; the others are Xapian's defaults.
struct Bm25Parameters {
  double k1 = 1.2;  // how slowly further occurrences of a term stop counting; 0: only the first counts
  double k3 = 1;    // the same for further occurrences in the query
  double b = 0.9;   // how much a document's length counts, from 0 (not) to 1
  double min_normalised_length = 0.5;  // m: a document shorter than this share of the average gains no more by it
};

// One sentence that names the parameter which is out of bounds: k1 and k3 from 0 to 1000, b and m from 0 to 1. Null:
// none.
const char* what_is_wrong_with(const Bm25Parameters& parameters);

// log of (N - df + 0.5) / (df + 0.5), where ratios below 2 are lifted so that no term counts against a document.
// 0 <= document_frequency <= documents.
double inverse_document_frequency(std::uint64_t documents, std::uint64_t document_frequency);

}  // namespace hedgerow
