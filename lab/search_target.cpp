#include "lab/search_target.hpp"

#include <boost/url/encode.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>

namespace hedgerow::lab {

namespace {

// All but letters, digits and "-._~" as %XX. Boost.URL's own way of setting parameters leaves '+' as it is, which a
// server reads as a space: "+must" would no longer be asked for.
std::string encoded(std::string_view text) { return boost::urls::encode(text, boost::urls::unreserved_chars); }

}  // namespace

std::string search_target(std::string_view query, const SearchParameters& parameters) {
  std::string target = "/v1/search?q=" + encoded(query);
  for (const auto& [name, value] : parameters) target += "&" + encoded(name) + "=" + encoded(value);
  return target;
}

}  // namespace hedgerow::lab
