// What hedgerow-index answers, as JSON for programs and as a table for people.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "index/local_search.hpp"
#include "index/manifest.hpp"
#include "index/verify.hpp"

namespace hedgerow {

using ordered_json = nlohmann::ordered_json;

// In the shape of the HTTP API's answer: everything that was asked has answered.
ordered_json search_answer_json(const LocalAnswer& answer, const std::vector<StoredDocument>& documents,
                                std::uint32_t offset, const Manifest& manifest, Duration took);
// The optional parts, in the same shape: a snippet for each hit; of each facet the most frequent values.
void add_snippets(ordered_json& answer, std::vector<std::string> snippets);
void add_facets(ordered_json& answer, const std::vector<std::string>& names, const std::vector<FacetCounts>& facets);
ordered_json manifest_summary_json(const std::filesystem::path& directory, const Manifest& manifest);
ordered_json verify_json(const VerifyReport& report);

// Tables of the JSON above.
std::string search_answer_table(const ordered_json& answer);
std::string manifest_summary_table(const ordered_json& summary);
std::string verify_table(const ordered_json& report);

}  // namespace hedgerow
