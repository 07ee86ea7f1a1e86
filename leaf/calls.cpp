#include "leaf/calls.hpp"

#include "leaf/facet_task.hpp"
#include "leaf/fetch_task.hpp"
#include "leaf/lookup_task.hpp"
#include "leaf/search_task.hpp"
#include "leaf/snippet_task.hpp"
#include "leaf/spell_task.hpp"

namespace hedgerow::leaf {

namespace {

using TaskPointer = std::shared_ptr<CallTask>;

struct TaskMaker {
  TaskPointer operator()(wire::SearchCall& call) const { return std::make_shared<SearchTask>(std::move(call)); }
  TaskPointer operator()(wire::FetchCall& call) const { return std::make_shared<FetchTask>(std::move(call)); }
  TaskPointer operator()(wire::SnippetCall& call) const { return std::make_shared<SnippetTask>(std::move(call)); }
  TaskPointer operator()(wire::FacetCall& call) const { return std::make_shared<FacetTask>(std::move(call)); }
  TaskPointer operator()(wire::SpellCall& call) const { return std::make_shared<SpellTask>(std::move(call)); }
  TaskPointer operator()(wire::LookupCall& call) const { return std::make_shared<LookupTask>(std::move(call)); }
  template <class NoCall>
  TaskPointer operator()(NoCall&) const {
    return nullptr;
  }
};

}  // namespace

std::shared_ptr<CallTask> task_of(wire::Message&& message) { return std::visit(TaskMaker{}, message); }

}  // namespace hedgerow::leaf
