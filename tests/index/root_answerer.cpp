#include "root_answerer.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <exception>
#include <nlohmann/json.hpp>

#include "wire/http_client.hpp"

namespace hedgerow::test {

namespace {

namespace asio = boost::asio;

// A leaf that was taken for dead is linked again within a second or two.
constexpr unsigned most_tries = 10;

using Numbers = std::unordered_map<std::string, DocumentNumber>;

result<RankedAnswer> read_answer(const wire::HttpResponse& response, const Numbers& numbers) {
  const bool incomplete = response.status == 503 || response.status == 504;
  if (incomplete) return Error{Errc::unavailable, response.body};
  if (response.status != 200) return Error{Errc::internal, std::to_string(response.status) + ": " + response.body};
  const auto answer = nlohmann::json::parse(response.body);
  if (answer["finished"] != "complete") return Error{Errc::unavailable, "the answer is not complete: " + response.body};
  RankedAnswer ranked;
  for (const auto& hit : answer["hits"]) {
    const auto number = numbers.find(hit["id"].get<std::string>());
    if (number == numbers.end()) return Error{Errc::internal, "a document that is expected nowhere: " + hit.dump()};
    ranked.hits.push_back({number->second, hit["score"].get<double>()});
  }
  if (answer["total"]["relation"] == "exact") ranked.exact_matches = answer["total"]["value"].get<std::uint64_t>();
  return ranked;
}

}  // namespace

void ask_root(const std::string& url, const std::vector<RootQuestion>& questions, unsigned connections,
              const std::function<void(const RootQuestion&, const RootReply&)>& on_reply) {
  Numbers numbers;
  for (const auto& question : questions) {
    const auto& asked = *question.asked;
    for (std::size_t i = 0; i < asked.ids.size(); ++i) numbers.emplace(asked.ids[i], asked.expected.top[i].document);
  }

  asio::io_context io;
  std::size_t next = 0;
  std::exception_ptr failure;
  const auto ask = [&]() -> asio::awaitable<void> {
    const auto endpoint = (co_await wire::resolve_address(url)).value();
    wire::HttpClient client(io.get_executor(), endpoint);
    while (next < questions.size()) {
      const RootQuestion& question = questions[next++];
      nlohmann::json body{{"k", question.slice.k},
                          {"offset", question.slice.offset},
                          {"deadline", "60s"},
                          {"cache", "off"},
                          {"snippets", "off"},
                          {"spelling", "off"}};
      if (question.asked->like.empty()) {
        body["q"] = question.asked->query;
      } else {
        body["like"] = question.asked->like;
      }
      RootReply reply;
      for (;; ++reply.asked_again) {
        const auto start = std::chrono::steady_clock::now();
        const auto response = co_await client.request("POST", "/v1/search", body.dump(), std::chrono::seconds(90));
        reply.milliseconds =
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
        reply.answer = response ? read_answer(*response, numbers) : result<RankedAnswer>(response.error());
        const bool complete = reply.answer || reply.answer.error().code != Errc::unavailable;
        if (complete || reply.asked_again == most_tries) break;
        co_await asio::steady_timer(io, std::chrono::seconds(1)).async_wait(asio::use_awaitable);
      }
      on_reply(question, reply);
    }
  };
  for (unsigned i = 0; i < connections; ++i) {
    asio::co_spawn(io, ask(), [&](std::exception_ptr thrown) {
      if (thrown) failure = thrown;
    });
  }
  io.run();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace hedgerow::test
