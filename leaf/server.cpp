#include "leaf/server.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.hpp"
#include "base/steady_clock.hpp"
#include "wire/problem.hpp"

namespace hedgerow::leaf {

namespace asio = boost::asio;
using wire::HttpRequest;
using wire::HttpResponse;
using wire::PathParts;

namespace {

wire::HttpServerSettings http_settings(const Settings& settings) {
  wire::HttpServerSettings http;
  http.link.idle_time = settings.idle_time;
  if (settings.address != "0.0.0.0" && settings.address != "::") http.hosts.push_back(settings.address);
  http.hosts.insert(http.hosts.end(), settings.hosts.begin(), settings.hosts.end());
  return http;
}

TwinLinkSettings twin_settings(const Settings& settings) {
  TwinLinkSettings twins;
  twins.link.idle_time = settings.idle_time;
  twins.doubt = settings.idle_time;
  return twins;
}

// Whoever sets a fault reads no other files of this machine by it.
Distribution::ReadFile delay_files(const std::filesystem::path& folder) {
  return [folder](const std::string& name) -> result<std::string> {
    if (folder.empty()) {
      return Error{Errc::invalid_argument, "this leaf was started without --fault-files; {\"empirical\": [\"1ms\", …]} carries "
                                           "measured delays along"};
    }
    if (name.empty() || name.front() == '.' || name.find('/') != std::string::npos) {
      return Error{Errc::invalid_argument, "a measured delay is named by its file in --fault-files, without a path"};
    }
    return read_sample_file((folder / name).string());
  };
}

HttpResponse json_response(const nlohmann::json& body) {
  HttpResponse response;
  response.body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  return response;
}

HttpResponse text_response(std::string text) {
  HttpResponse response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = std::move(text);
  return response;
}

}  // namespace

result<std::unique_ptr<Server>> Server::create(asio::io_context& io, const Settings& settings) {
  auto manifest = read_manifest(settings.index);
  if (manifest.has_error()) return manifest.error();
  Serving serving;
  serving.manifest = std::make_shared<const Manifest>(std::move(*manifest));
  serving.spelling = settings.spelling;
  const std::size_t in_index = serving.manifest->partitions.size();
  for (const auto number : settings.partitions) {
    if (number >= in_index) {
      return Error{Errc::invalid_argument, "the index has no partition " + std::to_string(number) + ", only 0 to " +
                                               std::to_string(in_index - 1)};
    }
    serving.partitions.push_back(PartitionId{number});
  }
  if (serving.partitions.empty() && !settings.no_partitions) {
    for (std::uint32_t i = 0; i < in_index; ++i) serving.partitions.push_back(PartitionId{i});
  }
  if (serving.partitions.empty() && !serving.spelling) {
    return Error{Errc::invalid_argument, "a leaf without partitions and without spelling serves nothing"};
  }
  IndexHandles handles(settings.index, serving.manifest);
  for (const auto partition : serving.partitions) {
    if (const auto searcher = handles.partition(partition); searcher.has_error()) return searcher.error();
  }
  if (serving.spelling) {
    if (const auto dictionary = handles.spelling(); dictionary.has_error()) return dictionary.error();
  }
  return std::unique_ptr<Server>(new Server(io, settings, std::move(serving)));
}

Server::Server(asio::io_context& io, const Settings& settings, Serving serving)
    : io_(io),
      settings_(settings),
      pool_({settings.workers, settings.queue_capacity, settings.batch_workers.value_or(settings.workers), settings.batch_gives_way,
             settings.light_work_here},
            settings.index, serving.manifest),
      faults_(io, settings.allow_faults, settings.name, serving.manifest->stemmer, pool_, metrics_),
      twins_(std::make_shared<TwinLinks>(io, settings.name, twin_settings(settings), metrics_)),
      sessions_setting_{io, settings.name, std::move(serving), pool_, faults_, metrics_, ties_, *twins_},
      router_(routes()),
      http_(
          io.get_executor(), http_settings(settings),
          [this](HttpRequest& request) { return router_.handle(request); },
          [this](std::shared_ptr<wire::Link> link) { return serve_link(std::move(link)); }) {
  pool_.start();
}

// Workers ask the fault injector, which goes before the pool.
Server::~Server() { pool_.stop(); }

result<asio::ip::tcp::endpoint> Server::listen() {
  boost::system::error_code error;
  const auto address = asio::ip::make_address(settings_.address, error);
  if (error) return Error{Errc::invalid_argument, "'" + settings_.address + "' is not an IP address"};
  return http_.listen({address, settings_.port});
}

asio::awaitable<void> Server::serve_link(std::shared_ptr<wire::Link> link) {
  const auto place = sessions_.insert(sessions_.end(), std::make_shared<Session>(sessions_setting_, std::move(link)));
  // However it ends, it is no session any more.
  struct Leaving {
    std::list<std::shared_ptr<Session>>& sessions;
    std::list<std::shared_ptr<Session>>::iterator place;
    ~Leaving() { sessions.erase(place); }
  } leaving{sessions_, place};
  co_await (*place)->run();
}

asio::awaitable<void> Server::drain() {
  sessions_setting_.draining = true;
  const auto end = clock_now() + settings_.drain_time;
  asio::steady_timer timer(io_);
  const auto busy = [this] {
    return std::any_of(sessions_.begin(), sessions_.end(), [](const auto& session) { return session->open_calls() > 0; });
  };
  constexpr auto tick = std::chrono::milliseconds(5);
  bool was_busy = true;  // one tick more than busy: what was answered last is still on its way into the socket
  while (was_busy && clock_now() < end) {
    was_busy = busy();
    timer.expires_after(tick);
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  twins_->close();
  while (twins_->open() > 0 && clock_now() < end) {
    timer.expires_after(tick);
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  co_await http_.drain(std::chrono::seconds(1));
  pool_.stop();
}

std::vector<wire::Route> Server::routes() {
  const auto forbidden = [] {
    return wire::problem(403, "faults-not-allowed", "This leaf was started without --allow-faults.");
  };
  const auto listing = [this] {
    return json_response({{"leaf", settings_.name}, {"allowed", faults_.allowed()}, {"faults", faults_.listing()}});
  };
  return {
      {"GET", "/livez",
       [](HttpRequest&, const PathParts&) -> asio::awaitable<HttpResponse> { co_return json_response({{"status", "ok"}}); }},
      {"GET", "/readyz",
       [this](HttpRequest&, const PathParts&) -> asio::awaitable<HttpResponse> {
         if (sessions_setting_.draining) co_return wire::problem(503, "draining", "This leaf is stopping.");
         co_return json_response({{"status", "ok"}});
       }},
      {"GET", "/metrics",
       [this](HttpRequest&, const PathParts&) -> asio::awaitable<HttpResponse> {
         const auto hits = pool_.load(Lane::hits), side = pool_.load(Lane::side);
         metrics_.queued_hits.Set(hits.queued);
         metrics_.running_hits.Set(hits.running);
         metrics_.queued_side.Set(side.queued);
         metrics_.running_side.Set(side.running);
         const auto batch = pool_.load(ServiceClass::batch);
         metrics_.queued_batch.Set(batch.queued);
         metrics_.running_batch.Set(batch.running);
         co_return text_response(metrics_text(metrics_.registry));
       }},
      {"GET", "/v1/faults",
       [listing](HttpRequest&, const PathParts&) -> asio::awaitable<HttpResponse> { co_return listing(); }},
      {"PUT", "/v1/faults",
       [this, listing, forbidden](HttpRequest& request, const PathParts&) -> asio::awaitable<HttpResponse> {
         if (!faults_.allowed()) co_return forbidden();
         const auto body = nlohmann::json::parse(request.body, nullptr, false);
         if (body.is_discarded()) co_return wire::problem(400, "bad-json", "The body is not valid JSON.");
         auto faults = parse_faults(body, delay_files(settings_.fault_files));
         if (faults.has_error()) co_return wire::problem(400, "bad-fault", faults.error().context);
         faults_.replace(std::move(*faults));
         co_return listing();
       }},
      {"DELETE", "/v1/faults",
       [this, listing, forbidden](HttpRequest&, const PathParts&) -> asio::awaitable<HttpResponse> {
         if (!faults_.allowed()) co_return forbidden();
         faults_.replace({});
         co_return listing();
       }},
  };
}

}  // namespace hedgerow::leaf
