#include "fake_cluster.hpp"

#include <stdexcept>

#include "base/log.hpp"

namespace hedgerow::root {

namespace {

constexpr std::uint32_t partitions = 4;
constexpr std::uint32_t documents_each = 10;

Manifest fake_manifest() {
  static const bool quiet = start_logging("root_tests", "off");
  REQUIRE(quiet);
  Manifest manifest;
  manifest.collection = "fake";
  manifest.generation = Generation{3};
  manifest.documents = partitions * documents_each;
  for (std::uint32_t i = 0; i < partitions; ++i) manifest.partitions.push_back({"p", documents_each, 100, ""});
  return manifest;
}

wire::HttpServerSettings server_settings() {
  wire::HttpServerSettings settings;
  settings.link.idle_time = 20s;
  return settings;
}

FanoutRunner::Query query_of(const QueryPlan& plan, Duration search_time, Duration whole_time, const FakeQuery::Wishes& wishes) {
  const Instant now = std::chrono::steady_clock::now();
  return {plan, wishes.most_hits, 0, wishes.service_class, now, now + search_time, now + whole_time, wishes.trace, wishes.hedge, wishes.tied, {}, wishes.titles};
}

QueryPlan fake_plan() {
  QueryPlan plan;
  plan.serialised_query = "any";
  plan.terms = {{"word", 7}};
  plan.collection_documents = partitions * documents_each;
  plan.average_length = 10;
  plan.generation = Generation{3};
  return plan;
}

}  // namespace

FakeLeaf::FakeLeaf(asio::io_context& io, std::string name, std::vector<std::uint32_t> numbers)
    : act([](FakeLeaf& self, wire::Link& link, const wire::Message& message) { self.answer_honestly(link, message); }),
      server_(
          io.get_executor(), server_settings(),
          [](wire::HttpRequest&) -> asio::awaitable<wire::HttpResponse> { co_return wire::HttpResponse{}; },
          [this](std::shared_ptr<wire::Link> link) { return serve(std::move(link)); }) {
  hello.name = std::move(name);
  hello.collection = "fake";
  hello.generation = Generation{3};
  for (const auto number : numbers) hello.partitions.push_back(PartitionId{number});
  const auto endpoint = server_.listen({asio::ip::address_v4::loopback(), 0});
  REQUIRE(endpoint.has_value());
  address_ = "127.0.0.1:" + std::to_string(endpoint->port());
}

asio::awaitable<void> FakeLeaf::serve(std::shared_ptr<wire::Link> link) {
  link_ = link;
  ++links;
  link->send(hello);
  auto& l = *link;
  co_await link->run([this, &l](wire::Message&& message) -> result<void> {
    if (std::holds_alternative<wire::Hello>(message)) return {};
    received.push_back(message);
    act(*this, l, message);
    return {};
  });
}

wire::PartitionAnswer FakeLeaf::honest_answer(const wire::SearchCall& call, PartitionId partition) {
  wire::PartitionAnswer answer;
  answer.call = call.call;
  answer.partition = partition;
  answer.documents = {partition.value * 10 + 1, partition.value * 10 + 2};
  answer.scores = {partition.value + 2.0, partition.value + 1.0};
  answer.matches = 2;
  answer.matches_exact = true;
  return answer;
}

void FakeLeaf::answer_honestly(wire::Link& link, const wire::Message& message) {
  if (const auto* call = std::get_if<wire::SearchCall>(&message)) {
    for (const auto partition : call->partitions) link.send(honest_answer(*call, partition));
  } else if (const auto* fetch = std::get_if<wire::FetchCall>(&message)) {
    wire::FetchAnswer answer;
    answer.call = fetch->call;
    for (const auto& address : fetch->documents) {
      const std::string number = std::to_string(address.document.value);
      answer.documents.push_back({"id-" + number, "title-" + number, "by " + hello.name});
    }
    link.send(answer);
  } else if (const auto* spell = std::get_if<wire::SpellCall>(&message)) {
    wire::SpellAnswer answer;
    answer.call = spell->call;
    for (const auto& word : spell->words) {
      answer.suggestions.push_back(word == "wrod" ? "word" : "");
      answer.document_frequencies.push_back(word == "wrod" ? 7 : 0);
    }
    link.send(answer);
  } else if (const auto* snippets = std::get_if<wire::SnippetCall>(&message)) {
    wire::SnippetAnswer answer;
    answer.call = snippets->call;
    for (const auto& address : snippets->documents) answer.snippets.push_back(honest_snippet(address.document.value));
    link.send(answer);
  } else if (const auto* facets = std::get_if<wire::FacetCall>(&message)) {
    for (const auto partition : facets->partitions) link.send(honest_facets(*facets, partition));
  } else if (const auto* lookup = std::get_if<wire::LookupCall>(&message)) {
    wire::LookupAnswer answer;
    answer.call = lookup->call;
    answer.found = lookup->id != "nothing";
    answer.document = DocumentNumber{1};
    answer.shown = {lookup->id, "title", "by " + hello.name};
    answer.text = "text";
    answer.facets_json = "{}";
    link.send(answer);
  }
}

std::string FakeLeaf::honest_snippet(std::uint32_t document) { return "a <b>word</b> of " + std::to_string(document) + " &amp; more"; }

wire::FacetAnswer FakeLeaf::honest_facets(const wire::FacetCall& call, PartitionId partition) {
  wire::FacetAnswer answer;
  answer.call = call.call;
  answer.partition = partition;
  for (const auto& facet : call.facets) answer.facets.push_back({{"all-" + facet, "p" + std::to_string(partition.value)}, {10, 1}, false});
  return answer;
}

LeafClientSettings FakeCluster::quick() {
  LeafClientSettings settings;
  settings.link.idle_time = 20s;  // a slow machine is no silent peer
  settings.link.connect_time = 20s;
  settings.first_pause = 1ms;
  settings.longest_pause = 300ms;  // for so long a test can see that a leaf broke the protocol
  return settings;
}

namespace {

// The tests say by requests in flight which leaf is asked.
policy::SearchPolicySettings least_in_flight() {
  policy::SearchPolicySettings settings;
  settings.replica_choice.mode = policy::ReplicaChoiceSettings::Mode::least_in_flight;
  return settings;
}

}  // namespace

FakeCluster::FakeCluster(const std::vector<std::vector<std::uint32_t>>& numbers, LeafClientSettings settings)
    : cluster(io.get_executor(), fake_manifest(), settings, least_in_flight(), 1, metrics) {
  std::vector<std::size_t> all;
  for (const auto& one : numbers) {
    all.push_back(leaves.size());
    leaves.push_back(std::make_unique<FakeLeaf>(io, "leaf-" + std::to_string(leaves.size()), one));
  }
  apply(all);
}

FakeCluster::~FakeCluster() {
  run_to_end([&]() -> asio::awaitable<void> {
    co_await cluster.stop();
    for (const auto& leaf : leaves) co_await leaf->stop();
  });
}

void FakeCluster::apply(const std::vector<std::size_t>& present) {
  Topology topology;
  for (const auto index : present) topology.leaves.push_back(leaves[index]->topology());
  cluster.apply(topology);
}

std::size_t FakeCluster::serving() const {
  std::size_t count = 0;
  for (const auto& client : cluster.leaves()) count += client->serving() ? 1 : 0;
  return count;
}

void FakeCluster::prefer(std::size_t leaf) {
  for (std::uint32_t i = 0; i < leaves.size(); ++i) {
    if (i == leaf) continue;
    for (int n = 0; n < 100; ++n) {
      cluster.policies().search.replica_choice.on_sent(LeafId{i});
      cluster.policies().side_choice.on_sent(LeafId{i});
    }
  }
}

asio::awaitable<void> FakeCluster::until(std::function<bool()> condition) {
  const auto give_up = std::chrono::steady_clock::now() + 10s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= give_up) throw std::runtime_error("what the test waits for does not come");
    co_await asio::post(asio::use_awaitable);
  }
}

void FakeCluster::run_to_end(std::function<asio::awaitable<void>()> coroutine) {
  bool ended = false;
  asio::co_spawn(io, coroutine(), [&](std::exception_ptr problem) {
    ended = true;
    if (problem) std::rethrow_exception(problem);
  });
  io.restart();
  const auto give_up = std::chrono::steady_clock::now() + 50s;
  while (!ended && std::chrono::steady_clock::now() < give_up) io.run_one_for(1s);
  REQUIRE(ended);
}

FakeQuery::FakeQuery(FakeCluster& cluster, Duration search_time, Duration whole_time, bool trace)
    : FakeQuery(cluster, {.trace = trace}, search_time, whole_time) {}

FakeQuery::FakeQuery(FakeCluster& cluster, const Wishes& wishes, Duration search_time, Duration whole_time)
    : plan(fake_plan()),
      assignment(assign(*cluster.cluster.replicas(), std::nullopt, 0)),
      runner(cluster.io.get_executor(), cluster.cluster, cluster.metrics, query_of(plan, search_time, whole_time, wishes),
             assignment) {}

std::vector<std::uint32_t> FakeQuery::documents() {
  std::vector<std::uint32_t> numbers;
  for (const auto& hit : runner.merge().hits()) numbers.push_back(hit.hit.document.value);
  return numbers;
}

}  // namespace hedgerow::root
