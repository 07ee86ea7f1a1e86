#include "tests/peers/sphinx.hpp"

#include <mysql.h>

namespace hedgerow::peers {

namespace {

struct CloseConnection {
  void operator()(MYSQL* connection) const { mysql_close(connection); }
};
struct FreeRows {
  void operator()(MYSQL_RES* rows) const { mysql_free_result(rows); }
};

class SphinxClient final : public Client {
 public:
  SphinxClient(std::uint16_t port, SphinxAsking asking) : port_(port), asking_(std::move(asking)) {}

  result<Answer> ask(const std::string& query, Want want) override {
    if (!connection_) {
      if (const auto connected = connect(); !connected) return connected.error();
    }
    auto answer = answered(sphinx_statement(query, asking_), want);
    if (answer.has_error()) connection_.reset();
    return answer;
  }

 private:
  result<void> connect() {
    connection_.reset(mysql_init(nullptr));
    const unsigned seconds = longest_wait_ms / 1000;
    for (const auto option : {MYSQL_OPT_CONNECT_TIMEOUT, MYSQL_OPT_READ_TIMEOUT, MYSQL_OPT_WRITE_TIMEOUT}) {
      mysql_options(connection_.get(), option, &seconds);
    }
    if (mysql_real_connect(connection_.get(), "127.0.0.1", "", "", nullptr, port_, nullptr, 0)) return {};
    const Error error = failure();
    connection_.reset();
    return error;
  }

  result<Answer> answered(const std::string& statement, Want want) {
    if (mysql_real_query(connection_.get(), statement.data(), statement.size()) != 0) return failure();
    const std::unique_ptr<MYSQL_RES, FreeRows> rows(mysql_store_result(connection_.get()));
    if (!rows) return failure();
    Answer answer;
    answer.hits = static_cast<std::uint32_t>(mysql_num_rows(rows.get()));
    // An agent that failed or was late is a warning; with all of them well there is none.
    answer.complete = mysql_warning_count(connection_.get()) == 0;
    if (want == Want::ids) {
      while (const MYSQL_ROW row = mysql_fetch_row(rows.get())) answer.ids.emplace_back(row[0] ? row[0] : "");
    }
    return answer;
  }

  Error failure() const { return {Errc::unavailable, std::string("sphinx: ") + mysql_error(connection_.get())}; }

  std::uint16_t port_;
  SphinxAsking asking_;
  std::unique_ptr<MYSQL, CloseConnection> connection_;
};

class Sphinx final : public Engine {
 public:
  Sphinx(std::uint16_t port, SphinxAsking asking) : port_(port), asking_(std::move(asking)) {}
  std::unique_ptr<Client> client() override { return std::make_unique<SphinxClient>(port_, asking_); }

 private:
  std::uint16_t port_;
  SphinxAsking asking_;
};

}  // namespace

result<std::unique_ptr<Engine>> make_sphinx(std::uint16_t port, const SphinxAsking& asking) {
  // Once, before there are threads.
  if (mysql_library_init(0, nullptr, nullptr) != 0) return Error{Errc::internal, "MariaDB's client library cannot be used"};
  return std::make_unique<Sphinx>(port, asking);
}

}  // namespace hedgerow::peers
