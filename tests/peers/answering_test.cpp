// How engines are asked and their answers read; Sphinx and Hedgerow themselves need servers, and are asked by scripts/bench.

#include <doctest/doctest.h>

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <sstream>
#include <thread>

#include "../index/small_collection.hpp"
#include "../index/temporary_directory.hpp"
#include "tests/peers/building.hpp"
#include "tests/peers/engines.hpp"
#include "tests/peers/hedgerow.hpp"
#include "tests/peers/http_connection.hpp"
#include "tests/peers/sphinx_query.hpp"

using namespace hedgerow;
using namespace hedgerow::peers;
using namespace hedgerow::test;

namespace {

// Answers requests on one connection after another as it is told: each inner list is what one connection gives, an element
// to a request, and is closed then.
class PlainServer {
 public:
  using Connection = std::vector<std::string>;
  explicit PlainServer(std::vector<Connection> connections)
      : acceptor_(context_, {boost::asio::ip::address_v4::loopback(), 0}), thread_([this, connections = std::move(connections)] {
          for (const auto& answers : connections) serve(answers);
        }) {}
  // Whoever still waits for a client waits no longer.
  ~PlainServer() { ::shutdown(acceptor_.native_handle(), SHUT_RDWR); }
  std::string address() const { return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()); }

 private:
  void serve(const Connection& answers) {
    boost::system::error_code error;
    boost::asio::ip::tcp::socket socket(context_);
    acceptor_.accept(socket, error);
    boost::asio::streambuf requests;
    for (const auto& answer : answers) {
      requests.consume(boost::asio::read_until(socket, requests, "\r\n\r\n", error));
      if (error) return;
      // In two pieces, which need not arrive together.
      const std::size_t middle = answer.size() / 2;
      boost::asio::write(socket, boost::asio::buffer(answer.data(), middle), error);
      boost::asio::write(socket, boost::asio::buffer(answer.data() + middle, answer.size() - middle), error);
    }
  }

  boost::asio::io_context context_;
  boost::asio::ip::tcp::acceptor acceptor_;
  std::jthread thread_;
};

std::string ok(const std::string& body, const std::string& completeness = "1.0000") {
  return "HTTP/1.1 200 OK\r\nHedgerow-Completeness: " + completeness + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

EngineSettings of_kind(const std::string& kind) {
  EngineSettings settings;
  settings.kind = kind;
  return settings;
}

}  // namespace

TEST_CASE("Sphinx is asked for any of the words, for the ten best by BM25, and nothing typed is an operator or ends the text") {
  CHECK(sphinx_statement("full text", {}) ==
        "SELECT name, title, url FROM whole WHERE MATCH('full | text') LIMIT 10 OPTION ranker=bm25, max_matches=10");
  CHECK(sphinx_statement("  it's \"low-dose\" | -x", {.index = "other", .most_matches = 1000}) ==
        "SELECT name, title, url FROM other WHERE MATCH('it | s | low | dose | x') LIMIT 10 OPTION ranker=bm25, max_matches=1000");
}

TEST_CASE("Hits are counted by what begins each, and not by what a title says") {
  CHECK(count_hits(R"({"hits":[],"total":{"value":0}})") == 0);
  CHECK(count_hits(R"({"hits":[{"rank":1,"id":"a","title":"{\"rank\":2"},{"rank":2,"id":"b","title":"rank"}]})") == 2);
}

TEST_CASE("A header is found by its name in any case, and only as a whole") {
  const std::string_view headers = "HTTP/1.1 200 OK\r\nX-Content-Length: 1\r\ncontent-length:  22\r\nEmpty:\r\nLast: a: b";
  CHECK(header_value(headers, "Content-Length") == "22");
  CHECK(header_value(headers, "last") == "a: b");
  CHECK(header_value(headers, "Empty") == "");
  CHECK(header_value(headers, "Length") == std::nullopt);
}

TEST_CASE("One connection serves question after question, and after its end or a foreign answer there is a new one") {
  PlainServer server({{ok("one"), ok("")}, {"SMTP ready\r\n\r\n"}, {"HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\nno"}});
  auto connection = HttpConnection::to(server.address()).value();
  CHECK(connection.get("/a")->body == "one");
  CHECK(connection.get("/b")->body.empty());
  CHECK(connection.get("/c").has_error());  // closed
  CHECK(connection.get("/d").error().code == Errc::protocol);
  const auto refused = connection.get("/e");
  REQUIRE(refused.has_value());
  CHECK(refused->status == 503);
  CHECK(refused->body == "no");
  CHECK(HttpConnection::to("somewhere:80").has_error());
  CHECK(HttpConnection::to("127.0.0.1").has_error());
}

TEST_CASE("Hedgerow's answers are complete where their header says so, and any other status is an error") {
  const std::string body = R"({"hits":[{"rank":1,"id":"a"},{"rank":2,"id":"b\n"}]})";
  PlainServer server({{ok(body), ok(body, "0.9375"), "HTTP/1.1 504 Late\r\nContent-Length: 0\r\n\r\n"}});
  const auto client = make_hedgerow(server.address(), {}).value()->client();
  const auto whole = client->ask("a", Want::ids);
  REQUIRE(whole.has_value());
  CHECK(whole->hits == 2);
  CHECK(whole->complete);
  CHECK(whole->ids == std::vector<std::string>{"a", "b\n"});
  const auto partial = client->ask("a", Want::counts);
  CHECK_FALSE(partial->complete);
  CHECK(partial->ids.empty());
  CHECK(client->ask("a", Want::counts).has_error());
}

TEST_CASE("Built from the same documents, Xapian's databases and the partitions find the same ten, but for a few where titles or ties tell") {
  const auto documents = small_collection(600, 5);
  const TemporaryDirectory directory;
  build_small(documents, directory.path() / "index", 4);
  for (const std::size_t databases : {std::size_t{1}, std::size_t{4}}) {
    const auto path = directory.path() / ("xapian-" + std::to_string(databases));
    std::filesystem::create_directory(path);
    VectorReader reader(documents);
    build_xapian(reader, databases, path);
  }
  EngineSettings partitions = of_kind("in-process"), one = of_kind("xapian"), four = of_kind("xapian");
  partitions.index = directory.path() / "index";
  one.databases = {directory.path() / "xapian-1" / "database-0"};
  for (int i = 0; i < 4; ++i) four.databases.push_back(directory.path() / "xapian-4" / ("database-" + std::to_string(i)));
  const auto reference = make_engine(partitions).value()->client();
  const auto single = make_engine(one).value()->client(), several = make_engine(four).value()->client();
  const QueryMaterial material = material_of(documents, 6);
  std::size_t hits = 0, found_by_one = 0, found_by_four = 0;
  for (std::size_t i = 0; i < 40; ++i) {
    // Two words: one alone may be a whole title, which only Hedgerow puts first.
    const auto& [first, second] = material.neighbours.at(i * 7 % material.neighbours.size());
    const std::string query = first + " " + second;
    CAPTURE(query);
    const auto expected = reference->ask(query, Want::ids).value();
    const auto found_of = [&](Client& client) {
      const auto found = client.ask(query, Want::ids).value();
      CHECK(found.hits == expected.hits);
      CHECK(found.ids.size() == found.hits);
      CHECK(found.complete);
      return std::count_if(expected.ids.begin(), expected.ids.end(),
                           [&](const auto& id) { return std::find(found.ids.begin(), found.ids.end(), id) != found.ids.end(); });
    };
    found_by_one += static_cast<std::size_t>(found_of(*single));
    found_by_four += static_cast<std::size_t>(found_of(*several));
    hits += expected.hits;
  }
  CHECK(hits > 300);
  CHECK(found_by_one * 100 >= hits * 98);
  CHECK(found_by_four * 100 >= hits * 98);
}

TEST_CASE("A shard for Sphinx is XML with every document of it once, numbered through the collection") {
  std::vector<Document> documents;
  for (int i = 0; i < 20; ++i) documents.push_back({.id = "d" + std::to_string(i), .title = "a < b & c", .url = "http://x/?a=1&b=2", .text = "]]>", .facets = {}});
  std::string all;
  for (std::size_t shard = 0; shard < 3; ++shard) {
    VectorReader reader(documents);
    std::ostringstream out;
    write_sphinx_shard(reader, shard, 3, out);
    CHECK(out.str().starts_with("<?xml"));
    CHECK(out.str().ends_with("</sphinx:docset>\n"));
    all += out.str();
  }
  for (int i = 0; i < 20; ++i) {
    const std::string document = "<sphinx:document id=\"" + std::to_string(i + 1) +
                                 "\">\n<title>a &lt; b &amp; c</title>\n<content>]]&gt;</content>\n<name>d" + std::to_string(i) +
                                 "</name>\n<url>http://x/?a=1&amp;b=2</url>\n</sphinx:document>\n";
    const auto at = all.find(document);
    CHECK(at != std::string::npos);
    CHECK(all.find(document, at + 1) == std::string::npos);
  }
}

TEST_CASE("An engine without what it needs is refused") {
  for (const auto& kind : engine_kinds()) {
    CAPTURE(kind);
    CHECK(make_engine(of_kind(kind)).has_error());
  }
  CHECK(make_engine(of_kind("lucene")).has_error());
}
