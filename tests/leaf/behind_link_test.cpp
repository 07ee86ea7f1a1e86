// A session on a link whose other end does not read.

#include <doctest/doctest.h>

#include "leaf/session.hpp"
#include "running_leaf.hpp"

namespace hedgerow::leaf {

namespace {

// A link that hands over what the test gives it, and keeps what is sent.
class HeldLink final : public wire::Link {
 public:
  explicit HeldLink(asio::any_io_executor executor) : end_(executor, asio::steady_timer::time_point::max()) {}

  std::size_t send(const wire::Message& message) override {
    sent.push_back(message);
    return 1;
  }
  void send_garbage(std::string_view) override {}
  asio::awaitable<Error> run(Handler given) override {
    handler = std::move(given);
    co_await end_.async_wait(asio::as_tuple(asio::use_awaitable));
    co_return Error{Errc::unavailable, "the test is over"};
  }
  void close(Error) override { end_.cancel(); }
  std::string peer() const override { return "test"; }
  std::size_t waiting_bytes() const override { return waiting; }

  Handler handler;
  std::vector<wire::Message> sent;
  std::size_t waiting = 0;

 private:
  asio::steady_timer end_;
};

}  // namespace

TEST_CASE("a link that is behind takes no answers of side work, and goes on to take those for the hits") {
  asio::io_context io(1);
  const auto manifest = std::make_shared<const Manifest>(TinyIndex::get().manifest());
  Metrics metrics;
  WorkerPool pool({}, TinyIndex::get().directory(), manifest);
  FaultInjector faults(io, false, "leaf", manifest->stemmer, pool, metrics);
  TieBook ties;
  const auto twins = std::make_shared<TwinLinks>(io, "leaf", TwinLinkSettings{}, metrics);
  SessionSetting setting{io, "leaf", {manifest, {PartitionId{0}, PartitionId{1}, PartitionId{2}, PartitionId{3}}, true},
                         pool, faults, metrics, ties, *twins};
  pool.start();
  const auto link = std::make_shared<HeldLink>(io.get_executor());
  const auto session = std::make_shared<Session>(setting, link);
  bool ended = false;
  asio::co_spawn(io, session->run(), [&](std::exception_ptr) { ended = true; });
  io.poll();
  REQUIRE(link->handler);
  REQUIRE(link->handler(wire::Hello{}).has_value());

  RootSide root(io.get_executor());
  const auto document = TinyIndex::get().address("doc-3");
  const auto answer_of = [&](wire::Message call) {
    link->sent.clear();
    REQUIRE(link->handler(std::move(call)).has_value());
    while (link->sent.empty()) io.run_one_for(20s);
    io.poll();
    REQUIRE(link->sent.size() == 1);
    return outcome(link->sent.front());
  };
  for (const std::size_t waiting : {std::size_t{0}, std::size_t{4} << 20, (std::size_t{4} << 20) + 1}) {
    CAPTURE(waiting);
    link->waiting = waiting;
    const char* side = waiting > 4 << 20 ? "refused" : "answer";
    CHECK(answer_of(root.call("editor", {0})) == "answer");
    CHECK(answer_of(root.fetch({document})) == "answer");
    CHECK(answer_of(root.snippets("editor", {document})) == side);
    CHECK(answer_of(root.facets("editor", {0}, {"section"})) == side);
    CHECK(answer_of(root.spell({"editr"})) == side);
    CHECK(answer_of(root.lookup("doc-3")) == side);
    CHECK(session->open_calls() == 0);
  }
  link->close({});
  while (!ended) io.run_one_for(20s);
  pool.stop();
}

}  // namespace hedgerow::leaf
