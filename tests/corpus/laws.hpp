// What holds for every document of every format, and inputs that are broken at random.
#pragma once

#include <string>
#include <string_view>

#include "base/random.hpp"
#include "corpus/document.hpp"
#include "tests/corpus/files.hpp"

namespace hedgerow::test {

// Checks the promises of Document, and that no two have the same id.
void check_promises(const Everything& all);

// The bytes with one to eight changes: bytes overwritten, pieces taken out, doubled, moved in from elsewhere, the end
// cut off; and now and then one of the words given put in.
std::string mutated(std::string_view bytes, Random& random, const std::vector<std::string_view>& words);

}  // namespace hedgerow::test
