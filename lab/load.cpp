#include "lab/load.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>
#include <deque>
#include <fstream>

#include "base/steady_clock.hpp"
#include "lab/answer_scan.hpp"
#include "wire/as_result.hpp"
#include "wire/http_client.hpp"

namespace hedgerow::lab {

namespace asio = boost::asio;

namespace {

using wire::as_result;
constexpr std::size_t most_query_lines = 1'000'000;

std::optional<double> completeness_of(const wire::HttpResponse& response) {
  const auto text = response.header("Hedgerow-Completeness");
  double value = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc{}) return std::nullopt;
  return value;
}

std::optional<Error> fault_of(const LoadSettings& settings) {
  const auto invalid = [](const char* what) { return Error{Errc::invalid_argument, what}; };
  if (settings.queries.empty()) return invalid("there are no queries");
  if (settings.clients > 0) {
    return settings.count > 0 ? std::nullopt : std::optional(invalid("a closed loop needs a count of at least 1"));
  }
  if (!(settings.rate > 0) || settings.rate > 1e6) return invalid("the rate must be above 0 and at most a million a second");
  if (settings.duration <= Duration::zero()) return invalid("the duration must be above 0");
  if (settings.connections == 0) return invalid("at least one connection is needed");
  return std::nullopt;
}

}  // namespace

result<std::vector<std::string>> read_queries(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) return Error{Errc::io, path.string() + ": cannot be read"};
  std::vector<std::string> queries;
  for (std::string line; std::getline(file, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.find_first_not_of(" \t") == std::string::npos) continue;
    if (queries.size() == most_query_lines) return Error{Errc::too_large, path.string() + ": more than a million queries"};
    queries.push_back(std::move(line));
  }
  if (file.bad()) return Error{Errc::io, path.string() + ": reading failed"};
  if (queries.empty()) return Error{Errc::invalid_argument, path.string() + ": holds no query"};
  return queries;
}

struct Load::Implementation {
  Implementation(asio::io_context& c, LoadSettings s, std::function<void(const LoadProgress&)> p)
      : context(c), settings(std::move(s)), progress(std::move(p)), choice(settings.seed ^ 0x9e3779b97f4a7c15),
        pause(context), freed(context, asio::steady_timer::time_point::max()), ticks(context) {}

  asio::awaitable<result<LoadResult>> run() {
    if (auto fault = fault_of(settings)) co_return std::move(*fault);
    const auto endpoint = co_await wire::resolve_address(settings.target);
    if (endpoint.has_error()) co_return endpoint.error();
    targets.reserve(settings.queries.size());
    for (const auto& query : settings.queries) targets.push_back(search_target(query, settings.parameters));
    settings.queries = {};

    result_.frame.target = settings.target;
    result_.frame.seed = settings.seed;
    start = clock_now();
    watch_progress();
    if (settings.clients > 0) {
      co_await closed_loop(*endpoint);
    } else {
      co_await open_loop(*endpoint);
    }
    ticks.cancel();
    result_.frame.broken_off = broken_off;
    co_return std::move(result_);
  }

  asio::awaitable<void> open_loop(asio::ip::tcp::endpoint endpoint) {
    LoadFrame& frame = result_.frame;
    frame.rate = settings.rate;
    frame.arrivals = to_string(settings.arrivals);
    frame.connections = settings.connections;
    measure_from = start + settings.warm_up;
    Arrivals arrivals(settings.arrivals, settings.rate, settings.warm_up + settings.duration, settings.seed);
    while (const auto arrival = arrivals.next()) {
      const Instant intended = start + *arrival;
      co_await wait_until(intended);
      if (broken_off) break;
      const bool measured = intended >= measure_from;
      if (idle.empty() && clients.size() == settings.connections) {
        if (measured) ++frame.waited_for_connection;
        while (idle.empty() && !broken_off) co_await freed.async_wait(as_result);
        if (broken_off) break;
      }
      if (measured) {
        ++frame.intended;
      } else {
        ++frame.warm_up;
      }
      // The one used last first: a low rate needs few connections.
      if (idle.empty()) idle.push_back(&clients.emplace_back(context.get_executor(), endpoint));
      wire::HttpClient* client = idle.back();
      idle.pop_back();
      ++in_flight;
      asio::co_spawn(context, ask(*client, next_target(), intended, measured), [this, client](std::exception_ptr) {
        --in_flight;
        idle.push_back(client);
        freed.cancel();
      });
    }
    frame.measured = broken_off ? std::max(Duration::zero(), clock_now() - measure_from) : settings.duration;
    while (in_flight > 0) co_await freed.async_wait(as_result);
    // The time in which answers came: never less than the schedule's, or a quick last answer would raise the rate.
    frame.elapsed = std::max(frame.measured, clock_now() - measure_from);
    frame.connections_used = clients.size();
  }

  asio::awaitable<void> closed_loop(asio::ip::tcp::endpoint endpoint) {
    LoadFrame& frame = result_.frame;
    frame.open_loop = false;
    frame.connections = settings.clients;
    measure_from = start;
    for (std::size_t i = 0; i < settings.clients; ++i) {
      auto& client = clients.emplace_back(context.get_executor(), endpoint);
      ++in_flight;
      asio::co_spawn(context, ask_on(client), [this](std::exception_ptr) {
        --in_flight;
        freed.cancel();
      });
    }
    while (in_flight > 0) co_await freed.async_wait(as_result);
    frame.measured = frame.elapsed = clock_now() - start;
    frame.connections_used = clients.size();
  }

  asio::awaitable<void> ask_on(wire::HttpClient& client) {
    while (!broken_off && result_.frame.intended < settings.count) {
      ++result_.frame.intended;
      co_await ask(client, next_target(), clock_now(), true);
    }
  }

  asio::awaitable<void> ask(wire::HttpClient& client, const std::string& target, Instant intended, bool measured) {
    LoadOutcome outcome;
    const Instant sent = clock_now();
    ++seen.sent;
    const auto response = co_await client.request("GET", target, "", settings.time_limit);
    outcome.latency = clock_now() - intended;
    outcome.send_lag = sent - intended;
    if (response.has_error()) {
      ++seen.failed;
      outcome.error = response.error().code;
    } else {
      ++seen.answered;
      outcome.status = response->status;
      outcome.completeness = completeness_of(*response);
      if (response->status == 200) {
        const auto facts = scan_answer(response->body);
        outcome.took_ms = facts.took_ms;
        outcome.completeness_in_body = facts.completeness;
        outcome.finished = facts.finished;
      }
    }
    if (measured) result_.report.record(outcome);
  }

  const std::string& next_target() {
    const auto place = settings.order == QueryOrder::drawn ? choice.below(targets.size()) : asked++ % targets.size();
    return targets[place];
  }

  asio::awaitable<void> wait_until(Instant instant) {
    if (clock_now() >= instant) {
      // Behind, or exactly there: answers that are waiting to be read get their turn all the same.
      if (++without_pause % 16 == 0) co_await asio::post(context, asio::use_awaitable);
      co_return;
    }
    pause.expires_at(instant);
    co_await pause.async_wait(as_result);
  }

  void watch_progress() {
    if (!progress) return;
    ticks.expires_after(std::chrono::seconds(1));
    ticks.async_wait([this](boost::system::error_code error) {
      if (error) return;
      seen.elapsed = clock_now() - start;
      seen.in_flight = in_flight;
      progress(seen);
      watch_progress();
    });
  }

  void break_off() {
    broken_off = true;
    pause.cancel();
    freed.cancel();
  }

  asio::io_context& context;
  LoadSettings settings;
  std::function<void(const LoadProgress&)> progress;
  Random choice;
  std::vector<std::string> targets;
  std::uint64_t asked = 0, without_pause = 0;
  std::deque<wire::HttpClient> clients;
  std::vector<wire::HttpClient*> idle;
  std::size_t in_flight = 0;
  Instant start, measure_from;
  asio::steady_timer pause, freed, ticks;
  LoadProgress seen;
  LoadResult result_;
  bool broken_off = false;
};

Load::Load(asio::io_context& context, LoadSettings settings, std::function<void(const LoadProgress&)> progress)
    : implementation_(std::make_unique<Implementation>(context, std::move(settings), std::move(progress))) {}
Load::~Load() = default;

asio::awaitable<result<LoadResult>> Load::run() { return implementation_->run(); }
void Load::break_off() { implementation_->break_off(); }

}  // namespace hedgerow::lab
