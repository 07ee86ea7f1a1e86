// Small indexes for the cluster's tests, built by hedgerow-index itself and kept in the build directory.
//
// Many test processes run at once: a lock lets one build, and the others wait and share. An index is built anew when
// hedgerow-index was.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hedgerow::test {

struct TestIndex {
  std::filesystem::path directory;
  std::uint64_t documents = 0;
  std::vector<std::uint64_t> partition_documents;  // as `hedgerow-index stats` tells them

  // The share of all documents that is in the other partitions.
  double fraction_without(const std::vector<std::uint32_t>& partitions) const;
};

// 3,000 made-up documents in 8 partitions.
const TestIndex& synthetic_index();
// The same documents in 20 partitions, for many leaves.
const TestIndex& wide_index();
// 400 documents in 8 partitions: all have "common", the even ones "otter", the odd ones "badger", and every one its own
// "solo7".
const TestIndex& animal_index();
// 240 documents in 8 partitions, with facets. Number i is of the section novel, poem or essay (i % 3), of the shelf s0 to
// s19 (i % 20), of a year from 1900 to 1909 (i % 10) and of a month of 2020; its text holds mark-up; its id is shelf_id(i).
const TestIndex& shelf_index();
constexpr std::size_t shelf_documents = 240;
std::string shelf_id(std::size_t number);
std::string shelf_section(std::size_t number);

// The one that HEDGEROW_TEST_INDEX names, for measurements at full size; else the synthetic one.
const TestIndex& measured_index();

// A query for the synthetic index, of two or three common words; the same for the same number.
std::string synthetic_query(std::uint64_t number);
// One that suits measured_index().
std::string measured_query(std::uint64_t number);
// From the environment, for the long versions of a test; what is given here otherwise.
std::size_t count_from_environment(const char* name, std::size_t otherwise);

}  // namespace hedgerow::test
