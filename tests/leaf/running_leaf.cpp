#include "running_leaf.hpp"

#include <stdlib.h>

#include <stdexcept>

#include "base/log.hpp"
#include "corpus/reader.hpp"
#include "index/builder.hpp"
#include "index/lookup.hpp"
#include "index/statistics.hpp"
#include "wire/http_client.hpp"

namespace hedgerow::leaf {

namespace {

class ListReader final : public Reader {
 public:
  explicit ListReader(const std::vector<Document>& documents) : documents_(documents) {}
  ReadOutcome next() override {
    if (next_ == documents_.size()) return EndOfCorpus{};
    return documents_[next_++];
  }
  ReadProgress progress() const override { return {.documents = next_, .errors = 0, .repaired = 0, .fraction = {}}; }

 private:
  const std::vector<Document>& documents_;
  std::size_t next_ = 0;
};

constexpr std::uint32_t partitions = 4;

// Every document has "garden"; "editor" comes in a third of them, from once to a few times. Half of them are of the section
// "beds", the others of "paths"; a quarter has two colours.
std::vector<Document> documents() {
  std::vector<Document> made;
  for (int i = 0; i < 80; ++i) {
    Document document;
    document.id = "doc-" + std::to_string(i);
    document.title = "garden number" + std::to_string(i);
    document.url = "https://example.org/" + std::to_string(i);
    document.text = "hedge";
    for (int j = 0; j < i % 7; ++j) document.text += " rose";
    if (i % 3 == 0) {
      for (int j = 0; j <= i % 5; ++j) document.text += " editor";
    }
    document.facets["section"] = {i % 2 == 0 ? "beds" : "paths"};
    if (i % 4 == 0) document.facets["colour"] = {"red", "colour-" + std::to_string(i)};
    made.push_back(std::move(document));
  }
  return made;
}

}  // namespace

const TinyIndex& TinyIndex::get() {
  static const TinyIndex index;
  return index;
}

TinyIndex::TinyIndex() : documents_(leaf::documents()) {
  start_logging("leaf_tests", "off");
  std::string name = (std::filesystem::temp_directory_path() / "hedgerow-leaf-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
  directory_ = name;
  ListReader reader(documents_);
  BuildSettings settings;
  settings.directory = directory_;
  settings.collection = "tiny";
  settings.partitions = partitions;
  settings.threads = 1;
  const auto built = build_index(reader, settings);
  if (built.has_error()) throw std::runtime_error(to_string(built.error()));
  manifest_ = *built;
}

TinyIndex::~TinyIndex() {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

QueryPlan TinyIndex::plan(const std::string& query) const {
  const auto statistics = CollectionStatistics::open(directory_, manifest_);
  if (statistics.has_error()) throw std::runtime_error(to_string(statistics.error()));
  auto plan = plan_query(query, *statistics);
  if (plan.has_error()) throw std::runtime_error(to_string(plan.error()));
  return *plan;
}

wire::DocumentAddress TinyIndex::address(const std::string& id) const {
  for (std::size_t i = 0; i < documents_.size(); ++i) {
    // Numbers are given in the order of the corpus, from 1.
    if (documents_[i].id == id) {
      return {partition_of(id, partitions), DocumentNumber{static_cast<std::uint32_t>(i + 1)}};
    }
  }
  throw std::runtime_error("no document " + id);
}

RunningLeaf::RunningLeaf(Settings settings)
    : RunningLeaf(std::move(settings), std::make_unique<asio::io_context>(1), nullptr) {}

RunningLeaf::RunningLeaf(Settings settings, RunningLeaf& beside) : RunningLeaf(std::move(settings), nullptr, &beside.io) {}

RunningLeaf::RunningLeaf(Settings settings, std::unique_ptr<asio::io_context> own, asio::io_context* shared)
    : own_io_(std::move(own)), io(shared ? *shared : *own_io_) {
  settings.index = TinyIndex::get().directory();
  settings.port = 0;
  settings.idle_time = 20s;  // a slow machine is no silent peer
  auto created = Server::create(io, settings);
  REQUIRE_MESSAGE(created.has_value(), to_string(created.error()));
  server = std::move(*created);
  const auto listening = server->listen();
  REQUIRE_MESSAGE(listening.has_value(), to_string(listening.error()));
  endpoint = *listening;
}

RunningLeaf::~RunningLeaf() {
  if (!drained) {
    bool ended = false;
    asio::co_spawn(io, server->drain(), [&](std::exception_ptr) { ended = true; });
    io.restart();
    while (!ended && io.run_one_for(10s) > 0) {
    }
  }
  server.reset();
}

asio::awaitable<wire::HttpResponse> RunningLeaf::http(std::string method, std::string path, std::string body) {
  wire::HttpClient client(io.get_executor(), endpoint);
  auto response = co_await client.request(method, path, body, 20s);
  if (response.has_error()) throw std::runtime_error(to_string(response.error()));
  co_return std::move(*response);
}

asio::awaitable<double> RunningLeaf::metric(std::string name) {
  const auto response = co_await http("GET", "/metrics");
  const auto found = response.body.find("\n" + name + " ");
  if (found == std::string::npos) throw std::runtime_error("no metric " + name);
  co_return std::stod(response.body.substr(found + name.size() + 2));
}

asio::awaitable<void> RunningLeaf::until(std::string name, double value) {
  // Not as the condition of an empty loop, of which g++ 12 makes an illegal instruction.
  for (double seen = co_await metric(name); seen != value;) seen = co_await metric(name);
}

asio::awaitable<void> RunningLeaf::set_faults(std::string plan) {
  const auto response = co_await http("PUT", "/v1/faults", std::move(plan));
  if (response.status != 200) throw std::runtime_error(response.body);
}

asio::awaitable<std::shared_ptr<RootSide>> RootSide::connect(RunningLeaf& leaf, bool greet) {
  wire::LinkSettings settings;
  settings.connect_time = 20s;
  settings.idle_time = 20s;
  auto link = co_await wire::connect_link(leaf.endpoint, settings);
  if (link.has_error()) throw std::runtime_error(to_string(link.error()));
  std::shared_ptr<RootSide> side(new RootSide(leaf.io.get_executor()));
  side->link_ = *link;
  const auto read = [](std::shared_ptr<RootSide> self) -> asio::awaitable<void> {
    co_await self->link_->run([&](wire::Message&& message) -> result<void> {
      self->messages_.push_back(std::move(message));
      self->arrived_.cancel();
      return {};
    });
    self->ended_ = true;
    self->arrived_.cancel();
  };
  asio::co_spawn(leaf.io, read(side), asio::detached);
  auto first = co_await side->next();
  side->hello_ = std::get<wire::Hello>(first);
  if (greet) {
    wire::Hello hello;
    hello.name = "test";
    hello.sent_at_ns = std::chrono::steady_clock::now().time_since_epoch().count();
    side->send(hello);
  }
  co_return side;
}

asio::awaitable<wire::Message> RootSide::next() {
  const auto give_up = std::chrono::steady_clock::now() + 20s;
  while (messages_.empty()) {
    if (ended_) throw std::runtime_error("the link has ended");
    arrived_.expires_at(give_up);
    co_await arrived_.async_wait(asio::as_tuple(asio::use_awaitable));
    if (std::chrono::steady_clock::now() >= give_up) throw std::runtime_error("no message");
  }
  wire::Message message = std::move(messages_.front());
  messages_.pop_front();
  co_return message;
}

asio::awaitable<std::vector<wire::Message>> RootSide::answers(std::size_t count) {
  const auto partition_of = [](const wire::Message& message) {
    if (const auto* answer = std::get_if<wire::PartitionAnswer>(&message)) return answer->partition;
    if (const auto* answer = std::get_if<wire::FacetAnswer>(&message)) return answer->partition;
    return std::get<wire::PartitionFailure>(message).partition;
  };
  std::vector<wire::Message> messages;
  while (messages.size() < count) messages.push_back(co_await next());
  std::stable_sort(messages.begin(), messages.end(),
                   [&](const auto& a, const auto& b) { return partition_of(a) < partition_of(b); });
  co_return messages;
}

asio::awaitable<void> RootSide::wait_for_end() {
  const auto give_up = std::chrono::steady_clock::now() + 20s;
  while (!ended_) {
    arrived_.expires_at(give_up);
    co_await arrived_.async_wait(asio::as_tuple(asio::use_awaitable));
    if (std::chrono::steady_clock::now() >= give_up) throw std::runtime_error("the link does not end");
  }
}

template <class Call>
Call RootSide::fresh() {
  Call call;
  call.call = CallId{++last_call_};
  call.time = {std::chrono::steady_clock::now().time_since_epoch().count(), 60s};
  call.generation = TinyIndex::get().manifest().generation;
  return call;
}

namespace {

wire::PlannedQuery planned(const std::string& query) {
  const auto plan = TinyIndex::get().plan(query);
  wire::PlannedQuery planned;
  planned.query = plan.serialised_query;
  for (const auto& term : plan.terms) {
    planned.terms.push_back(term.term);
    planned.document_frequencies.push_back(term.document_frequency);
  }
  planned.collection_documents = plan.collection_documents;
  planned.average_length = plan.average_length;
  return planned;
}

}  // namespace

wire::SearchCall RootSide::call(const std::string& query, std::vector<std::uint32_t> numbers, std::uint32_t k) {
  auto call = fresh<wire::SearchCall>();
  call.plan = planned(query);
  for (const auto number : numbers) call.partitions.push_back(PartitionId{number});
  call.k = k;
  return call;
}

wire::FetchCall RootSide::fetch(std::vector<wire::DocumentAddress> documents) {
  auto call = fresh<wire::FetchCall>();
  call.documents = std::move(documents);
  return call;
}

wire::SnippetCall RootSide::snippets(const std::string& query, std::vector<wire::DocumentAddress> documents) {
  auto call = fresh<wire::SnippetCall>();
  call.plan = planned(query);
  call.documents = std::move(documents);
  return call;
}

wire::FacetCall RootSide::facets(const std::string& query, std::vector<std::uint32_t> numbers,
                                 std::vector<std::string> names) {
  auto call = fresh<wire::FacetCall>();
  call.plan = planned(query);
  for (const auto number : numbers) call.partitions.push_back(PartitionId{number});
  call.facets = std::move(names);
  return call;
}

wire::SpellCall RootSide::spell(std::vector<std::string> words) {
  auto call = fresh<wire::SpellCall>();
  call.words = std::move(words);
  return call;
}

wire::LookupCall RootSide::lookup(const std::string& id, std::uint32_t most_terms) {
  auto call = fresh<wire::LookupCall>();
  call.partition = partition_of(id, partitions);
  call.id = id;
  call.most_terms = most_terms;
  return call;
}

std::string outcome(const wire::Message& message) {
  if (const auto* failure = std::get_if<wire::PartitionFailure>(&message)) return std::string(to_string(failure->reason));
  if (const auto* failure = std::get_if<wire::CallFailure>(&message)) return std::string(to_string(failure->reason));
  return "answer";
}

}  // namespace hedgerow::leaf
