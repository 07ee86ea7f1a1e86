// Answers of a running root, for comparison: its ids turned back into numbers of the reference.
#pragma once

#include <boost/asio/io_context.hpp>
#include <string>
#include <unordered_map>

#include "base/error.hpp"
#include "comparison.hpp"
#include "reference.hpp"
#include "wire/http_client.hpp"

namespace hedgerow::test {

class RootAnswerer {
 public:
  // Throws where the address makes no sense.
  RootAnswerer(const std::string& url, const Reference& reference);

  // Errors: those of HTTP; internal for an answer that is not complete or names an unknown document.
  result<std::vector<ScoredDocument>> answer(const std::string& query, Slice slice);

 private:
  boost::asio::io_context io_;
  std::unordered_map<std::string, DocumentNumber> numbers_;
  wire::HttpClient client_;
};

}  // namespace hedgerow::test
