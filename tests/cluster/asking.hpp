// Clients of the servers under test: one that asks and waits, one in the background, many at once, and one of raw bytes.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "lab/search_target.hpp"
#include "wire/http.hpp"

namespace hedgerow::test {

using lab::search_target;

struct Reply {
  int status = 0;     // 0: no answer, for the reason in error
  std::string error;
  std::string content_type;
  wire::HttpHeaders headers;
  std::string body;
  Instant sent, received;

  nlohmann::json json() const;  // null where the body is none
  std::string header(std::string_view name) const;
  Duration took() const { return received - sent; }
};

// Keeps its connection.
class Client {
 public:
  explicit Client(const std::string& address);
  ~Client();
  Reply request(const std::string& method, const std::string& target, const std::string& body = "",
                const wire::HttpHeaders& headers = {});
  Reply get(const std::string& target) { return request("GET", target); }

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

std::future<Reply> ask_in_background(const std::string& address, const std::string& target);

// So many clients, each asking one query after another until `count` are asked in all. on_reply is called on the
// caller's thread, in the order of arrival.
void ask_all(const std::string& address, std::size_t clients, std::size_t count,
             const std::function<std::string(std::size_t number)>& target_of,
             const std::function<void(std::size_t number, const Reply& reply)>& on_reply);

// Sends bytes as they are. Blocking, with a limit of 20 s (scaled) on each read.
class RawClient {
 public:
  explicit RawClient(const std::string& address);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  bool connected() const { return connected_; }
  int socket() const { return socket_; }
  void send(std::string_view bytes);
  // Everything until the server closes.
  std::string read_to_end();
  void close();

 private:
  int socket_ = -1;
  bool connected_ = false;
};

}  // namespace hedgerow::test
