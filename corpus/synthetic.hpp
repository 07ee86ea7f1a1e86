// A made-up collection of any size, for scale: its words are distributed like those of English text, and each document
// is a function of the seed and its number alone, so that a larger collection begins with the smaller one.
//
// Word ranks follow two regimes (Ferrer i Cancho and Solé, "Two regimes in the frequency of words", 2001): frequency
// falls like 1/rank for the first 10,000 words and like 1/rank^2 beyond. The commonest word makes up 6.8 % of the text,
// and the vocabulary goes on growing with about the square root of the text, as in real collections (Heaps' law).
// Lengths are log-normal: 100 words in the middle, 125 on average, 10 to 5,000. A document's title recurs in its text.
#pragma once

#include <cstdint>
#include <string>

#include "corpus/reader.hpp"

namespace hedgerow {

// The word of a rank from 1 to 10^12: syllables of two letters, one for the first 100 words, two for the next 10,000,
// and so on. No two ranks share a word.
std::string synthetic_word(std::uint64_t rank);

// The document of a number from 1 on: id "synthetic-17", facets "topic" (Zipf-distributed too) and "year".
Document synthetic_document(std::uint64_t seed, std::uint64_t number);

// count: the number of documents in decimal digits, from 1 to 4,000,000,000. Errors: invalid_argument.
result<std::unique_ptr<Reader>> open_synthetic(const std::string& count, const CorpusSettings& settings);

}  // namespace hedgerow
