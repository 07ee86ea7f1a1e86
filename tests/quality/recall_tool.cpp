// hedgerow-recall INDEX QUERIES [TIMES [SEED]]: prints how honest estimated_recall is on the queries of a file (a line
// each; behind the last tab of a line). Exits with 1 where a bin is off by more than 0.03, or the estimate is not at
// least a tenth better than the share of documents.

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "recall_calibration.hpp"

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "hedgerow-recall INDEX QUERIES [TIMES [SEED]]\n";
    return 2;
  }
  std::ifstream file(argv[2]);
  std::vector<std::string> queries;
  for (std::string line; std::getline(file, line);) queries.push_back(line.substr(line.rfind('\t') + 1));
  const auto number = [&](int place, std::uint64_t otherwise) {
    return argc > place ? std::strtoull(argv[place], nullptr, 10) : otherwise;
  };
  const auto calibration = hedgerow::test::calibrate_recall(argv[1], queries, number(3, 2), number(4, 1));
  std::cout << hedgerow::test::to_text(calibration);
  bool good = calibration.answers > 0 && calibration.error <= 0.9 * calibration.error_of_documents;
  for (const auto& bin : calibration.bins) good = good && (bin.answers == 0 || std::abs(bin.estimated - bin.measured) <= 0.03);
  return good ? 0 : 1;
}
