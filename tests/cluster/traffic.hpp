// Clients that ask one query after another for as long as this lives, and tell how many answers were not complete.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "asking.hpp"
#include "cluster_fixture.hpp"
#include "test_index.hpp"

namespace hedgerow::test {

class Traffic {
 public:
  // Of the synthetic index, with a deadline that nothing but a hang can miss.
  Traffic(const std::string& address, std::size_t clients) {
    for (std::size_t i = 0; i < clients; ++i) {
      threads_.emplace_back([this, address, i] {
        Client client(address);
        for (std::size_t n = 0; !stopping_; ++n) {
          const auto reply = client.get(search_target(synthetic_query(100 * i + n % 100), {{"deadline", "20s"}}));
          const auto body = reply.json();
          if (reply.status != 200 || body["finished"] != "complete" || !hits_are_whole(body)) {
            const std::lock_guard lock(mutex_);
            ++incomplete_;
            last_incomplete_ = std::to_string(reply.status) + " " + reply.error + " " + reply.body;
          }
          ++asked_;
        }
      });
    }
  }
  ~Traffic() { stop(); }
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;

  void stop() {
    stopping_ = true;
    for (auto& thread : threads_) thread.join();
    threads_.clear();
  }
  std::size_t asked() const { return asked_; }
  std::size_t incomplete() const {
    const std::lock_guard lock(mutex_);
    return incomplete_;
  }
  std::string last_incomplete() const {
    const std::lock_guard lock(mutex_);
    return last_incomplete_;
  }

 private:
  std::atomic<bool> stopping_ = false;
  std::atomic<std::size_t> asked_ = 0;
  mutable std::mutex mutex_;
  std::size_t incomplete_ = 0;
  std::string last_incomplete_;
  std::vector<std::thread> threads_;
};

}  // namespace hedgerow::test
