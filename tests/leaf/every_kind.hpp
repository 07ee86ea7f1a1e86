// A call of every kind of work, and what comes of it: for tests of laws that hold for all kinds alike.
#pragma once

#include <string>
#include <vector>

#include "leaf/work_kind.hpp"
#include "running_leaf.hpp"

namespace hedgerow::leaf {

inline const std::string running_side = "hedgerow_leaf_running_side_work";
inline const std::string queued_side = "hedgerow_leaf_queued_side_work";

inline std::string total(WorkKind kind, const std::string& outcome) {
  return "hedgerow_leaf_work_total{outcome=\"" + outcome + "\",work=\"" + std::string(to_string(kind)) + "\"}";
}
inline std::string executed(WorkKind kind) {
  return "hedgerow_leaf_work_executed_total{work=\"" + std::string(to_string(kind)) + "\"}";
}

inline Settings speller(std::size_t workers = 2, std::size_t capacity = 1024) {
  Settings settings;
  settings.workers = workers;
  settings.queue_capacity = capacity;
  settings.allow_faults = true;
  settings.spelling = true;
  return settings;
}

// A call of a kind that a leaf with all partitions can answer, and how many answers end it.
struct Asked {
  wire::Message message;
  CallId call;
  std::size_t answers = 1;

  wire::TimeLimit& time() {
    return *std::visit(
        [](auto& m) -> wire::TimeLimit* {
          if constexpr (requires { m.time; }) return &m.time;
          return nullptr;
        },
        message);
  }
  void set_generation(Generation generation) {
    std::visit(
        [&](auto& m) {
          if constexpr (requires { m.generation; }) m.generation = generation;
        },
        message);
  }
};

template <class Call>
Asked asked(Call call, std::size_t answers = 1) {
  return {call, call.call, answers};
}

inline Asked ask(RootSide& root, WorkKind kind) {
  const auto document = TinyIndex::get().address("doc-3");
  switch (kind) {
    case WorkKind::fetch: return asked(root.fetch({document}));
    case WorkKind::search: return asked(root.call("editor", {0, 1}), 2);
    case WorkKind::snippets: return asked(root.snippets("editor", {document}));
    case WorkKind::facets: return asked(root.facets("editor", {0, 1}, {"section"}), 2);
    case WorkKind::spelling: return asked(root.spell({"editr"}));
    case WorkKind::lookup: return asked(root.lookup("doc-3"));
  }
  return {};
}

// Of so many messages; they come in any order.
inline asio::awaitable<std::vector<std::string>> outcomes(RootSide& root, std::size_t count) {
  std::vector<std::string> words;
  while (words.size() < count) words.push_back(outcome(co_await root.next()));
  co_return words;
}

inline std::vector<std::string> all(std::size_t count, const char* word) { return std::vector<std::string>(count, word); }

inline CallId call_of(const wire::Message& message) {
  return std::visit(
      [](const auto& m) {
        if constexpr (requires { m.call; }) return m.call;
        return CallId{};
      },
      message);
}

}  // namespace hedgerow::leaf
