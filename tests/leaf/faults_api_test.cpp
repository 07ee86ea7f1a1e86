// The faults API of a leaf: GET, PUT and DELETE /v1/faults.

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "running_leaf.hpp"

namespace hedgerow::leaf {

using nlohmann::json;

TEST_CASE("a leaf without --allow-faults refuses to have any, and says so") {
  RunningLeaf leaf;
  leaf.run([&]() -> asio::awaitable<void> {
    for (const char* method : {"PUT", "DELETE"}) {
      CAPTURE(method);
      const auto response = co_await leaf.http(method, "/v1/faults", R"([{"kind": "crash"}])");
      CHECK(response.status == 403);
      CHECK(json::parse(response.body)["type"] == "urn:hedgerow:problem:faults-not-allowed");
    }
    const auto listing = json::parse((co_await leaf.http("GET", "/v1/faults")).body);
    CHECK(listing["allowed"] == false);
    CHECK(listing["faults"] == json::array());
  });
}

TEST_CASE("faults are set, listed with how often they were applied, replaced and cleared") {
  Settings settings;
  settings.allow_faults = true;
  settings.name = "leaf-3";
  RunningLeaf leaf(settings);
  leaf.run([&]() -> asio::awaitable<void> {
    const auto set = co_await leaf.http("PUT", "/v1/faults", R"([{"kind": "error"}, {"kind": "late", "delay": "2ms", "seed": 9}])");
    CHECK(set.status == 200);
    CHECK(json::parse(set.body).dump() ==
          R"({"allowed":true,"faults":[{"applied":0,"kind":"error","probability":1.0,"seed":1,"state":"active"},)"
          R"({"applied":0,"delay":"2ms","kind":"late","probability":1.0,"seed":9,"state":"active"}],"leaf":"leaf-3"})");

    const auto root = co_await RootSide::connect(leaf);
    root->send(root->call("garden", {0, 1}));
    for (const auto& message : co_await root->answers(2)) {
      CHECK(outcome(message) == "failed");
      CHECK(std::get<wire::PartitionFailure>(message).fault == "error, late 2ms");
    }
    const auto listed = json::parse((co_await leaf.http("GET", "/v1/faults")).body);
    CHECK(listed["faults"][0]["applied"] == 2);

    const auto replaced = json::parse((co_await leaf.http("PUT", "/v1/faults", R"({"faults": [{"kind": "pause"}]})")).body);
    CHECK(replaced["faults"].size() == 1);
    const auto cleared = co_await leaf.http("DELETE", "/v1/faults");
    CHECK(cleared.status == 200);
    CHECK(json::parse(cleared.body)["faults"] == json::array());
    root->send(root->call("garden", {0}));
    CHECK(outcome(co_await root->next()) == "answer");
  });
}

TEST_CASE("a fault that is none is a 400 that names it, and leaves the faults as they are") {
  Settings settings;
  settings.allow_faults = true;
  RunningLeaf leaf(settings);
  leaf.run([&]() -> asio::awaitable<void> {
    co_await leaf.set_faults(R"([{"kind": "late", "delay": "1ms"}])");
    struct Row {
      const char* body;
      const char* type;
      const char* named;
    };
    const Row rows[] = {
        {"", "bad-json", "JSON"},
        {"[", "bad-json", "JSON"},
        {"{}", "bad-fault", "list"},
        {R"([{"kind": "hold"}])", "bad-fault", "'delay'"},
        {R"([{"kind": "error"}, {"kind": "error", "probability": 2}])", "bad-fault", "fault 2: 'probability'"},
    };
    for (const Row& row : rows) {
      CAPTURE(row.body);
      const auto response = co_await leaf.http("PUT", "/v1/faults", row.body);
      CHECK(response.status == 400);
      CHECK(response.content_type == "application/problem+json");
      const auto problem = json::parse(response.body);
      CHECK(problem["type"] == "urn:hedgerow:problem:" + std::string(row.type));
      CHECK(problem["detail"].get<std::string>().find(row.named) != std::string::npos);
    }
    const auto listing = json::parse((co_await leaf.http("GET", "/v1/faults")).body);
    CHECK(listing["faults"].size() == 1);
    CHECK((co_await leaf.http("POST", "/v1/faults", "[]")).status == 405);
  });
}

TEST_CASE("measured delays are carried along, or read from the folder that the leaf was given, and from nowhere else") {
  const auto folder = std::filesystem::temp_directory_path() / ("hedgerow-fault-files-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "measured.txt") << "3ms\n";
  std::ofstream(folder / ".hidden") << "3ms\n";
  Settings without, with;
  without.allow_faults = with.allow_faults = true;
  with.fault_files = folder;
  const json carried_along = json::parse(R"({"empirical": ["5ms"]})"), from_folder = json::parse(R"({"empirical": ["3ms"]})");
  const std::vector<std::string> elsewhere{(folder / "measured.txt").string(), "../measured.txt", ".hidden", "absent.txt", ""};
  for (const Settings& settings : {without, with}) {
    RunningLeaf leaf(settings);
    leaf.run([&]() -> asio::awaitable<void> {
      const auto put = [&](const json& delay) {
        return leaf.http("PUT", "/v1/faults", json::array({json{{"kind", "late"}, {"delay", delay}}}).dump());
      };
      const auto carried = co_await put(carried_along);
      CHECK(carried.status == 200);
      const auto from_file = co_await put("empirical:measured.txt");
      CHECK(from_file.status == (settings.fault_files.empty() ? 400 : 200));
      if (from_file.status == 200) CHECK(json::parse(from_file.body)["faults"][0]["delay"] == from_folder);
      for (const auto& name : elsewhere) {
        CAPTURE(name);
        const auto refused = co_await put("empirical:" + name);
        CHECK(refused.status == 400);
        CHECK(refused.body.find("'delay'") != std::string::npos);
      }
    });
  }
  std::filesystem::remove_all(folder);
}

}  // namespace hedgerow::leaf
