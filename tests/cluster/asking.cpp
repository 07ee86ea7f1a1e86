#include "asking.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <stdexcept>

#include "waiting.hpp"
#include "wire/http_client.hpp"

namespace hedgerow::test {

namespace asio = boost::asio;

namespace {

constexpr Duration answer_time = std::chrono::seconds(30);

asio::ip::tcp::endpoint endpoint_of(const std::string& address) {
  const auto colon = address.rfind(':');
  return {asio::ip::make_address(address.substr(0, colon)),
          static_cast<std::uint16_t>(std::stoul(address.substr(colon + 1)))};
}

asio::awaitable<Reply> ask(wire::HttpClient& client, std::string method, std::string target, std::string body,
                           wire::HttpHeaders headers) {
  Reply reply;
  reply.sent = clock_now();
  auto answer = co_await client.request(std::move(method), std::move(target), std::move(body), scaled(answer_time),
                                        std::move(headers));
  reply.received = clock_now();
  if (answer.has_error()) {
    reply.error = to_string(answer.error());
  } else {
    reply.status = answer->status;
    reply.content_type = std::move(answer->content_type);
    reply.headers = std::move(answer->headers);
    reply.body = std::move(answer->body);
  }
  co_return reply;
}

}  // namespace

nlohmann::json Reply::json() const {
  auto value = nlohmann::json::parse(body, nullptr, false);
  return value.is_discarded() ? nlohmann::json() : value;
}

std::string Reply::header(std::string_view name) const {
  wire::HttpResponse response;
  response.headers = headers;
  return std::string(response.header(name).value_or(""));
}

struct Client::Implementation {
  explicit Implementation(const std::string& address) : client(context.get_executor(), endpoint_of(address)) {}
  asio::io_context context{1};
  wire::HttpClient client;
};

Client::Client(const std::string& address) : implementation_(std::make_unique<Implementation>(address)) {}
Client::~Client() = default;

Reply Client::request(const std::string& method, const std::string& target, const std::string& body,
                      const wire::HttpHeaders& headers) {
  auto& [context, client] = *implementation_;
  auto reply = asio::co_spawn(context, ask(client, method, target, body, headers), asio::use_future);
  context.restart();
  context.run();
  return reply.get();
}

std::future<Reply> ask_in_background(const std::string& address, const std::string& target) {
  return std::async(std::launch::async, [address, target] { return Client(address).get(target); });
}

void ask_all(const std::string& address, std::size_t clients, std::size_t count,
             const std::function<std::string(std::size_t)>& target_of,
             const std::function<void(std::size_t, const Reply&)>& on_reply) {
  asio::io_context context(1);
  std::size_t next = 0;
  std::vector<std::future<void>> ends;
  const auto work = [&]() -> asio::awaitable<void> {
    wire::HttpClient client(context.get_executor(), endpoint_of(address));
    while (next < count) {
      const std::size_t number = next++;
      const Reply reply = co_await ask(client, "GET", target_of(number), "", {});
      on_reply(number, reply);
    }
  };
  for (std::size_t i = 0; i < clients; ++i) ends.push_back(asio::co_spawn(context, work(), asio::use_future));
  context.run();
  for (auto& end : ends) end.get();
}

RawClient::RawClient(const std::string& address) {
  const auto endpoint = endpoint_of(address);
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0) throw std::runtime_error("no socket");
  const timeval limit{20 * time_factor, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  connected_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(endpoint.data()),
                         static_cast<socklen_t>(endpoint.size())) == 0;
}

RawClient::~RawClient() { close(); }

void RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;  // the server may close in the middle
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::string RawClient::read_to_end() {
  std::string all;
  char chunk[16384];
  for (ssize_t size; (size = ::recv(socket_, chunk, sizeof chunk, 0)) > 0;) {
    all.append(chunk, static_cast<std::size_t>(size));
  }
  return all;
}

void RawClient::close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

}  // namespace hedgerow::test
