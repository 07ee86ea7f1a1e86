#include "lab/search_target.hpp"

#include <boost/url/url.hpp>

namespace hedgerow::lab {

std::string search_target(std::string_view query, const SearchParameters& parameters) {
  boost::urls::url url;
  url.set_path("/v1/search");
  auto encoded = url.params(boost::urls::encoding_opts{true});  // a space as '+', as a browser's form does
  encoded.append({"q", query});
  for (const auto& [name, value] : parameters) encoded.append({name, value});
  return std::string(url.encoded_target());
}

}  // namespace hedgerow::lab
