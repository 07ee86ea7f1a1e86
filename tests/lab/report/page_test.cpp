#include "lab/report/page.hpp"

#include <doctest/doctest.h>
#include <libxml/HTMLparser.h>

#include <memory>
#include <nlohmann/json.hpp>

using namespace hedgerow::lab::report;

namespace {

const Chart a_curve{.name = "curve",
                  .title = "A curve",
                  .caption = "What it shows.",
                  .x = {.title = "x"},
                  .y = {.title = "y"},
                  .series = {{.name = "one", .points = {{1, 10}, {2, 20}}}, {.name = "two", .points = {{1, 5}}}}};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const auto from = text.find(begin);
  REQUIRE(from != std::string::npos);
  const auto to = text.find(end, from);
  REQUIRE(to != std::string::npos);
  return text.substr(from + begin.size(), to - from - begin.size());
}

}  // namespace

TEST_CASE("a page holds everything that it needs, and forbids itself to load anything") {
  const std::string html = to_html({.title = "Page", .lead = "Lead", .parts = {a_curve}, .foot = "Foot"});
  CHECK(html.find("default-src 'none'") != std::string::npos);
  // Everything that would make a browser fetch.
  for (const char* foreign : {"<link", "<img", "<iframe", " src=", "@import", "url(http", "srcset"}) {
    CAPTURE(foreign);
    CHECK(html.find(foreign) == std::string::npos);
  }
  // The library and its licence's notice.
  CHECK(html.find("Chart.js v3") != std::string::npos);
  CHECK(html.find("Released under the MIT License") != std::string::npos);
  // Without a chart there is no need for it.
  CHECK(to_html({.title = "Page", .lead = "", .parts = {Paragraph{"text"}}, .foot = ""}).find("Chart.js") == std::string::npos);
}

TEST_CASE("text is shown as it stands, and cannot end the script's data") {
  Chart nasty = a_curve;
  nasty.series[0].name = "</script><b>&\"";
  nasty.series[0].points[0].label = "<!--</script>";
  const std::string html = to_html({.title = "<i>Title</i>", .lead = "a & b", .parts = {nasty, Table{"<caption>", {{"<th>"}}, {{"<td onclick=\"\">"}}}}, .foot = "<foot>"});
  for (const char* markup : {"<i>", "<b>", "<foot>", "<td onclick", "<!--"}) {
    CAPTURE(markup);
    CHECK(html.find(markup) == std::string::npos);
  }
  // The data, the library, the page's script; none was ended early, none added.
  CHECK(count(html, "</script>") == 3);
  const auto values = nlohmann::json::parse(between(html, "<script type=\"application/json\" class=\"values\">", "</script>"));
  CHECK(values["series"][0]["name"] == "</script><b>&\"");
}

TEST_CASE("a chart is there as data, as a picture, in words, and as a table") {
  const std::string html = to_html({.title = "Page", .lead = "", .parts = {a_curve}, .foot = ""});
  CHECK(count(html, "<canvas role=\"img\" aria-label=\"A curve. What it shows.\">") == 1);
  CHECK(count(html, "<figure class=\"chart\" id=\"curve\">") == 1);
  CHECK(count(html, "<svg xmlns=") == 1);
  CHECK(count(html, "aria-pressed=\"true\"") == 2);
  const auto values = nlohmann::json::parse(between(html, "<script type=\"application/json\" class=\"values\">", "</script>"));
  CHECK(values["series"].size() == 2);
  CHECK(between(html, "<tbody>", "</tbody>").find("<th scope=\"row\">one</th><td class=\"number\" data-value=\"2\">2</td><td class=\"number\" data-value=\"20\">20</td>") !=
        std::string::npos);
}

TEST_CASE("a cell of numbers is sorted by the number that it begins with") {
  const std::string html = to_html({.title = "Page", .lead = "", .parts = {Table{"", {{"n", true}}, {{"1,834\n1,800 to 1,900"}, {"97.25 %"}, {"-3"}, {"none"}}}}, .foot = ""});
  for (const char* value : {"data-value=\"1834\"", "data-value=\"97.25\"", "data-value=\"-3\"", "data-value=\"\""}) CHECK(count(html, value) == 1);
  CHECK(count(html, ">1,834<small>1,800 to 1,900</small></td>") == 1);
}

TEST_CASE("elements are closed in their order") {
  Page page{.title = "Page", .lead = "Lead", .parts = {}, .foot = "Foot"};
  page.parts = {Heading{"One"}, Paragraph{"text"}, Code{"a < b"}, Facts{{{"p99", "12 ms"}}, true}, Facts{{{"a", "b"}}, false}, Verdict{Verdict::Kind::bad, "bad"},
                Heading{"Two"}, Table{"t", {{"a"}, {"b", true}}, {{"x", "1"}}}, Heading{"Three"}, a_curve};
  const std::string html = to_html(page);
  // What the parser of HTML 4 does not know is of HTML 5, and no mistake.
  const std::unique_ptr<htmlParserCtxt, decltype(&htmlFreeParserCtxt)> parser(htmlNewParserCtxt(), &htmlFreeParserCtxt);
  static std::vector<std::string> problems;
  problems.clear();
  xmlSetStructuredErrorFunc(nullptr, [](void*, auto* error) {
    const std::string message = error->message ? error->message : "";
    if (message.find("Tag ") == std::string::npos || message.find(" invalid") == std::string::npos) problems.push_back(message);
  });
  const std::unique_ptr<xmlDoc, decltype(&xmlFreeDoc)> document(
      htmlCtxtReadMemory(parser.get(), html.data(), static_cast<int>(html.size()), nullptr, "utf-8", HTML_PARSE_NONET), &xmlFreeDoc);
  xmlSetStructuredErrorFunc(nullptr, nullptr);
  for (const auto& problem : problems) FAIL_CHECK(problem);
  CHECK(count(html, "<h2 id=\"section-") == 3);
  CHECK(count(html, "href=\"#section-") == 3);
}
