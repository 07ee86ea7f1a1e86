#include "lab/load.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>
#include <deque>
#include <fstream>

#include "base/histogram.hpp"
#include "base/steady_clock.hpp"
#include "lab/answer_scan.hpp"
#include "wire/as_result.hpp"
#include "wire/http_client.hpp"

namespace hedgerow::lab {

namespace asio = boost::asio;
using wire::as_result;

namespace {

constexpr std::size_t most_queries = 1'000'000;  // of a file

std::optional<double> completeness_of(const wire::HttpResponse& response) {
  const auto text = response.header("Hedgerow-Completeness");
  double value = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc{}) return std::nullopt;
  return value;
}

// How long the attempts took whose ends tell it: those that were answered, and those given up for something else than a
// failure (whoever asks knows only that they would have taken longer). A half of a tied pair whose twin began first was
// never worked on, and tells nothing.
std::vector<AttemptLatency> attempt_latencies(std::string_view trace, std::optional<double> took_ms) {
  std::vector<AttemptLatency> latencies;
  for (const auto& attempt : traced_attempts(trace)) {
    const bool answered = attempt.outcome == "answered" || attempt.outcome == "won";
    const bool given_up = attempt.outcome == "lost" || attempt.outcome == "cancelled" || attempt.outcome == "late" || attempt.outcome == "open";
    const auto ended = attempt.ended_ms ? attempt.ended_ms : took_ms;
    if (!(answered || given_up) || !ended || *ended < attempt.sent_ms) continue;
    latencies.push_back({from_milliseconds(*ended - attempt.sent_ms), answered});
  }
  return latencies;
}

const std::string* parameter(const LoadSettings& settings, std::string_view name) {
  for (const auto& [key, value] : settings.parameters) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::optional<Error> fault_of(const LoadSettings& settings) {
  const auto invalid = [](const char* what) { return Error{Errc::invalid_argument, what}; };
  if (settings.queries.empty()) return invalid("there are no queries");
  if (const auto* trace = parameter(settings, "trace"); settings.traced && trace && *trace != "on") {
    return invalid("attempts are told by traces, and the parameter trace is not on");
  }
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
    if (queries.size() == most_queries) return Error{Errc::too_large, path.string() + ": more than a million queries"};
    queries.push_back(std::move(line));
  }
  if (file.bad()) return Error{Errc::io, path.string() + ": reading failed"};
  if (queries.empty()) return Error{Errc::invalid_argument, path.string() + ": holds no query"};
  return queries;
}

struct Load::Implementation {
  Implementation(asio::io_context& c, LoadSettings s, std::function<void(const LoadProgress&)> p)
      : context(c), settings(std::move(s)), progress(std::move(p)), choice(settings.seed ^ 0x9e3779b97f4a7c15),
        pause(context), freed(context, asio::steady_timer::time_point::max()), ticks(context) {
    if (settings.traced && !parameter(settings, "trace")) settings.parameters.emplace_back("trace", "on");
  }

  asio::awaitable<result<LoadResult>> run() {
    if (auto fault = fault_of(settings)) co_return std::move(*fault);
    const auto endpoint = co_await wire::resolve_address(settings.target);
    if (endpoint.has_error()) co_return endpoint.error();
    targets.reserve(settings.queries.size());
    for (const auto& query : settings.queries) targets.push_back(search_target(query, settings.parameters));
    settings.queries = {};

    result_.frame.target = settings.target;
    result_.frame.seed = settings.seed;
    if (settings.wanted) result_.frame.depth = settings.wanted->depth();
    seen.total = settings.clients > 0 ? Duration::zero() : settings.warm_up + settings.duration;
    seen.wanted = settings.clients > 0 ? settings.count : 0;
    start = clock_now();
    if (progress) {
      watching = true;
      asio::co_spawn(context, watch_progress(), [this](std::exception_ptr problem) {
        watching = false;
        freed.cancel();
        if (problem) std::rethrow_exception(problem);
      });
    }
    if (settings.clients > 0) {
      co_await closed_loop(*endpoint);
    } else {
      co_await open_loop(*endpoint);
    }
    over = true;
    ticks.cancel();
    while (watching) co_await freed.async_wait(as_result);
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
    Instant held_until = start;  // by a query that had to wait for a connection; those behind it could not be sent before
    while (const auto arrival = arrivals.next()) {
      const Instant intended = start + *arrival;
      co_await wait_until(intended);
      if (broken_off) break;
      const bool measured = intended >= measure_from;
      if (idle.empty() && clients.size() == settings.connections) {
        if (measured) ++frame.waited_for_connection;
        while (idle.empty() && !broken_off) co_await freed.async_wait(as_result);
        if (broken_off) break;
        held_until = clock_now();
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
      asio::co_spawn(context, ask(*client, next_query(), intended, std::max(intended, held_until), measured), [this, client](std::exception_ptr problem) {
        --in_flight;
        idle.push_back(client);
        freed.cancel();
        if (problem) std::rethrow_exception(problem);
      });
    }
    frame.sending = std::max(Duration::zero(), clock_now() - measure_from);
    frame.measured = broken_off ? std::max(Duration::zero(), clock_now() - measure_from) : settings.duration;
    frame.sending = std::max(frame.sending, frame.measured);
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
      asio::co_spawn(context, ask_on(client), [this](std::exception_ptr problem) {
        --in_flight;
        freed.cancel();
        if (problem) std::rethrow_exception(problem);
      });
    }
    while (in_flight > 0) co_await freed.async_wait(as_result);
    frame.measured = frame.sending = frame.elapsed = clock_now() - start;
    frame.connections_used = clients.size();
  }

  asio::awaitable<void> ask_on(wire::HttpClient& client) {
    while (!broken_off && result_.frame.intended < settings.count) {
      ++result_.frame.intended;
      const Instant intended = clock_now();
      co_await ask(client, next_query(), intended, intended, true);
    }
  }

  // possible: from when on there was a connection for it, if that was later than intended.
  asio::awaitable<void> ask(wire::HttpClient& client, std::size_t query, Instant intended, Instant possible, bool measured) {
    LoadOutcome outcome;
    outcome.query = query;
    outcome.intended_at = intended - measure_from;
    const Instant sent = clock_now();
    ++seen.sent;
    const auto response = co_await client.request("GET", targets[query], "", settings.time_limit);
    outcome.latency = clock_now() - intended;
    outcome.send_lag = sent - intended;
    outcome.own_lag = sent - possible;
    recent.record(static_cast<std::uint64_t>(std::max<Duration::rep>(0, outcome.latency.count())));
    std::vector<std::string> ids;
    if (response.has_error()) {
      ++seen.failed;
      outcome.error = response.error().code;
    } else {
      ++seen.answered;
      outcome.status = response->status;
      outcome.completeness = completeness_of(*response);
      if (response->status == 200) ids = read_answer(response->body, outcome);
    }
    if (!measured) co_return;
    // Who got no answer got none of the documents either.
    if (settings.wanted) {
      outcome.recall = settings.wanted->recall(query, ids);
      outcome.ndcg_10 = settings.wanted->ndcg_10(query, ids);
    }
    result_.report.record(outcome);
    if (observer) observer(outcome);
  }

  // The ids of its hits, where somebody wants them.
  std::vector<std::string> read_answer(const std::string& body, LoadOutcome& outcome) const {
    const auto facts = scan_answer(body);
    outcome.took_ms = facts.took_ms;
    outcome.completeness_in_body = facts.completeness;
    outcome.estimated_recall = facts.estimated_recall;
    outcome.finished = facts.finished;
    outcome.attempts = facts.attempts;
    outcome.hedges_won = facts.hedges_won;
    outcome.attempts_cancelled = facts.cancelled;
    outcome.partitions_asked = facts.partitions_asked.value_or(0);
    for (const auto& [name, status] : facts.subsystems) outcome.subsystems.emplace_back(name, status);
    if (settings.traced) outcome.attempt_latencies = attempt_latencies(facts.trace, facts.took_ms);
    if (!settings.wanted || !settings.wanted->wants_documents(outcome.query)) return {};
    return hit_ids(facts.hits);
  }

  std::size_t next_query() {
    return static_cast<std::size_t>(settings.order == QueryOrder::drawn ? choice.below(targets.size()) : asked++ % targets.size());
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

  asio::awaitable<void> watch_progress() {
    while (!over) {
      ticks.expires_after(std::chrono::seconds(1));
      co_await ticks.async_wait(as_result);
      if (!over) tell_progress();
    }
  }

  void tell_progress() {
    seen.elapsed = clock_now() - start;
    seen.in_flight = in_flight;
    const auto at = [&](double quantile) { return Duration(static_cast<Duration::rep>(recent.value_at_quantile(quantile))); };
    seen.recent = recent.count();
    seen.recent_p50 = at(0.5);
    seen.recent_p99 = at(0.99);
    seen.recent_max = at(1);
    recent.clear();
    progress(seen);
  }

  void break_off() {
    broken_off = true;
    pause.cancel();
    freed.cancel();
  }

  asio::io_context& context;
  LoadSettings settings;
  std::function<void(const LoadProgress&)> progress;
  std::function<void(const LoadOutcome&)> observer;
  Random choice;
  std::vector<std::string> targets;
  std::uint64_t asked = 0, without_pause = 0;
  std::deque<wire::HttpClient> clients;
  std::vector<wire::HttpClient*> idle;
  std::size_t in_flight = 0;
  Instant start, measure_from;
  asio::steady_timer pause, freed, ticks;
  LoadProgress seen;
  Histogram recent{600'000'000'000};  // since progress was told last, in nanoseconds
  LoadResult result_;
  bool broken_off = false, over = false, watching = false;
};

Load::Load(asio::io_context& context, LoadSettings settings, std::function<void(const LoadProgress&)> progress)
    : implementation_(std::make_unique<Implementation>(context, std::move(settings), std::move(progress))) {}
Load::~Load() = default;

void Load::observe(std::function<void(const LoadOutcome&)> observer) { implementation_->observer = std::move(observer); }
asio::awaitable<result<LoadResult>> Load::run() { return implementation_->run(); }
void Load::break_off() { implementation_->break_off(); }

}  // namespace hedgerow::lab
