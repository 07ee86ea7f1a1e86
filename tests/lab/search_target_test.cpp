#include "lab/search_target.hpp"

#include <doctest/doctest.h>

#include <boost/url/parse.hpp>
#include <string>

using namespace hedgerow::lab;

TEST_CASE("a search's target is encoded so that a server reads the query as it was, whatever it holds") {
  CHECK(search_target("full text", {}) == "/v1/search?q=full%20text");
  CHECK(search_target("a", {{"k", "3"}, {"deadline", "50ms"}}) == "/v1/search?q=a&k=3&deadline=50ms");
  for (const std::string query : {"+must -not \"a phrase\"", "50% & more = less?", "a#b/c\\d", "übergrößen 日本", "a\r\nHost: x"}) {
    const auto target = search_target(query, {{"k", "1"}});
    CAPTURE(target);
    CHECK(target.find_first_of(" \r\n#\"") == std::string::npos);
    const auto url = boost::urls::parse_origin_form(target);
    REQUIRE(url.has_value());
    const auto parameters = url->params(boost::urls::encoding_opts{true});
    REQUIRE(parameters.size() == 2);
    CHECK((*parameters.begin()).value == query);
  }
}
